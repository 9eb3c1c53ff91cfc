// The directory of a fleet: from keys to records. A user is a number, which is given to another key once its key is removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "../names/vocabulary.hpp"
#include "record.hpp"

namespace hinge {

// Open addressing over 32 bits of the hash of a key, at most three quarters full. Keys are stored in their records.
class Users {
 public:
  static constexpr std::uint32_t nobody = 0xFFFFFFFF;

  struct User {
    char* record = nullptr;   // nullptr: on disk, or nobody
    std::uint64_t stamp = 0;  // of the last change; 0: nobody
    std::uint64_t place = 0;  // on disk; of nobody: the next one that is nobody
  };

  Users() = default;
  ~Users() {
    for (const User& user : users_) std::free(user.record);
  }
  Users(const Users&) = delete;
  Users& operator=(const Users&) = delete;

  // It differs from process to process, so nobody can choose keys that fall on each other.
  std::uint32_t tag_of(std::string_view key) const { return Vocabulary::hash_of(key, seed_); }

  std::size_t size() const { return size_; }
  std::size_t slots() const { return users_.size(); }  // some of them may be nobody
  User& operator[](std::uint32_t user) { return users_[user]; }
  const User& operator[](std::uint32_t user) const { return users_[user]; }
  bool exists(std::uint32_t user) const { return user < users_.size() && users_[user].stamp != 0; }

  // `is_key(user)`: whether the key of that user is the one wanted; called for users with the same tag.
  template <class IsKey>
  std::uint32_t find(std::uint32_t tag, const IsKey& is_key) const {
    if (table_.empty()) return nobody;
    for (std::size_t i = first(tag); table_[i].user != 0; i = next(i))
      if (table_[i].tag == tag && is_key(table_[i].user - 1)) return table_[i].user - 1;
    return nobody;
  }
  std::uint32_t add(std::uint32_t tag, char* record, std::uint64_t stamp) {
    if (size_ >= nobody - 1) throw std::length_error("a fleet has at most 2^32 - 2 keys");
    if (4 * (size_ + 1) > 3 * table_.size()) grow();
    if (free_ == nobody) {
      users_.emplace_back();
      users_.back().place = nobody;
      free_ = static_cast<std::uint32_t>(users_.size() - 1);
    }
    const std::uint32_t user = free_;
    restore(tag, user, {record, stamp, 0});
    return user;
  }
  // The record must have been released.
  void remove(std::uint32_t tag, std::uint32_t user) {
    std::size_t i = first(tag);
    while (table_[i].user != user + 1) i = next(i);
    close_gap(i);
    users_[user] = User();
    users_[user].place = free_;
    free_ = user;
    size_ -= 1;
  }
  // Takes back the last `remove`, which was of this user.
  void restore(std::uint32_t tag, std::uint32_t user, const User& was) {
    free_ = static_cast<std::uint32_t>(users_[user].place);
    users_[user] = was;
    enter({tag, user + 1});
    size_ += 1;
  }

  void prefetch(std::uint32_t tag) const {
    if (!table_.empty()) HINGE_PREFETCH(&table_[first(tag)]);
  }
  // The first user whose tag is this one, without a look at its key.
  std::uint32_t guess(std::uint32_t tag) const {
    if (table_.empty()) return nobody;
    for (std::size_t i = first(tag); table_[i].user != 0; i = next(i))
      if (table_[i].tag == tag) return table_[i].user - 1;
    return nobody;
  }

  std::size_t bytes() const {
    return users_.capacity() * sizeof(User) + table_.capacity() * sizeof(Slot);
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t user = 0;  // plus one; 0: free
  };
  std::size_t first(std::uint32_t tag) const { return (std::uint64_t{tag} * table_.size()) >> 32; }
  std::size_t next(std::size_t i) const { return i + 1 == table_.size() ? 0 : i + 1; }

  void enter(Slot slot) {
    std::size_t i = first(slot.tag);
    while (table_[i].user != 0) i = next(i);
    table_[i] = slot;
  }
  // Moves later slots of the same run forward, so that a search does not stop at the gap.
  void close_gap(std::size_t gap) {
    for (std::size_t i = next(gap); table_[i].user != 0; i = next(i)) {
      const std::size_t home = first(table_[i].tag);
      const bool stays = gap <= i ? gap < home && home <= i : gap < home || home <= i;
      if (stays) continue;
      table_[gap] = table_[i];
      gap = i;
    }
    table_[gap] = Slot();
  }
  void grow() {
    std::vector<Slot> old(table_.empty() ? 16 : table_.size() + table_.size() / 2);
    old.swap(table_);
    for (const Slot& slot : old)
      if (slot.user != 0) enter(slot);
  }

  std::vector<User> users_;
  std::vector<Slot> table_;
  std::size_t size_ = 0;
  std::uint32_t free_ = nobody;  // the first of those that are nobody
  std::uint64_t seed_ = std::random_device{}();
};

}  // namespace hinge
