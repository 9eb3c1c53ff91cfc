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

#include "../../names/bytes.hpp"
#include "../../names/vocabulary.hpp"
#include "../text.hpp"

namespace hinge {

// What is to be known of the name of a field.
struct JsonName {
  std::uint8_t asked = 0;   // see `JsonLine`: its place among the names that are asked for, from 1; 0: it is another one
  bool special = false;     // it has a character that hinge.Features escapes
  bool dotted = false;      // it has a point or a bracket
  bool as_written = false;  // it has no escapes
};

struct JsonField {
  std::string_view key;  // the name
  JsonName name;
  std::uint32_t object = 0;  // the number of its object, in the order of their beginnings
  std::uint32_t node = 0;    // its place among all values of the line
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
  // Whether all fields so far were expected.
  bool all_expected() const { return expected_; }
  // One of the names that are expected in this object, if it is at `at`, behind the quote; else nullptr. What is there ends
  // with a newline, behind which `padding` bytes can be read.
  HINGE_INLINE const JsonName* find_expected(const char* at, std::uint32_t object, std::size_t& size) {
    if (!expected_) return nullptr;
    const std::size_t end = std::min(next_ + 1 + most_missing, known_.size());
    for (std::size_t i = next_; i < end; ++i) {
      const Known& known = known_[i];
      if (known.object != object || !is_name(at, known_bytes_.data() + known.from, known.size)) continue;
      next_ = i + 1;
      size = known.size;
      return &known.name;
    }
    return nullptr;
  }
  // To be called for all fields of a line if one of them is not expected.
  void add(const JsonField& field) {
    expected_ = false;
    fields_.push_back(field);
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
    std::size_t from, size;  // in `known_bytes_`
    std::uint32_t object;
    JsonName name;
  };
  struct Slot {
    std::uint64_t line = 0;  // that has filled it; another one: it is free
    std::uint32_t hash = 0, field = 0;
  };
  static constexpr std::size_t most_missing = 4;   // expected fields that a line does not have, between others
  static constexpr std::size_t patience = 8;       // lines with other fields until those of the last one are expected
  static constexpr std::size_t most_probes = 100;  // of the hash table, for one name

  // Compares a name and the quote that ends it. The first difference is at the newline at the latest: no name has one.
  HINGE_INLINE static bool is_name(const char* at, const char* name, std::size_t size) {
    return size < padding ? same_bytes(at, name, size + 1) : is_long_name(at, name, size);
  }
  HINGE_APART static bool is_long_name(const char* at, const char* name, std::size_t size) {
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
      const std::uint32_t object = field.name.as_written ? field.object : UINT32_MAX;  // those with escapes never are
      known_.push_back({known_bytes_.size(), field.key.size(), object, field.name});
      known_bytes_.append(field.key) += '"';
    }
  }

  void note(std::size_t index) {
    if (crowded_) return;
    if (2 * (index + 1) > slots_.size()) grow();
    const JsonField& field = fields_[index];
    const std::uint32_t hash = Vocabulary::hash_of(field.key) + field.object * 0x9E3779B9u;
    std::size_t i = hash & (slots_.size() - 1);
    for (std::size_t probes = 1; slots_[i].line == line_; ++probes, i = (i + 1) & (slots_.size() - 1)) {
      const JsonField& other = fields_[slots_[i].field];
      if (slots_[i].hash == hash && other.object == field.object && other.key == field.key)
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
      const int keys = a.key.compare(b.key);
      return keys != 0 ? keys < 0 : a.node < b.node;
    });
    for (std::size_t i = 1, first = 0; i < fields_.size(); ++i) {
      if (fields_[i].object == fields_[first].object && fields_[i].key == fields_[first].key)
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
