// The directory of a fleet: from keys to records. A user is a number, which is given to another key once its key is removed.
#pragma once

#include <algorithm>
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

  // A slot of the directory: the record of a key is in memory or on disk, or the slot is free.
  struct User {
    char* record = nullptr;   // nullptr: on disk, or free
    std::uint64_t stamp = 0;  // of the last change
    std::uint64_t place = 0;  // on disk (cold.hpp); of a free slot: the next free one, with `free_bit`

    static constexpr std::uint64_t free_bit = std::uint64_t{1} << 63;
    bool is_free() const { return (place & free_bit) != 0; }
    bool is_cold() const { return record == nullptr && !is_free(); }
    std::uint32_t next_free() const { return static_cast<std::uint32_t>(place); }
    static User free(std::uint32_t next, std::uint64_t stamp) { return {nullptr, stamp, free_bit | next}; }
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
  std::size_t slots() const { return users_.size(); }  // some of them may be free
  std::uint32_t first_free() const { return free_; }
  User& operator[](std::uint32_t user) { return users_[user]; }
  const User& operator[](std::uint32_t user) const { return users_[user]; }
  bool exists(std::uint32_t user) const { return user < users_.size() && !users_[user].is_free(); }

  // `is_key(user)`: whether the key of that user is the one wanted; called for users with the same tag.
  template <class IsKey>
  std::uint32_t find(std::uint32_t tag, const IsKey& is_key) const {
    if (table_.empty()) return nobody;
    for (std::size_t i = first(tag); table_[i].user != 0; i = after(i))
      if (table_[i].tag == tag && is_key(table_[i].user - 1)) return table_[i].user - 1;
    return nobody;
  }
  // Takes the slot that was freed last, or a new one.
  std::uint32_t add(std::uint32_t tag, char* record, std::uint64_t stamp) {
    if (size_ >= nobody - 1) throw std::length_error("a fleet has at most 2^32 - 2 keys");
    make_room(size_ + 1);
    if (free_ == nobody) {
      users_.push_back(User::free(nobody, 0));
      free_ = static_cast<std::uint32_t>(users_.size() - 1);
    }
    const std::uint32_t user = free_;
    occupy(tag, user, {record, stamp, 0});
    return user;
  }
  // The next slot that `add` takes: a free one, or a new one.
  std::uint32_t next() const { return free_ == nobody ? static_cast<std::uint32_t>(users_.size()) : free_; }
  // Frees a slot. Its record must have been released.
  void remove(std::uint32_t tag, std::uint32_t user, std::uint64_t stamp) {
    leave(tag, user);
    users_[user] = User::free(free_, stamp);
    free_ = user;
  }
  // Takes back the last `remove`, which was of this user.
  void restore(std::uint32_t tag, std::uint32_t user, const User& was) {
    occupy(tag, user, was);
  }
  // Takes back the last `add`. `stamp`: of the free slot before; 0: it was new.
  void take_back_add(std::uint32_t tag, std::uint32_t user, std::uint64_t stamp) {
    remove(tag, user, stamp);
    if (stamp != 0) return;
    free_ = users_[user].next_free();
    users_.pop_back();
  }

  // ---- the state of another directory ----

  // Makes room, so that the following calls do not throw.
  void reserve(std::size_t slots, std::size_t users) {
    users_.reserve(slots);
    make_room(users);
  }
  void leave(std::uint32_t tag, std::uint32_t user) {
    std::size_t i = first(tag);
    while (table_[i].user != user + 1) i = after(i);
    close_gap(i);
    size_ -= 1;
  }
  void enter(std::uint32_t tag, std::uint32_t user, const User& its) {
    users_[user] = its;
    put({tag, user + 1});
    size_ += 1;
  }
  void set(std::uint32_t user, const User& its) { users_[user] = its; }
  void resize(std::size_t slots) { users_.resize(slots, User::free(nobody, 0)); }
  void set_first_free(std::uint32_t user) { free_ = user; }

  void prefetch(std::uint32_t tag) const {
    if (!table_.empty()) HINGE_PREFETCH(&table_[first(tag)]);
  }
  // The first user whose tag is this one, without a look at its key.
  std::uint32_t guess(std::uint32_t tag) const {
    if (table_.empty()) return nobody;
    for (std::size_t i = first(tag); table_[i].user != 0; i = after(i))
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
  std::size_t after(std::size_t i) const { return i + 1 == table_.size() ? 0 : i + 1; }

  void occupy(std::uint32_t tag, std::uint32_t user, const User& its) {
    free_ = users_[user].next_free();
    enter(tag, user, its);
  }
  void put(Slot slot) {
    std::size_t i = first(slot.tag);
    while (table_[i].user != 0) i = after(i);
    table_[i] = slot;
  }
  // Moves later slots of the same run forward, so that a search does not stop at the gap.
  void close_gap(std::size_t gap) {
    for (std::size_t i = after(gap); table_[i].user != 0; i = after(i)) {
      const std::size_t home = first(table_[i].tag);
      const bool stays = gap <= i ? gap < home && home <= i : gap < home || home <= i;
      if (stays) continue;
      table_[gap] = table_[i];
      gap = i;
    }
    table_[gap] = Slot();
  }
  void make_room(std::size_t users) {
    if (4 * users <= 3 * table_.size()) return;
    std::vector<Slot> old(std::max({std::size_t{16}, table_.size() + table_.size() / 2, users + users / 2}));
    old.swap(table_);
    for (const Slot& slot : old)
      if (slot.user != 0) put(slot);
  }

  std::vector<User> users_;
  std::vector<Slot> table_;
  std::size_t size_ = 0;
  std::uint32_t free_ = nobody;  // the slot that was freed last
  std::uint64_t seed_ = std::random_device{}();
};

}  // namespace hinge
