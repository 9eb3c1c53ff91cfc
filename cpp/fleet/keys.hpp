// The records of a fleet by key, and the notes by which changes are taken back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "undo.hpp"
#include "users.hpp"

namespace hinge {

// `Users::nobody` stands for the record that all keys share.
class Keys {
 public:
  explicit Keys(const RecordLayout& its) : layout(its) {}

  const RecordLayout layout;

  std::uint32_t find(std::string_view key, std::uint32_t tag) const {
    return users_.find(tag, [&](std::uint32_t user) { return this->key(user) == key; });
  }
  std::uint32_t tag_of(std::string_view key) const { return users_.tag_of(key); }
  std::size_t size() const { return users_.size(); }
  std::size_t slots() const { return users_.slots(); }
  bool exists(std::uint32_t user) const { return users_.exists(user); }
  std::uint64_t stamp(std::uint32_t user) const { return user == Users::nobody ? 0 : users_[user].stamp; }
  void set_stamp(std::uint32_t user, std::uint64_t stamp) { users_[user].stamp = stamp; }

  Record record(std::uint32_t user) const {
    return {layout, user == Users::nobody ? shared_.get() : users_[user].record};
  }
  std::string_view key(std::uint32_t user) const { return record(user).key(); }
  void share(RecordBytes record) { shared_ = std::move(record); }

  // Prefetch, in this order, what a look at the record of a key reads.
  void prefetch_slot(std::uint32_t tag) const { users_.prefetch(tag); }
  void prefetch_user(std::uint32_t tag) const {
    const std::uint32_t user = users_.guess(tag);
    if (user != Users::nobody) HINGE_PREFETCH(&users_[user]);
  }
  void prefetch_head(std::uint32_t tag) const {
    const std::uint32_t user = users_.guess(tag);
    if (user != Users::nobody) HINGE_PREFETCH(users_[user].record);
  }
  void prefetch_record(std::uint32_t tag) const {
    const std::uint32_t user = users_.guess(tag);
    if (user == Users::nobody || users_[user].record == nullptr) return;
    constexpr std::size_t line = 64, most = 64 * line;
    const char* const from = users_[user].record;
    std::uint64_t size = 0;
    std::memcpy(&size, from, sizeof size);
    for (std::size_t at = line; at < std::min<std::size_t>(size, most); at += line) HINGE_PREFETCH(from + at);
  }

  // ---- changes that are noted ----

  std::uint32_t add(std::uint32_t tag, RecordBytes record, std::uint64_t stamp) {
    const std::size_t size = Record(layout, record.get()).end();
    const std::uint32_t user = users_.add(tag, record.get(), stamp);
    record.release();
    bytes_ += size;
    try {
      undo_.note_added(user);
    } catch (...) {
      drop(user);
      throw;
    }
    return user;
  }
  void remove(std::uint32_t user) {
    RecordBytes& kept = undo_.note_removed(user, stamp(user));
    kept = take_out(user);
  }
  // Replaces a record by a changed copy of it.
  void replace(std::uint32_t user, RecordBytes fresh) {
    RecordBytes& old = undo_.note_replaced(user, stamp(user));
    old = exchange(user, std::move(fresh));
  }
  // Adds a feature that the record does not have. `is_first`: of this event.
  std::uint32_t add_feature(std::uint32_t user, std::uint32_t hash, bool is_first) {
    const RecordHead& head = record(user).head();
    if (is_first) undo_.note_widened(user, stamp(user), head.features, head.room);
    if (head.features == head.room) exchange(user, record(user).resized(Record::more_room(head.room, std::size_t{head.room} + 1)));
    return record(user).add(hash);
  }
  void note_learning(std::uint32_t user, const RecordColumns& at, const Desk& desk, std::size_t first) {
    undo_.note_learning(user, stamp(user), record(user), at, desk, first);
  }

  void commit() {
    undo_.clear();
    hand_before_ = hand_;
  }
  void take_back() {
    hand_ = hand_before_;
    for (auto entry = undo_.entries().rbegin(); entry != undo_.entries().rend(); ++entry) take_back(*entry);
    undo_.clear();
  }

  // A user that has not learned for long, for a fleet that is full. The hand of a clock goes round; it stops at one that has
  // not learned since it began its last round.
  std::uint32_t idle(std::uint64_t now) {
    for (;;) {
      if (++hand_.at >= users_.slots()) {
        if (hand_.this_round == now) return oldest();  // all have learned since the hand began its last round
        hand_ = {0, now, hand_.this_round};
      }
      const auto user = static_cast<std::uint32_t>(hand_.at);
      if (users_.exists(user) && users_[user].stamp <= hand_.last_round) return user;
    }
  }

  std::size_t record_bytes() const { return bytes_ + (shared_ ? record(Users::nobody).end() : 0); }
  std::size_t bytes() const { return record_bytes() + users_.bytes() + users_.size() * malloc_bytes; }

 private:
  static constexpr std::size_t malloc_bytes = 16;
  struct Hand {
    std::size_t at = 0;
    std::uint64_t this_round = 0, last_round = 0;
  };

  RecordBytes take_out(std::uint32_t user) {
    RecordBytes bytes(users_[user].record);
    const Record its(layout, bytes.get());
    bytes_ -= its.end();
    users_.remove(users_.tag_of(its.key()), user);
    return bytes;
  }
  void drop(std::uint32_t user) { take_out(user); }
  // The one that has not learned for the longest time.
  std::uint32_t oldest() const {
    std::uint32_t found = Users::nobody;
    for (std::uint32_t user = 0; user < users_.slots(); ++user)
      if (users_.exists(user) && (found == Users::nobody || users_[user].stamp < users_[found].stamp)) found = user;
    return found;
  }
  // Returns the old bytes.
  RecordBytes exchange(std::uint32_t user, RecordBytes fresh) {
    if (user == Users::nobody) {
      shared_.swap(fresh);
      return fresh;
    }
    bytes_ += Record(layout, fresh.get()).end();
    bytes_ -= record(user).end();
    RecordBytes old(users_[user].record);
    users_[user].record = fresh.release();
    return old;
  }
  // As it was, with the room that it had. Without memory for that, it keeps its room.
  void narrow(std::uint32_t user, std::uint32_t features, std::uint32_t room) {
    record(user).truncate(features);
    if (record(user).head().room == room) return;
    try {
      exchange(user, record(user).resized(room));
    } catch (const std::bad_alloc&) {}
  }
  void take_back(const FleetUndo::Entry& entry) {
    using Kind = FleetUndo::Kind;
    switch (entry.kind) {
      case Kind::added: return drop(entry.user);
      case Kind::removed: {
        RecordBytes& was = undo_.record(entry);
        const Record its(layout, was.get());
        bytes_ += its.end();
        return users_.restore(users_.tag_of(its.key()), entry.user, {was.release(), entry.stamp, 0});
      }
      case Kind::replaced: exchange(entry.user, std::move(undo_.record(entry))); break;
      case Kind::widened: narrow(entry.user, entry.features, static_cast<std::uint32_t>(entry.at)); break;
      case Kind::learned: undo_.take_back(entry, layout, record(entry.user)); break;
    }
    if (entry.user != Users::nobody) users_[entry.user].stamp = entry.stamp;
  }

  Users users_;
  RecordBytes shared_;
  FleetUndo undo_;
  std::size_t bytes_ = 0;
  Hand hand_, hand_before_;
};

}  // namespace hinge
