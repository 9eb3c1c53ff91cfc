// One line of JSON to values: without recursion and, once there is enough memory, without new memory.
//
// What is JSON is what Python's json module takes for it: UTF-8, no control characters in strings, nothing behind the
// value. In addition the line must be an object, NaN and Infinity are rejected, and so are halves of surrogate pairs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../text_rows.hpp"
#include "fields.hpp"
#include "tokens.hpp"

namespace hinge {

enum class JsonKind : std::uint8_t { null, no, yes, integer, real, string, list, object };

// A value. Those of a line are in one array, and what a container has in it follows it.
struct JsonNode {
  std::string_view key;     // the name of a field; items of lists have none
  const char* key_begin;    // the quote before it; nullptr: it is no field
  const char *begin, *end;  // the value as it is written
  const char* text_begin;   // of a string,
  std::size_t text_size;    // without escapes
  double number;            // of a number the nearest float64, also to an integer; infinity if it is too large
  std::uint32_t size;       // how many values are in it
  std::uint32_t instead;    // the place of the last field with the same name, whose value counts; 0: there is none
  std::uint32_t object;     // see `JsonField`
  JsonName name;
  JsonKind kind;
  bool repeats;  // there is an earlier field with the same name

  bool is_number() const { return kind == JsonKind::integer || kind == JsonKind::real; }
  std::string_view text() const { return {text_begin, text_size}; }
  std::string_view written() const { return {begin, static_cast<std::size_t>(end - begin)}; }
};

// Fields that occur twice in an object: an error, as for `hinge learn`; or the last one counts, in the place of the first
// one, as in Python's json.
enum class Repeated : std::uint8_t { rejected, last };

class JsonLine {
 public:
  static constexpr std::size_t max_depth = 1000, most_asked = 255;

  // `asked`: names of fields of the whole object that `field` finds.
  explicit JsonLine(std::vector<std::string> asked = {}, Repeated repeated = Repeated::rejected)
      : asked_(std::move(asked)), found_(asked_.size()), repeated_(repeated) {}

  // Reads a line that ends with a newline, behind which `padding` bytes can be read. Returns the newline. The values are
  // views of the line and of memory in here: they live until the next line is read. Throws InputError.
  const char* read(const char* line) {
    begin(line);
    const char* at = skip_spaces(line);
    push().key_begin = nullptr;
    for (bool more = true; more;) {
      bool is_open = false;
      at = read_value(at, is_open);
      if (!is_open) at = end_values(at, more);
      if (more) at = begin_value(at);
    }
    at = skip_spaces(at);
    if (*at != '\n') reject_json("extra data", at);
    check();
    return at;
  }

  // All values, the object itself first.
  std::span<const JsonNode> nodes() const { return {nodes_.data(), nodes_.size()}; }
  // The field with the name asked[index], or nullptr.
  const JsonNode* field(std::size_t index) const { return found_[index] == 0 ? nullptr : nodes_.data() + found_[index]; }
  // Calls function(field, value) for each field of an object. They differ if the name occurs again.
  template <class Function>
  void for_fields(const JsonNode& object, const Function& function) const {
    const JsonNode* const end = &object + 1 + object.size;
    for (const JsonNode* node = &object + 1; node < end; node += 1 + node->size)
      if (!node->repeats) [[likely]] function(*node, node->instead == 0 ? *node : node_at(node->instead));
  }
  std::size_t column_of(const char* at) const { return static_cast<std::size_t>(at - line_) + 1; }

 private:
  struct Open {
    std::uint32_t node, object;
    bool is_object;
  };

  void begin(const char* line) {
    line_ = line;
    nodes_.set_size(0);
    open_.clear();
    fields_.begin_line();
    std::fill(found_.begin(), found_.end(), 0u);
    objects_ = 0;
    unescaped_ = nullptr;
    halves_ = false;
  }
  // What is known only at the end of the line.
  void check() {
    const auto& repeats = fields_.end_line();
    if (node_at(0).kind != JsonKind::object) reject_kind();
    if (!repeats.empty()) [[unlikely]] {
      if (repeated_ == Repeated::rejected) reject_repeated(repeats);
      for (const auto& [first, again] : repeats) {
        node_at(first).instead = again;
        node_at(again).repeats = true;
      }
    }
    if (halves_) throw InputError("there is half of a surrogate pair (\\ud800 to \\udfff)");
  }

  // ---- errors ----

  [[noreturn]] void reject(const std::string& reason, const char* at) const { throw InputError(reason, none, column_of(at)); }
  [[noreturn]] void reject_json(const std::string& what, const char* at) const {
    const std::string_view rest(at, static_cast<std::size_t>(find_newline(at) - at));
    reject("not JSON: " + what + ", there is " + (rest.empty() ? "the end of the line" : quoted_text(rest, 20)), at);
  }
  [[noreturn]] void reject_kind() const {
    bool of_objects = false;
    for (std::size_t i = 1; node_at(0).kind == JsonKind::list && i < nodes_.size(); i += 1 + node_at(i).size)
      of_objects = of_objects || node_at(i).kind == JsonKind::object;
    const std::string_view written = node_at(0).written();
    throw InputError("an object, {...}, was expected, there is " +
                     (written.size() > 40 ? quoted_text(written, 40) : printable_text(written)) +
                     (of_objects ? " (jq -c '.[]' makes lines of an array of objects)" : ""));
  }
  [[noreturn]] void reject_repeated(const std::vector<JsonFields::Repeat>& repeats) const {
    const std::uint32_t first = repeats.front().first;
    std::uint32_t last = first;
    for (const auto& repeat : repeats)
      if (repeat.first == first) last = repeat.again;
    reject("the field " + quoted_text(node_at(first).key, 40) + " occurs " + std::to_string(fields_.count_of(first)) + " times",
           node_at(last).key_begin);
  }

  // ---- values ----

  JsonNode& node_at(std::size_t place) { return nodes_.data()[place]; }
  const JsonNode& node_at(std::size_t place) const { return nodes_.data()[place]; }
  HINGE_INLINE JsonNode& push() {
    if (nodes_.size() >= std::numeric_limits<std::uint32_t>::max()) [[unlikely]] throw InputError("there are too many values");
    nodes_.make_room(1);
    nodes_.set_size(nodes_.size() + 1);
    JsonNode& node = node_at(nodes_.size() - 1);
    node.size = node.instead = 0;
    node.repeats = false;
    return node;
  }
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  HINGE_INLINE static const char* skip_spaces(const char* at) {
    at += *at == ' ';
    if (static_cast<unsigned char>(*at) > ' ') [[likely]] return at;
    while (is_space(*at)) ++at;
    return at;
  }

  // The value that begins here. `is_open`: it is a container with something in it, which comes next. Returns its end, or
  // where that begins.
  HINGE_INLINE const char* read_value(const char* at, bool& is_open) {
    JsonNode& node = node_at(nodes_.size() - 1);
    node.begin = at;
    switch (*at) {
      case '"': node.kind = JsonKind::string, at = read_string(at, node.text_begin, node.text_size); break;
      case '{': node.kind = JsonKind::object; return begin_container(at, '}', is_open);
      case '[': node.kind = JsonKind::list; return begin_container(at, ']', is_open);
      case 't': node.kind = JsonKind::yes, at = read_word(at, "true"); break;
      case 'f': node.kind = JsonKind::no, at = read_word(at, "false"); break;
      case 'n': node.kind = JsonKind::null, at = read_word(at, "null"); break;
      default: at = read_number(at, node);
    }
    node.end = at;
    return at;
  }
  HINGE_APART const char* begin_container(const char* at, char closing, bool& is_open) {
    const bool is_object = closing == '}';
    const std::uint32_t object = objects_;
    objects_ += is_object;
    at = skip_spaces(at + 1);
    if (*at == closing) return node_at(nodes_.size() - 1).end = at + 1;
    if (open_.size() == max_depth) throw InputError("objects and lists are nested too deep");
    open_.push_back({static_cast<std::uint32_t>(nodes_.size() - 1), object, is_object});
    is_open = true;
    return at;
  }
  // A value has ended, and perhaps containers with it. `more`: another value comes, whose beginning is returned.
  HINGE_INLINE const char* end_values(const char* at, bool& more) {
    while (!open_.empty()) {
      at = skip_spaces(at);
      if (*at == ',') [[likely]] return skip_spaces(at + 1);
      const Open last = open_.back();
      if (*at != (last.is_object ? '}' : ']')) reject_json("expecting ',' delimiter", at);
      open_.pop_back();
      node_at(last.node).size = static_cast<std::uint32_t>(nodes_.size()) - last.node - 1;
      node_at(last.node).end = ++at;
    }
    more = false;
    return at;
  }
  const char* read_word(const char* at, std::string_view word) const {
    if (std::strncmp(at, word.data(), word.size()) != 0) reject_json("expecting value", at);
    return at + word.size();
  }
  HINGE_INLINE const char* read_number(const char* at, JsonNode& node) const {
    const bool negative = *at == '-';
    const char* const digits = at + negative;
    const JsonNumber number = read_json_number(digits);
    if (number.end == nullptr) [[unlikely]] reject_word(at);
    if (number.whole && number.end - digits > most_digits) [[unlikely]]
      throw InputError("there is a number with thousands of digits");
    node.kind = number.whole ? JsonKind::integer : JsonKind::real;
    node.number = std::bit_cast<double>(std::bit_cast<std::uint64_t>(number.value) ^ std::uint64_t{negative} << 63);
    return number.end;
  }
  [[noreturn]] void reject_word(const char* at) const {
    for (const std::string word : {"NaN", "Infinity", "-Infinity"})
      if (std::strncmp(at, word.c_str(), word.size()) == 0)
        reject(word + " is not a finite number: null is for what is missing", at);
    reject_json("expecting value", at);
  }
  static constexpr std::ptrdiff_t most_digits = 4300;  // of whole numbers, as in Python

  // ---- fields ----

  // An item of a list or a field with its name begins here. Returns where its value begins.
  HINGE_INLINE const char* begin_value(const char* at) {
    const auto place = static_cast<std::uint32_t>(nodes_.size());
    JsonNode& node = push();
    node.key_begin = nullptr;
    if (!open_.back().is_object) return at;
    if (*at != '"') reject_json("expecting property name enclosed in double quotes", at);
    node.key_begin = at;
    node.object = open_.back().object;
    std::size_t size = 0;
    if (const JsonName* const name = fields_.find_expected(at + 1, node.object, size)) [[likely]] {
      node.key = {at + 1, size};
      node.name = *name;
      at += size + 2;
    } else {
      at = read_other_name(at, node, place);
    }
    if (node.name.asked > 0) found_[node.name.asked - 1u] = place;
    at = skip_spaces(at);
    if (*at != ':') reject_json("expecting ':' delimiter", at);
    return skip_spaces(at + 1);
  }
  HINGE_APART const char* read_other_name(const char* at, JsonNode& node, std::uint32_t place) {
    if (fields_.all_expected())
      for (std::uint32_t i = 0; i < place; ++i)
        if (node_at(i).key_begin != nullptr) fields_.add({node_at(i).key, node_at(i).name, node_at(i).object, i});
    const char *const begin = at + 1, *text = nullptr;
    std::size_t size = 0;
    at = read_string(at, text, size);
    node.key = {text, size};
    node.name.as_written = text == begin;
    node.name.special = node.key.find_first_of("\\=*+") != std::string_view::npos;
    node.name.dotted = node.key.find_first_of(".[") != std::string_view::npos;
    const auto found = std::find(asked_.begin(), asked_.end(), node.key);
    node.name.asked = node.object != 0 || found == asked_.end() ? 0 : static_cast<std::uint8_t>(found - asked_.begin() + 1);
    fields_.add({node.key, node.name, node.object, place});
    return at;
  }

  // ---- strings ----

  // The string that begins here, without escapes. Returns its end.
  HINGE_INLINE const char* read_string(const char* at, const char*& text, std::size_t& size) {
    bool ascii = true;
    const char* const stop = find_string_stop(at + 1, ascii);
    if (*stop != '"') [[unlikely]] return read_escaped(at, stop, ascii, text, size);
    text = at + 1;
    size = static_cast<std::size_t>(stop - text);
    if (!ascii) [[unlikely]] check_utf8({text, size});
    return stop + 1;
  }
  HINGE_APART void check_utf8(std::string_view text) const {
    if (is_utf8(text)) return;
    std::size_t at = 0;
    for (std::string_view letter = letter_at(text, 0); is_utf8(letter); letter = letter_at(text, at)) at += letter.size();
    reject("not UTF-8", text.data() + at);
  }
  // The same if there is an escape, or something that is not allowed, at `stop`.
  HINGE_APART const char* read_escaped(const char* at, const char* stop, bool ascii, const char*& text, std::size_t& size) {
    if (unescaped_ == nullptr) make_room(at);
    const char* from = at + 1;
    char* const begin = unescaped_;
    for (;; stop = find_string_stop(from, ascii)) {
      const std::string_view plain(from, static_cast<std::size_t>(stop - from));
      if (!ascii) check_utf8(plain);
      std::memcpy(unescaped_, plain.data(), plain.size());
      unescaped_ += plain.size();
      if (*stop == '"') break;
      if (*stop == '\n' || (*stop == '\\' && stop[1] == '\n')) reject_json("unterminated string starting at", at);
      if (*stop != '\\') reject_json("invalid control character at", stop);
      from = read_escape(stop + 1);
    }
    text = begin;
    size = static_cast<std::size_t>(unescaped_ - begin);
    return stop + 1;
  }
  // Without escapes text is never longer than with them: there is room for all that is left of the line.
  void make_room(const char* at) {
    const auto size = static_cast<std::size_t>(find_newline(at) - at);
    if (buffer_.size() < size) buffer_.resize(size + size / 2);
    unescaped_ = buffer_.data();
  }
  // What follows a backslash. Returns what follows that.
  const char* read_escape(const char* at) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (*at == 'u') return read_unicode(at + 1);
    const std::size_t place = letters.find(*at);
    if (place == letters.npos) reject_json("invalid \\escape", at - 1);
    *unescaped_++ = meanings[place];
    return at + 1;
  }
  const char* read_unicode(const char* at) {
    std::uint32_t letter = read_four_digits(at);
    if (letter > 0xFFFF) reject_json("invalid \\uXXXX escape", at - 1);
    at += 4;
    if (letter >= 0xD800 && letter < 0xDC00 && at[0] == '\\' && at[1] == 'u') {
      const std::uint32_t low = read_four_digits(at + 2);
      if (low > 0xFFFF) reject_json("invalid \\uXXXX escape", at + 1);
      if (low >= 0xDC00 && low < 0xE000) {
        letter = 0x10000 + ((letter - 0xD800) << 10) + (low - 0xDC00);
        at += 6;
      }
    }
    halves_ = halves_ || (letter >= 0xD800 && letter < 0xE000);
    unescaped_ = put_utf8(letter, unescaped_);
    return at;
  }

  std::vector<std::string> asked_;
  std::vector<std::uint32_t> found_;  // the place of each; 0: it is not there
  Repeated repeated_;
  const char* line_ = nullptr;
  Growing<JsonNode> nodes_;
  std::vector<Open> open_;
  JsonFields fields_;
  std::uint32_t objects_ = 0;  // that have begun
  std::vector<char> buffer_;   // strings that had escapes
  char* unescaped_ = nullptr;  // its free part; nullptr: the line has none so far
  bool halves_ = false;
};

}  // namespace hinge
