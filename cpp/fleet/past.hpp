// A fleet as it was at one moment, while it goes on learning: what a snapshot has not read yet is kept before it changes.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "users.hpp"

namespace hinge {

struct PastSlot {
  Users::User was;     // its record is `record`, or on disk nothing
  RecordBytes record;  // of a key
};

struct Past {
  std::uint64_t since, until;  // the snapshot has the slots whose last change is later than `since`, as they were at `until`
  std::uint32_t next = 0;      // it has read those before this one
  std::uint32_t slots;         // that there were
  std::unordered_map<std::uint32_t, PastSlot> kept{};

  // Whether the snapshot still needs a slot as it is now.
  bool needs(std::uint32_t user, const Users::User& now) const {
    return user >= next && user < slots && now.stamp > since && now.stamp <= until && !kept.contains(user);
  }
};

}  // namespace hinge
