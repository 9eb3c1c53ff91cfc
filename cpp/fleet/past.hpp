// A fleet at one moment in time, for a snapshot that is written while the fleet learns: a slot that the snapshot has not read
// yet is copied before it changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "users.hpp"

namespace hinge {

struct PastSlot {
  Users::User was;
  RecordBytes record;  // nullptr: the slot was free
};

// The snapshot has the slots whose last change is later than `since`, as they were at `until`.
class Past {
 public:
  Past(std::uint64_t since_, std::uint64_t until_, std::uint32_t slots_)
      : since(since_), until(until_), slots(slots_), kept_((slots_ >> shift) + 1) {}

  const std::uint64_t since, until;
  const std::uint32_t slots;  // that there were
  std::uint32_t next = 0;     // it has read those before this one

  // Whether the snapshot still needs a slot as it is now.
  bool needs(std::uint32_t user, const Users::User& now) const {
    return user >= next && user < slots && now.stamp > since && now.stamp <= until && !kept_[user >> shift].contains(user);
  }
  void keep(std::uint32_t user, PastSlot slot) { kept_[user >> shift].emplace(user, std::move(slot)); }
  // What is kept of a slot, or nullptr.
  const PastSlot* find(std::uint32_t user) const {
    const auto& group = kept_[user >> shift];
    const auto found = group.find(user);
    return found == group.end() ? nullptr : &found->second;
  }
  void drop(std::uint32_t user) { kept_[user >> shift].erase(user); }

 private:
  static constexpr int shift = 12;  // many small tables: none of them takes long to grow
  std::vector<std::unordered_map<std::uint32_t, PastSlot>> kept_;
};

}  // namespace hinge
