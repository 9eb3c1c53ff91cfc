// Takes back what events have changed in the records of a fleet, the last change first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "desk.hpp"
#include "users.hpp"

namespace hinge {

// Pieces of memory, one after the other. Some of it is kept for the next batch: fresh pages cost more than what is noted.
class Notes {
 public:
  // Room for so many bytes.
  char* add(std::size_t size) {
    if (chunks_.empty() || used_ + size > chunks_[current_].size) open(size);
    last_ = (current_ << shift) | used_;
    char* const place = chunks_[current_].bytes.get() + used_;
    used_ += (size + 7) / 8 * 8;
    return place;
  }
  // Where the last piece is, and what is there.
  std::size_t last() const { return last_; }
  const char* at(std::size_t place) const { return chunks_[place >> shift].bytes.get() + (place & ((std::size_t{1} << shift) - 1)); }
  void clear() {
    if (chunks_.size() > kept) chunks_.resize(kept);
    current_ = used_ = 0;
  }

 private:
  static constexpr std::size_t shift = 36, usual = std::size_t{1} << 18, kept = 64;
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };
  void open(std::size_t size) {
    std::size_t next = chunks_.empty() ? 0 : current_ + 1;
    while (next < chunks_.size() && chunks_[next].size < size + 8) ++next;
    if (next == chunks_.size()) {
      const std::size_t room = std::max(usual, size + 8);
      chunks_.push_back({std::unique_ptr<char[]>(new char[room]), room});
    }
    current_ = next;
    used_ = 0;
  }

  std::vector<Chunk> chunks_;
  std::size_t current_ = 0, used_ = 0, last_ = 0;
};

class FleetUndo {
 public:
  enum class Kind : std::uint8_t { added, removed, replaced, widened, learned };
  struct Entry {
    Kind kind;
    std::uint32_t user;  // Users::nobody: the shared record
    std::uint32_t features = 0;
    std::uint64_t stamp = 0;
    std::size_t at = 0;  // in `notes_`, or in `records_`; of `widened`: the room
  };

  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }

  // A key has been added to a slot. `stamp`: what the slot had before.
  void note_added(std::uint32_t user, std::uint64_t stamp) { entries_.push_back({Kind::added, user, 0, stamp}); }
  // The record of a user is going to be removed, or to be replaced by another one. The old one is handed over.
  RecordBytes& note_removed(std::uint32_t user, std::uint64_t stamp) { return keep(Kind::removed, user, stamp); }
  RecordBytes& note_replaced(std::uint32_t user, std::uint64_t stamp) { return keep(Kind::replaced, user, stamp); }

  // A record with so many features, and room for some, is going to get more of them.
  void note_widened(std::uint32_t user, std::uint64_t stamp, std::uint32_t features, std::uint32_t room) {
    entries_.push_back({Kind::widened, user, features, stamp, room});
  }

  // A record is going to learn: columns from `first` on of the desk.
  void note_learning(std::uint32_t user, std::uint64_t stamp, const Record& record, const RecordColumns& at,
                     const Desk& desk, std::size_t first) {
    const RecordHead& h = record.head();
    const Scalars scalars{h.statistics, h.constant, h.weight_bound, h.added, h.ignored, static_cast<std::uint32_t>(at.size)};
    if (entries_.size() == entries_.capacity()) entries_.reserve(2 * entries_.size() + 64);
    char* to = notes_.add(sizeof scalars + record.bias_bytes() + at.size * (sizeof *at.places + desk.bytes_per_column()));
    entries_.push_back({Kind::learned, user, 0, stamp, notes_.last()});
    const auto put = [&](const void* from, std::size_t size) {
      if (size > 0) std::memcpy(to, from, size);
      to += size;
    };
    put(&scalars, sizeof scalars);
    put(record.biases(), record.bias_bytes());
    put(at.places, at.size * sizeof *at.places);
    desk.each_array(first, at.size, put);
  }
  // Puts back what `note_learning` has noted.
  void take_back(const Entry& entry, const RecordLayout& layout, const Record& record) const {
    const char* from = notes_.at(entry.at);
    const auto get = [&](void* to, std::size_t size) {
      std::memcpy(to, from, size);
      from += size;
    };
    Scalars was;
    get(&was, sizeof was);
    RecordHead& now = record.head();
    now.statistics = was.statistics;
    now.constant = was.constant;
    now.weight_bound = was.weight_bound;
    now.added = was.added;
    now.ignored = was.ignored;
    get(record.biases(), record.bias_bytes());
    std::vector<std::uint32_t> places(was.columns);
    if (!places.empty()) get(places.data(), places.size() * sizeof places[0]);
    const auto put_back = [&](auto* array, std::size_t each) {
      for (const std::uint32_t place : places) get(reinterpret_cast<char*>(array) + place * each, each);
    };
    put_back(record.v(), layout.real * now.width);
    if (layout.averages) put_back(record.u(), sizeof(double) * now.width);
    if (layout.variances) put_back(record.t(), sizeof(double));
  }
  RecordBytes& record(const Entry& entry) { return records_[entry.at]; }

  void clear() {
    if (entries_.empty()) return;
    entries_.clear();
    records_.clear();
    notes_.clear();
  }

 private:
  RecordBytes& keep(Kind kind, std::uint32_t user, std::uint64_t stamp) {
    records_.emplace_back();
    try {
      entries_.push_back({kind, user, 0, stamp, records_.size() - 1});
    } catch (...) {
      records_.pop_back();
      throw;
    }
    return records_.back();
  }
  struct Scalars {
    Statistics statistics;
    double constant, weight_bound, added;
    std::uint32_t ignored, columns;
  };

  std::vector<Entry> entries_;
  std::vector<RecordBytes> records_;
  Notes notes_;
};

}  // namespace hinge
