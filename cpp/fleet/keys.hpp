// The records of a fleet by key, and the notes by which changes are taken back.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cold.hpp"
#include "past.hpp"
#include "undo.hpp"
#include "users.hpp"

namespace hinge {

// A record for reading: a view of memory, or a copy of what is on disk.
class RecordLook {
 public:
  explicit RecordLook(const Record& record) : record_(record) {}
  RecordLook(const RecordLayout& layout, RecordBytes copy) : copy_(std::move(copy)), record_(layout, copy_.get()) {}
  const Record& operator*() const { return record_; }
  const Record* operator->() const { return &record_; }

 private:
  RecordBytes copy_;
  Record record_;
};

// The hand of a clock that goes round the slots of a fleet: it finds a key that has not learned for long.
struct Hand {
  std::uint64_t at = 0;
  std::uint64_t this_round = 0, last_round = 0;  // when they began; 0: it has not moved yet
};

// `Users::nobody` stands for the record that all keys share.
class Keys {
 public:
  // `memory`: in bytes. Beyond it, records go to a temporary file.
  explicit Keys(const RecordLayout& its, double memory = HUGE_VAL) : layout(its), memory_(memory) {}

  const RecordLayout layout;

  std::uint32_t find(std::string_view key, std::uint32_t tag) const {
    return users_.find(tag, [&](std::uint32_t user) {
      const char* const bytes = users_[user].record;
      return bytes != nullptr ? Record::key_of(bytes) == key : look(user)->key() == key;
    });
  }
  // The same, for learning: the key is in memory afterwards.
  std::uint32_t find_and_hold(std::string_view key, std::uint32_t tag) {
    return users_.find(tag, [&](std::uint32_t user) {
      hold(user);
      return Record::key_of(users_[user].record) == key;
    });
  }
  std::uint32_t tag_of(std::string_view key) const { return users_.tag_of(key); }
  std::size_t size() const { return users_.size(); }
  std::size_t slots() const { return users_.slots(); }
  bool exists(std::uint32_t user) const { return users_.exists(user); }
  std::uint64_t stamp(std::uint32_t user) const { return user == Users::nobody ? 0 : users_[user].stamp; }
  void set_stamp(std::uint32_t user, std::uint64_t stamp) { users_[user].stamp = stamp; }
  const Users::User& slot(std::uint32_t user) const { return users_[user]; }
  std::uint32_t first_free() const { return users_.first_free(); }

  // It must be in memory: `hold` brings it there.
  Record record(std::uint32_t user) const {
    return {layout, user == Users::nobody ? shared_.get() : users_[user].record};
  }
  RecordLook look(std::uint32_t user) const {
    if (user == Users::nobody || users_[user].record != nullptr) return RecordLook(record(user));
    return {layout, cold_.get(users_[user].place, layout)};
  }
  void hold(std::uint32_t user) {
    Users::User& its = users_[user];
    if (!its.is_cold()) return;
    RecordBytes bytes = cold_.get(its.place, layout);
    cold_.release(its.place);
    bytes_ += Record(layout, bytes.get()).end();
    warm_ += 1;
    its.record = bytes.release();
    its.place = 0;
  }
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
    const std::uint32_t next = users_.next();
    const std::uint64_t before = next < users_.slots() ? users_[next].stamp : 0;
    if (before != 0) preserve(next);
    const std::size_t size = Record(layout, record.get()).end();
    const std::uint32_t user = users_.add(tag, record.get(), stamp);
    record.release();
    bytes_ += size;
    warm_ += 1;
    try {
      undo_.note_added(user, before);
    } catch (...) {
      drop(user, before);
      throw;
    }
    return user;
  }
  void remove(std::uint32_t user, std::uint64_t now) {
    hold(user);
    preserve(user);
    RecordBytes& kept = undo_.note_removed(user, stamp(user));
    kept.reset(users_[user].record);
    uncount(Record(layout, kept.get()));
    users_.remove(tag_of(Record(layout, kept.get()).key()), user, now);
  }
  // Replaces a record by a changed copy of it.
  void replace(std::uint32_t user, RecordBytes fresh) {
    preserve(user);
    RecordBytes& old = undo_.note_replaced(user, stamp(user));
    old = exchange(user, std::move(fresh));
  }
  // Adds a feature that the record does not have. `is_first`: of this event.
  std::uint32_t add_feature(std::uint32_t user, std::uint32_t hash, bool is_first) {
    const RecordHead& head = record(user).head();
    if (is_first) preserve(user), undo_.note_widened(user, stamp(user), head.features, head.room);
    if (head.features == head.room) exchange(user, record(user).resized(Record::more_room(head.room, std::size_t{head.room} + 1)));
    return record(user).add(hash);
  }
  void note_learning(std::uint32_t user, const RecordColumns& at, const Desk& desk, std::size_t first) {
    preserve(user);
    undo_.note_learning(user, stamp(user), record(user), at, desk, first);
  }

  void commit() {
    undo_.clear();
    hand_before_ = hand_;
  }
  void take_back() {
    for (auto entry = undo_.entries().rbegin(); entry != undo_.entries().rend(); ++entry) take_back(*entry);
    undo_.clear();
    hand_ = hand_before_;
  }

  // ---- keys that have not learned for long ----

  // One of them, for a fleet that is full.
  std::uint32_t idle(std::uint64_t now) {
    return idle(hand_, now, [](const Users::User&) { return true; });
  }
  // Moves records to disk until the others fit into the memory of the fleet.
  void make_room(std::uint64_t now) {
    while (bytes() > memory_ && warm_ > 0) {
      const std::uint32_t user = idle(cold_hand_, now, [&](const Users::User& its) {
        return its.record != nullptr && ColdRecords::can_hold(Record(layout, its.record));
      });
      if (user == Users::nobody) return;
      cool(user);
    }
  }
  std::size_t cold() const { return size() - warm_; }
  const Hand& hand() const { return hand_; }

  double bytes() const {
    return static_cast<double>(record_bytes() + users_.bytes() + warm_ * malloc_bytes);
  }
  std::size_t record_bytes() const { return bytes_ + (shared_ ? record(Users::nobody).end() : 0); }
  std::size_t file_bytes() const { return cold_.file_bytes(); }

  // ---- snapshots ----

  // From now on, slots that change are kept as they were until the snapshot has read them.
  void begin_past(std::uint64_t since, std::uint64_t until) {
    past_.emplace(since, until, static_cast<std::uint32_t>(users_.slots()));
  }
  void end_past() { past_.reset(); }
  // Calls function(user, slot, record) for the next slots of the snapshot, until it returns false. Some slots are skipped, and
  // only so many are looked at in one call. The record of a free slot is nullptr. Returns whether there are more.
  template <class Function>
  bool read_past(const Function& function) {
    Past& past = *past_;
    const std::uint32_t end = past.slots - past.next > slots_at_once ? past.next + slots_at_once : past.slots;
    for (bool wants_more = true; wants_more && past.next < end;) {
      const std::uint32_t user = past.next++;
      if (const PastSlot* kept = past.find(user)) {
        wants_more = give(function, user, kept->was, kept->record.get());
        past.drop(user);
      } else if (const Users::User& its = users_[user]; its.stamp > past.since && its.stamp <= past.until) {
        wants_more = its.is_free() ? function(user, its, nullptr) : give(function, user, its, look(user)->bytes());
      }
    }
    return past.next < past.slots;
  }

  // ---- the state of another fleet (apply.hpp) ----

  // A slot as it is going to be.
  struct Change {
    std::uint32_t user = 0;
    std::uint32_t tag = 0;  // of its key
    Users::User slot;       // it owns its record, or its place on disk
  };
  // Takes the record of a change into memory, or to disk if that is full.
  void stage(Change& change, RecordBytes record) {
    const Record its(layout, record.get());
    change.tag = tag_of(its.key());
    if (bytes() + static_cast<double>(staged_ + its.end()) > memory_ && ColdRecords::can_hold(its)) {
      change.slot.place = cold_.put(its);
      return;
    }
    staged_ += its.end();
    change.slot.record = record.release();
  }
  void drop_staged(Change& change) noexcept {
    if (change.slot.record != nullptr) RecordBytes(std::exchange(change.slot.record, nullptr));
    else if (change.slot.is_cold()) cold_.release(change.slot.place);
    staged_ = 0;
  }
  RecordLook look(const Change& change) const {
    if (change.slot.record != nullptr) return RecordLook(Record(layout, change.slot.record));
    return {layout, cold_.get(change.slot.place, layout)};
  }
  // Before `take`: everything that can fail. There are not fewer slots than before.
  void prepare(const std::vector<Change>& changes, std::size_t slots) {
    for (const Change& change : changes) {
      if (change.user >= users_.slots()) continue;
      if (users_.exists(change.user)) hold(change.user);
      preserve(change.user);
    }
    users_.reserve(slots, slots + 1);
  }
  // Takes over all changes. Nothing is noted, nothing throws.
  void take(std::vector<Change>& changes, std::size_t slots, std::uint32_t first_free, const Hand& hand) noexcept {
    for (const Change& change : changes)
      if (users_.exists(change.user)) forget(change.user);
    users_.resize(slots);
    for (Change& change : changes) {
      if (change.slot.is_free()) {
        users_.set(change.user, change.slot);
        continue;
      }
      if (change.slot.record != nullptr) warm_ += 1, bytes_ += Record(layout, change.slot.record).end();
      users_.enter(change.tag, change.user, change.slot);
      change.slot = Users::User::free(Users::nobody, 0);  // it owns nothing any more
    }
    users_.set_first_free(first_free);
    staged_ = 0;
    hand_ = hand_before_ = hand;
  }

 private:
  static constexpr std::size_t malloc_bytes = 16;
  static constexpr std::uint32_t slots_at_once = 1 << 16;

  // ---- one key ----

  void uncount(const Record& its) {
    bytes_ -= its.end();
    warm_ -= 1;
  }
  // Takes back `add`.
  void drop(std::uint32_t user, std::uint64_t stamp_before) {
    const RecordBytes bytes(users_[user].record);
    const Record its(layout, bytes.get());
    uncount(its);
    users_.take_back_add(tag_of(its.key()), user, stamp_before);
  }
  void forget(std::uint32_t user) {
    const RecordBytes bytes(users_[user].record);
    const Record its(layout, bytes.get());
    uncount(its);
    users_.leave(tag_of(its.key()), user);
    users_.set(user, Users::User::free(Users::nobody, 0));
  }
  void cool(std::uint32_t user) {
    const Record its = record(user);
    const ColdRecords::Place place = cold_.put(its);
    uncount(its);
    RecordBytes(std::exchange(users_[user].record, nullptr));
    users_[user].place = place;
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
  // Slots that changed in the first half of all changes will do at first. nobody: three rounds have found nothing.
  template <class Accepts>
  std::uint32_t idle(Hand& hand, std::uint64_t now, const Accepts& accepts) {
    if (hand.this_round == 0) hand.this_round = now, hand.last_round = now / 2;
    for (int rounds = 0; rounds < 3;) {
      if (hand.at >= users_.slots()) {
        hand = {0, now, hand.this_round};
        rounds += 1;
        continue;
      }
      const auto user = static_cast<std::uint32_t>(hand.at++);
      const Users::User& its = users_[user];
      if (!its.is_free() && its.stamp <= hand.last_round && accepts(its)) return user;
    }
    return Users::nobody;
  }

  // ---- taking back, and keeping ----

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
      case Kind::added: return drop(entry.user, entry.stamp);
      case Kind::removed: {
        RecordBytes& was = undo_.record(entry);
        const Record its(layout, was.get());
        bytes_ += its.end();
        warm_ += 1;
        return users_.restore(users_.tag_of(its.key()), entry.user, {was.release(), entry.stamp, 0});
      }
      case Kind::replaced: exchange(entry.user, std::move(undo_.record(entry))); break;
      case Kind::widened: narrow(entry.user, entry.features, static_cast<std::uint32_t>(entry.at)); break;
      case Kind::learned: undo_.take_back(entry, layout, record(entry.user)); break;
    }
    if (entry.user != Users::nobody) users_[entry.user].stamp = entry.stamp;
  }
  // Before a slot changes.
  HINGE_INLINE void preserve(std::uint32_t user) {
    if (past_ && user != Users::nobody && past_->needs(user, users_[user])) [[unlikely]] keep(user);
  }
  HINGE_APART void keep(std::uint32_t user) {
    const Users::User& its = users_[user];
    RecordBytes copy = its.record == nullptr ? nullptr : record(user).copy();
    past_->keep(user, PastSlot{its, std::move(copy)});
  }
  template <class Function>
  bool give(const Function& function, std::uint32_t user, const Users::User& was, char* bytes) const {
    if (bytes == nullptr) return function(user, was, nullptr);
    const Record record(layout, bytes);
    return function(user, was, &record);
  }

  double memory_;
  Users users_;
  RecordBytes shared_;
  ColdRecords cold_;
  FleetUndo undo_;
  std::optional<Past> past_;
  std::size_t bytes_ = 0, warm_ = 0;  // of the records in memory
  std::size_t staged_ = 0;            // bytes that `stage` has taken into memory
  Hand hand_, hand_before_, cold_hand_;
};

}  // namespace hinge
