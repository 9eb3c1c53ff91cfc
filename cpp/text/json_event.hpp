// One line of JSON as an event: its features, and the fields that are something else. Without Python.
//
//     JsonEvent event({.label = "clicked", .weight = "w", .key = "user"});
//     const char* newline = event.read(line);             // InputError: what is wrong, and the column
//     event.label().kind, .text, .number, .integer()      // a JsonValue; likewise weight() and key()
//     event.for_each_feature([&](std::string_view name, double value) { ... });   // may throw InputError, too
//
// A line ends with a newline, behind which `padding` bytes (text.hpp) can be read, as `LineReader` (lines.hpp) gives it. No
// memory is allocated once the object has seen lines of that size. Names and texts live until the next line is read, the
// names of features until `function` returns. An event that has thrown can read the next line.
//
// The features are those that `Records::for_each` (python/events.hpp) finds in what Python's json makes of the line, in
// the same order and with the same bits: a number is a value, true is 1, "color": "red" is 1 under color=red, null is no
// feature, {"a": {"b": 1}} is a.b, [1, 2] are a[0] and a[1], ["x", "y"] are 1 under a=x and a=y. What is 0 is left out.
// A name can come twice ({"a": {"b": 1}, "a.b": 1}): the values are to be added up.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../names/names.hpp"
#include "json/line.hpp"

namespace hinge {

// What the fields of the object mean. A name that is empty is that of no field.
struct JsonMeaning {
  std::string label{}, weight{}, key{};  // they are no features
  std::vector<std::string> aside{};      // nor are these: names of examples, say
  std::vector<std::string> within{};     // the first of these fields that is an object has all features
  bool escapes = false;  // "\", "=", "*" and "+" in names of fields get a backslash, as hinge.Features does
  Repeated repeated = Repeated::rejected;
};

// A field that is no feature. Of lists and objects there is only what is written.
struct JsonValue {
  JsonKind kind = JsonKind::null;
  bool is_there = false;     // if not, it is null
  std::string_view text;     // of a string
  double number = 0;         // of a number; of a whole number the nearest
  std::string_view written;  // as it is in the line
  const JsonNode* node = nullptr;

  bool is_missing() const { return kind == JsonKind::null; }
  bool is_number() const { return kind == JsonKind::integer || kind == JsonKind::real; }
  // A whole number, if it fits.
  std::optional<std::int64_t> integer() const {
    std::int64_t value = 0;
    if (kind != JsonKind::integer) return std::nullopt;
    const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), value);
    return error == std::errc() ? std::optional(value) : std::nullopt;
  }
};

class JsonEvent {
 public:
  explicit JsonEvent(JsonMeaning meaning)
      : meaning_(std::move(meaning)), names_(all_names(meaning_)), line_(names_, meaning_.repeated) {
    for (const std::string& name : names_)
      aside_.push_back(std::find(meaning_.within.begin(), meaning_.within.end(), name) == meaning_.within.end() ||
                       name == meaning_.label || name == meaning_.weight || name == meaning_.key ||
                       std::find(meaning_.aside.begin(), meaning_.aside.end(), name) != meaning_.aside.end());
    label_ = place_of(meaning_.label), weight_ = place_of(meaning_.weight), key_ = place_of(meaning_.key);
    for (const std::string& name : meaning_.within) within_.push_back(place_of(name));
  }
  const JsonMeaning& meaning() const { return meaning_; }

  // Returns the newline.
  const char* read(const char* line) { return line_.read(line); }

  JsonValue label() const { return value_of(label_); }
  JsonValue weight() const { return value_of(weight_); }
  JsonValue key() const { return value_of(key_); }
  bool has_key() const { return key_ != none; }
  // Whether two of the features just given may have the same name. (If names are escaped.)
  bool names_may_repeat() const { return repeats_ || (nested_ && dotted_); }
  // All values of the line, and where they are.
  const JsonLine& line() const { return line_; }

  template <class Function>
  void for_each_feature(Function&& function) {
    name_bytes_ = 0;
    nested_ = dotted_ = repeats_ = false;
    for (const std::size_t place : within_)
      if (const JsonNode* const inner = line_.field(place); inner != nullptr && inner->kind == JsonKind::object)
        return for_fields(*inner, function);
    for_fields(line_.nodes()[0], function);
  }

 private:
  static constexpr int max_depth = 20;                                  // of objects in objects, as for records
  static constexpr std::size_t most_name_bytes = std::size_t{1} << 28;  // of the names that one line makes

  // ---- names with a meaning ----

  static std::vector<std::string> all_names(const JsonMeaning& meaning) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    add(meaning.label), add(meaning.weight), add(meaning.key);
    for (const std::string& name : meaning.within) add(name);
    for (const std::string& name : meaning.aside) add(name);
    if (names.size() > JsonLine::most_asked) throw InputError("there are too many fields with a meaning");
    return names;
  }
  std::size_t place_of(const std::string& name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    return found == names_.end() ? none : static_cast<std::size_t>(found - names_.begin());
  }
  JsonValue value_of(std::size_t place) const {
    const JsonNode* const node = place == none ? nullptr : line_.field(place);
    return node == nullptr ? JsonValue() : JsonValue{node->kind, true, node->kind == JsonKind::string ? node->text() : std::string_view(), node->number, node->written(), node};
  }

  // ---- features ----

  template <class Function>
  void for_fields(const JsonNode& object, Function& function) {
    line_.for_fields(object, [&](const JsonNode& field, const JsonNode& value) {
      if (field.name.asked > 0 && aside_[field.name.asked - 1u]) return;
      field_ = &field;
      dotted_ = dotted_ || field.name.dotted;
      if (value.is_number() && !(field.name.special && meaning_.escapes)) [[likely]] {
        give_number(field.key, value, function);
      } else {
        name_.clear();
        add_name(field);
        for_value(value, 0, function);
      }
    });
  }
  // The features of one field, whose name is in `name_`.
  template <class Function>
  void for_value(const JsonNode& value, int depth, Function& function) {
    const std::size_t size = name_.size();
    switch (value.kind) {
      case JsonKind::null:
      case JsonKind::no: break;
      case JsonKind::yes: give(1, function); break;
      case JsonKind::string:
        name_ += '=';
        name_ += value.text();
        give(1, function);
        break;
      case JsonKind::list:
        nested_ = true;
        for_items(value, function);
        break;
      case JsonKind::object:
        nested_ = true;
        if (depth == max_depth) reject("objects in more than " + std::to_string(max_depth) + " objects", name_);
        line_.for_fields(value, [&](const JsonNode& field, const JsonNode& inner) {
          dotted_ = dotted_ || field.name.dotted;
          name_.resize(size);
          name_ += '.';
          add_name(field);
          for_value(inner, depth + 1, function);
        });
        break;
      default:
        count_name();
        give_number(name_, value, function);
    }
    name_.resize(size);
  }
  // A list of numbers or of strings; null in it is no feature.
  template <class Function>
  void for_items(const JsonNode& list, Function& function) {
    const std::size_t size = name_.size();
    std::size_t place = 0;
    int strings = -1;  // not known yet
    for (const JsonNode *item = &list + 1, *end = item + list.size; item < end; item += 1 + item->size, ++place) {
      if (item->kind == JsonKind::null) continue;
      const bool is_string = item->kind == JsonKind::string;
      if (!(is_string || item->is_number()) || (strings >= 0 && is_string != (strings == 1)))
        reject("a list of numbers or of strings was expected, there is " + in_python(item->written()) + " in it",
               std::string_view(name_).substr(0, size));
      repeats_ = repeats_ || strings == 1;  // another string
      strings = is_string ? 1 : 0;
      name_.resize(size);
      if (is_string) {
        name_ += '=';
        name_ += item->text();
        give(1, function);
      } else {
        name_ += '[';
        name_ += std::to_string(place);
        name_ += ']';
        count_name();
        give_number(name_, *item, function);
      }
    }
    name_.resize(size);
  }
  template <class Function>
  void give(double value, Function& function) {
    count_name();
    function(std::string_view(name_), value);
  }
  template <class Function>
  HINGE_INLINE void give_number(std::string_view name, const JsonNode& value, Function& function) {
    if (!std::isfinite(value.number)) [[unlikely]]
      reject(value.kind == JsonKind::integer ? "the value is too large for float64" : "the value is infinity (inf)", name);
    if (value.number != 0) function(name, value.number);
  }
  // A long name before many short ones could make more bytes than there is memory for.
  void count_name() {
    name_bytes_ += name_.size();
    if (name_bytes_ > most_name_bytes) [[unlikely]]
      reject("the names of the features have more than 2^28 bytes together", first_bytes(name_, 40));
  }
  void add_name(const JsonNode& field) {
    if (!(field.name.special && meaning_.escapes)) {
      name_ += field.key;
      return;
    }
    for (const char c : field.key) {
      if (c == '\\' || c == '=' || c == '*' || c == '+') name_ += '\\';
      name_ += c;
    }
  }
  [[noreturn]] void reject(const std::string& reason, std::string_view feature) const {
    InputError error(reason, none, line_.column_of(field_->key_begin));
    error.name = std::string(feature);
    throw error;
  }

  JsonMeaning meaning_;
  std::vector<std::string> names_;  // of fields that mean something,
  std::vector<bool> aside_;         // and whether they are no features
  std::size_t label_, weight_, key_;
  std::vector<std::size_t> within_;
  JsonLine line_;
  const JsonNode* field_ = nullptr;  // of the object, whose features are being given
  std::string name_;
  std::size_t name_bytes_ = 0;
  // What makes two names the same: ["u", "u"], and fields like "a.b" and "a[0]" beside {"a": {"b": 1}} and {"a": [1]}.
  bool nested_ = false, dotted_ = false, repeats_ = false;
};

}  // namespace hinge
