// Takes back what events have changed in the records of a fleet, the last change first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "desk.hpp"
#include "users.hpp"

namespace hinge {

class FleetUndo {
 public:
  enum class Kind : std::uint8_t { added, removed, replaced, widened, learned };
  struct Entry {
    Kind kind;
    std::uint32_t user;  // Users::nobody: the shared record
    std::uint32_t features = 0;
    std::uint64_t stamp = 0;
    std::size_t at = 0;  // in `bytes_`, or in `records_`
  };

  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }

  // A key has been added.
  void note_added(std::uint32_t user) { entries_.push_back({Kind::added, user}); }
  // The record of a user is going to be removed, or to be replaced by another one. The old one is handed over.
  RecordBytes& note_removed(std::uint32_t user, std::uint64_t stamp) { return keep(Kind::removed, user, stamp); }
  RecordBytes& note_replaced(std::uint32_t user, std::uint64_t stamp) { return keep(Kind::replaced, user, stamp); }

  // A record with so many features is going to get more of them.
  void note_widened(std::uint32_t user, std::uint64_t stamp, std::uint32_t features) {
    entries_.push_back({Kind::widened, user, features, stamp});
  }

  // A record is going to learn: columns from `first` on of the desk.
  void note_learning(std::uint32_t user, std::uint64_t stamp, const Record& record, const RecordColumns& at, const Desk& desk,
                     std::size_t first) {
    const std::size_t start = bytes_.size();
    try {
      entries_.push_back({Kind::learned, user, 0, stamp, start});
      put(&record.head(), sizeof(RecordHead));
      put(record.biases(), record.bias_bytes());
      const std::uint64_t size = at.size;
      put(&size, sizeof size);
      put(at.places, size * sizeof *at.places);
      desk.each_array(first, at.size, [&](const char* from, std::size_t bytes) { put(from, bytes); });
    } catch (...) {
      if (!entries_.empty() && entries_.back().at == start && entries_.back().kind == Kind::learned) entries_.pop_back();
      bytes_.resize(start);
      throw;
    }
  }
  // Puts back what `note_learning` has noted. Columns are those of the desk that learned.
  void take_back(const Entry& entry, const RecordLayout& layout, const Record& record) const {
    const char* from = bytes_.data() + entry.at;
    const auto get = [&](void* to, std::size_t size) {
      std::memcpy(to, from, size);
      from += size;
    };
    RecordHead& now = record.head();
    RecordHead was;
    get(&was, sizeof was);
    now.statistics = was.statistics;
    now.constant = was.constant;
    now.weight_bound = was.weight_bound;
    now.added = was.added;
    now.ignored = was.ignored;
    get(record.biases(), record.bias_bytes());
    std::uint64_t size = 0;
    get(&size, sizeof size);
    std::vector<std::int64_t> places(size);
    if (size > 0) get(places.data(), size * sizeof places[0]);
    const auto put_back = [&](auto* array, std::size_t each) {
      for (const std::int64_t place : places)
        get(reinterpret_cast<char*>(array) + static_cast<std::size_t>(place) * each, each);
    };
    put_back(record.v(), layout.real * now.width);
    if (layout.averages) put_back(record.u(), sizeof(double) * now.width);
    if (layout.variances) put_back(record.t(), sizeof(double));
  }
  RecordBytes& record(const Entry& entry) { return records_[entry.at]; }

  void clear() {
    entries_.clear();
    records_.clear();
    if (bytes_.capacity() > largest_spare) std::vector<char>().swap(bytes_);
    bytes_.clear();
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
  void put(const void* from, std::size_t size) {
    const auto* bytes = static_cast<const char*>(from);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }

  static constexpr std::size_t largest_spare = std::size_t{1} << 24;
  std::vector<Entry> entries_;
  std::vector<RecordBytes> records_;
  std::vector<char> bytes_;
};

}  // namespace hinge
