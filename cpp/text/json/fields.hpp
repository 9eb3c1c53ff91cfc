// The names of the fields of a line: which ones are expected, and which ones occur twice.
//
// Most lines have the fields of an earlier line, in their order and perhaps without some of them. An expected name needs
// no search for its end, and as long as all names are expected, none can occur twice. Otherwise a hash table tells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../names/vocabulary.hpp"

namespace hinge {

struct JsonField {
  std::string_view name;
  std::uint32_t object = 0;  // the number of its object, in the order of their beginnings
  std::uint32_t node = 0;    // its place among all values of the line
  std::uint8_t asked = 0;    // see `JsonLine`
  bool special = false;      // the name has a character that hinge.Features escapes
  bool dotted = false;       // the name has a point or a bracket
  bool as_written = true;    // the name has no escapes
};

class JsonFields {
 public:
  // The later one of two fields with the same name in the same object.
  struct Repeat {
    std::uint32_t first, again;  // their nodes
  };

  void begin_line() {
    fields_.clear();
    repeats_.clear();
    next_ = 0;
    expected_ = true;
    crowded_ = false;
    line_ += 1;
  }
  // Whether one of the names that are expected in this object is at `at`, behind the quote; then it is in `field`. What is
  // there ends with a newline, behind which eight bytes can be read.
  HINGE_INLINE bool find_expected(const char* at, JsonField& field) {
    if (!expected_) return false;
    const std::size_t end = std::min(next_ + 1 + most_missing, known_.size());
    for (std::size_t i = next_; i < end; ++i) {
      const Known& known = known_[i];
      if (known.object != field.object || !is_name(at, known_bytes_.data() + known.from, known.size)) continue;
      field.name = {at, known.size};
      field.asked = known.asked;
      field.special = known.special;
      field.dotted = known.dotted;
      next_ = i + 1;
      return true;
    }
    return false;
  }
  // A field that was found, or (`expected`: no) is another one.
  HINGE_INLINE void add(const JsonField& field, bool expected) {
    fields_.push_back(field);
    if (expected) [[likely]] return;
    if (std::exchange(expected_, false))
      for (std::size_t i = 0; i + 1 < fields_.size(); ++i) note(i);
    note(fields_.size() - 1);
  }
  // To be called once for each whole line.
  const std::vector<Repeat>& end_line() {
    if (expected_) return repeats_;
    if (crowded_) compare_all();
    if (repeats_.empty()) expect_these();
    return repeats_;
  }
  std::size_t count_of(std::uint32_t first) const {
    const auto its = [&](const Repeat& repeat) { return repeat.first == first; };
    return 1 + static_cast<std::size_t>(std::count_if(repeats_.begin(), repeats_.end(), its));
  }

 private:
  struct Known {
    std::size_t from, size;  // the name, in `known_bytes_`
    std::uint32_t object;
    std::uint8_t asked;
    bool special, dotted;
  };
  struct Slot {
    std::uint64_t line = 0;  // that has filled it; another one: it is free
    std::uint32_t hash = 0, field = 0;
  };
  static constexpr std::size_t most_missing = 4;   // expected fields that a line does not have, between others
  static constexpr std::size_t patience = 8;       // lines with other fields until those of the last one are expected
  static constexpr std::size_t most_probes = 100;  // of the hash table, for one name

  // Compares a name and the quote that ends it. The first difference is at the newline at the latest: no name has one.
  static bool is_name(const char* at, const char* name, std::size_t size) {
    std::size_t i = 0;
    for (; i + 8 <= size + 1; i += 8) {
      std::uint64_t x = 0, y = 0;
      std::memcpy(&x, at + i, 8), std::memcpy(&y, name + i, 8);
      if (x != y) return false;
    }
    for (; i < size + 1; ++i)
      if (at[i] != name[i]) return false;
    return true;
  }
  // The fields of this line are expected from here on, unless others may be again: those of a line that has more.
  void expect_these() {
    misses_ += 1;
    if (fields_.size() < known_.size() && misses_ < patience) return;
    misses_ = 0;
    known_.clear();
    known_bytes_.clear();
    for (const JsonField& field : fields_) {
      const std::uint32_t object = field.as_written ? field.object : UINT32_MAX;  // escaped names: they never are
      known_.push_back({known_bytes_.size(), field.name.size(), object, field.asked, field.special, field.dotted});
      known_bytes_.append(field.name) += '"';
    }
  }

  void note(std::size_t index) {
    if (crowded_) return;
    if (2 * (index + 1) > slots_.size()) grow();
    const JsonField& field = fields_[index];
    const std::uint32_t hash = Vocabulary::hash_of(field.name) + field.object * 0x9E3779B9u;
    std::size_t i = hash & (slots_.size() - 1);
    for (std::size_t probes = 1; slots_[i].line == line_; ++probes, i = (i + 1) & (slots_.size() - 1)) {
      const JsonField& other = fields_[slots_[i].field];
      if (slots_[i].hash == hash && other.object == field.object && other.name == field.name)
        return repeats_.push_back({other.node, field.node});
      if (probes == most_probes) {
        crowded_ = true;
        return;
      }
    }
    slots_[i] = {line_, hash, static_cast<std::uint32_t>(index)};
  }
  HINGE_APART void grow() {
    const std::vector<Slot> before =
        std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(64, 4 * slots_.size())));
    for (const Slot& slot : before) {
      if (slot.line != line_) continue;
      std::size_t i = slot.hash & (slots_.size() - 1);
      while (slots_[i].line == line_) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }
  // Names that were made to collide in the table: all fields in order.
  HINGE_APART void compare_all() {
    repeats_.clear();
    std::sort(fields_.begin(), fields_.end(), [](const JsonField& a, const JsonField& b) {
      if (a.object != b.object) return a.object < b.object;
      const int names = a.name.compare(b.name);
      return names != 0 ? names < 0 : a.node < b.node;
    });
    for (std::size_t i = 1, first = 0; i < fields_.size(); ++i) {
      if (fields_[i].object == fields_[first].object && fields_[i].name == fields_[first].name)
        repeats_.push_back({fields_[first].node, fields_[i].node});
      else
        first = i;
    }
    std::sort(fields_.begin(), fields_.end(), [](const JsonField& a, const JsonField& b) { return a.node < b.node; });
  }

  std::vector<JsonField> fields_;  // of this line
  std::vector<Repeat> repeats_;
  bool expected_ = true;  // whether all of them were expected
  bool crowded_ = false;
  std::size_t next_ = 0;  // of those that are known
  std::vector<Known> known_;
  std::string known_bytes_;
  std::size_t misses_ = 0;
  std::vector<Slot> slots_;
  std::uint64_t line_ = 0;
};

}  // namespace hinge
