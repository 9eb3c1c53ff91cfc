// Features of a fleet are identified by 32 bits of their names, so that records need no vocabulary and those of several
// machines fit together. The names themselves are kept once for the whole fleet, for those who want to read weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../names/names.hpp"

namespace hinge {

// Part of the file format. Distinct column numbers below 2^32 never collide.
inline std::uint32_t feature_hash(std::int64_t column) {
  if (column < 0 || column > 0xFFFFFFFF) return Vocabulary::hash_of(NumberName(column).key());
  // The finalizer of MurmurHash3, which can be inverted. (Without the constant, column 0 would have the hash of "".)
  std::uint32_t hash = static_cast<std::uint32_t>(column) ^ 0x9e3779b9u;
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}
inline std::uint32_t feature_hash(std::string_view name) {
  return NumberName::is_number(name) ? feature_hash(NumberName::number(name)) : Vocabulary::hash_of(name);
}

// The features of an event; none of the values is 0. Names are given as text, or as column numbers.
struct EventFeatures {
  const std::uint32_t* hashes = nullptr;
  const double* values = nullptr;
  std::size_t size = 0;
  const std::string_view* names = nullptr;
  const std::int64_t* columns = nullptr;
};

// From hashes to names, in the order of arrival. Of two names with the same hash the first one is kept.
class FeatureNames {
 public:
  explicit FeatureNames(std::size_t limit) : limit_(limit) {}

  std::size_t size() const { return hashes_.size(); }
  std::size_t limit() const { return limit_; }
  std::string_view name(std::size_t i) const {
    const std::size_t from = i == 0 ? 0 : ends_[i - 1];
    return {text_.data() + from, ends_[i] - from};
  }
  // The name of a feature, if it was kept.
  std::optional<std::string_view> find(std::uint32_t hash) const {
    if (table_.empty()) return std::nullopt;
    for (std::size_t i = first(hash); table_[i] != 0; i = next(i))
      if (hashes_[table_[i] - 1] == hash) return name(table_[i] - 1);
    return std::nullopt;
  }
  // The name of a feature, or its hash if the name was not kept.
  std::string name_of(std::uint32_t hash) const {
    if (const auto kept = find(hash)) return std::string(*kept);
    char digits[16];
    std::snprintf(digits, sizeof digits, "#%08x", static_cast<unsigned>(hash));
    return digits;
  }
  // That of an event, which may be new.
  std::string name_of(const EventFeatures& x, std::size_t j) const {
    if (x.columns != nullptr && x.names == nullptr) return std::string(NumberName(x.columns[j]).key());
    if (x.names != nullptr && !x.names[j].empty()) return std::string(x.names[j]);
    return name_of(x.hashes[j]);
  }
  void add(const EventFeatures& x, std::size_t j) {
    if (size() >= limit_ || find(x.hashes[j])) return;
    if (x.names != nullptr) return add(x.hashes[j], x.names[j]);
    const NumberName number(x.columns[j]);
    add(x.hashes[j], number.key());
  }
  void add(std::uint32_t hash, std::string_view name) {
    if (size() < limit_) append(hash, name);
  }
  // The same, for a name from another fleet: it counts in any case.
  void append(std::uint32_t hash, std::string_view name) {
    if (4 * (size() + 1) > 3 * table_.size()) grow();
    text_.append(name);
    ends_.push_back(text_.size());
    hashes_.push_back(hash);
    enter(size() - 1);
  }
  std::uint32_t hash(std::size_t i) const { return hashes_[i]; }

  // After change number `clock`: those that are new belong to it.
  void mark(std::uint64_t clock) {
    if (marks_.empty() || marks_.back().size < size()) marks_.push_back({clock, size()});
  }
  // How many there were after change number `clock`.
  std::size_t size_at(std::uint64_t clock) const {
    const auto later = std::upper_bound(marks_.begin(), marks_.end(), clock, [](std::uint64_t at, const Mark& mark) { return at < mark.clock; });
    return later == marks_.begin() ? 0 : std::prev(later)->size;
  }
  // Forgets the last ones, the newest first: nothing was entered past their slots.
  void truncate(std::size_t count) {
    while (size() > count) {
      std::size_t i = first(hashes_.back());
      while (table_[i] != size()) i = next(i);
      table_[i] = 0;
      ends_.pop_back();
      hashes_.pop_back();
      text_.resize(ends_.empty() ? 0 : ends_.back());
    }
    while (!marks_.empty() && marks_.back().size > count) marks_.pop_back();
  }
  std::size_t bytes() const {
    return text_.capacity() + ends_.capacity() * sizeof(std::size_t) + hashes_.capacity() * sizeof(std::uint32_t) +
           table_.capacity() * sizeof(std::uint32_t) + marks_.capacity() * sizeof(Mark);
  }

 private:
  std::size_t first(std::uint32_t hash) const { return (std::uint64_t{hash} * table_.size()) >> 32; }
  std::size_t next(std::size_t i) const { return i + 1 == table_.size() ? 0 : i + 1; }
  void enter(std::size_t place) {
    std::size_t i = first(hashes_[place]);
    while (table_[i] != 0) i = next(i);
    table_[i] = static_cast<std::uint32_t>(place + 1);
  }
  void grow() {
    table_.assign(table_.empty() ? 64 : 2 * table_.size(), 0);
    for (std::size_t place = 0; place < size(); ++place) enter(place);
  }

  struct Mark {
    std::uint64_t clock;
    std::size_t size;
  };

  std::size_t limit_;
  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::uint32_t> hashes_, table_;
  std::vector<Mark> marks_;
};

}  // namespace hinge
