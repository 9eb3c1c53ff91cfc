// One line of JSON to values: without recursion and, once there is enough memory, without new memory.
//
// What is JSON is what Python's json module takes for it: UTF-8, no control characters in strings, nothing behind the
// value. In addition the line must be an object, NaN and Infinity are rejected, and so are halves of surrogate pairs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fields.hpp"
#include "tokens.hpp"

namespace hinge {

enum class JsonKind : std::uint8_t { null, no, yes, integer, real, string, list, object };

// A value. Those of a line are in one array, and what a container has in it follows it.
struct JsonNode {
  std::string_view key;                         // the name of a field; items of lists have none
  const char* key_begin = nullptr;              // the quote before it
  const char *begin = nullptr, *end = nullptr;  // the value as it is written
  std::string_view text;                        // of a string, without escapes
  double number = 0;                            // the nearest float64, also to an integer; infinity if it is too large
  std::uint32_t size = 0;                       // how many values are in it
  std::uint32_t instead = 0;  // the place of the last field with the same name, whose value counts; 0: there is none
  JsonKind kind = JsonKind::null;
  bool repeats = false;  // there is an earlier field with the same name
  bool special = false;  // the name has a character that hinge.Features escapes
  bool dotted = false;   // the name has a point or a bracket
  std::uint8_t asked = 0;  // see `JsonLine`: the place of its name, from 1; 0: it is another one

  bool is_number() const { return kind == JsonKind::integer || kind == JsonKind::real; }
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
    skip_spaces();
    while (read_value() || end_values())
      if (open_.back().is_object) read_key();
    skip_spaces();
    if (*at_ != '\n') reject_json("extra data");
    check();
    return at_;
  }

  // The first one is the object itself.
  const std::vector<JsonNode>& nodes() const { return nodes_; }
  // The field with the name asked[index], or nullptr.
  const JsonNode* field(std::size_t index) const { return found_[index] == 0 ? nullptr : &nodes_[found_[index]]; }
  // Calls function(field, value) for each field of an object. They differ if the name occurs again.
  template <class Function>
  void for_fields(const JsonNode& object, const Function& function) const {
    const JsonNode* const end = &object + 1 + object.size;
    for (const JsonNode* node = &object + 1; node < end; node += 1 + node->size)
      if (!node->repeats) [[likely]] function(*node, node->instead == 0 ? *node : nodes_[node->instead]);
  }
  std::size_t column_of(const char* at) const { return static_cast<std::size_t>(at - line_) + 1; }

 private:
  struct Open {
    std::uint32_t node, object;
    bool is_object;
  };

  void begin(const char* line) {
    line_ = at_ = line;
    nodes_.clear();
    open_.clear();
    fields_.begin_line();
    std::fill(found_.begin(), found_.end(), 0u);
    field_ = JsonField();
    key_begin_ = nullptr;
    objects_ = 0;
    unescaped_ = nullptr;
    halves_ = false;
  }
  // What is known only at the end of the line.
  void check() {
    const auto& repeats = fields_.end_line();
    if (nodes_[0].kind != JsonKind::object) reject_kind();
    if (!repeats.empty()) [[unlikely]] {
      if (repeated_ == Repeated::rejected) reject_repeated(repeats);
      for (const auto& [first, again] : repeats) {
        nodes_[first].instead = again;
        nodes_[again].repeats = true;
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
  [[noreturn]] void reject_json(const std::string& what) const { reject_json(what, at_); }
  [[noreturn]] void reject_kind() const {
    bool of_objects = false;
    for (std::size_t i = 1; nodes_[0].kind == JsonKind::list && i < nodes_.size(); i += 1 + nodes_[i].size)
      of_objects = of_objects || nodes_[i].kind == JsonKind::object;
    const std::string_view written = nodes_[0].written();
    throw InputError("an object, {...}, was expected, there is " +
                     (written.size() > 40 ? quoted_text(written, 40) : printable_text(written)) +
                     (of_objects ? " (jq -c '.[]' makes lines of an array of objects)" : ""));
  }
  [[noreturn]] void reject_repeated(const std::vector<JsonFields::Repeat>& repeats) const {
    const std::uint32_t first = repeats.front().first;
    std::uint32_t last = first;
    for (const auto& repeat : repeats)
      if (repeat.first == first) last = repeat.again;
    reject("the field " + quoted_text(nodes_[first].key, 40) + " occurs " + std::to_string(fields_.count_of(first)) + " times",
           nodes_[last].key_begin);
  }

  // ---- values ----

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  HINGE_INLINE void skip_spaces() {
    if (*at_ == ' ') ++at_;
    while (is_space(*at_)) [[unlikely]] ++at_;
  }

  // The value that begins here. True: it is a container with something in it, which comes next.
  bool read_value() {
    if (nodes_.size() == std::numeric_limits<std::uint32_t>::max()) throw InputError("there are too many values");
    JsonNode& node = nodes_.emplace_back();
    node.key = field_.name;
    node.key_begin = key_begin_;
    node.special = field_.special;
    node.dotted = field_.dotted;
    node.asked = field_.asked;
    node.begin = at_;
    switch (*at_) {
      case '"': node.kind = JsonKind::string, node.text = read_string(); break;
      case '{': node.kind = JsonKind::object; return begin_container('}');
      case '[': node.kind = JsonKind::list; return begin_container(']');
      case 't': node.kind = JsonKind::yes, read_word("true"); break;
      case 'f': node.kind = JsonKind::no, read_word("false"); break;
      case 'n': node.kind = JsonKind::null, read_word("null"); break;
      default: read_number(node);
    }
    node.end = at_;
    return false;
  }
  bool begin_container(char closing) {
    const bool is_object = closing == '}';
    const std::uint32_t object = objects_;
    objects_ += is_object;
    ++at_;
    skip_spaces();
    if (*at_ == closing) {
      nodes_.back().end = ++at_;
      return false;
    }
    if (open_.size() == max_depth) throw InputError("objects and lists are nested too deep");
    open_.push_back({static_cast<std::uint32_t>(nodes_.size() - 1), object, is_object});
    field_ = JsonField();
    key_begin_ = nullptr;
    return true;
  }
  // A value has ended, and perhaps containers with it. False: all of them; true: another value comes.
  bool end_values() {
    while (!open_.empty()) {
      skip_spaces();
      if (*at_ == ',') [[likely]] {
        ++at_;
        skip_spaces();
        return true;
      }
      const Open last = open_.back();
      if (*at_ != (last.is_object ? '}' : ']')) reject_json("expecting ',' delimiter");
      open_.pop_back();
      nodes_[last.node].size = static_cast<std::uint32_t>(nodes_.size()) - last.node - 1;
      nodes_[last.node].end = ++at_;
    }
    return false;
  }
  void read_word(std::string_view word) {
    if (std::strncmp(at_, word.data(), word.size()) != 0) reject_json("expecting value");
    at_ += word.size();
  }
  HINGE_INLINE void read_number(JsonNode& node) {
    const char* const digits = at_ + (*at_ == '-');
    const JsonNumber number = read_json_number(digits);
    if (number.end == nullptr) [[unlikely]] reject_word();
    if (number.whole && number.end - digits > most_digits) [[unlikely]]
      throw InputError("there is a number with thousands of digits");
    node.kind = number.whole ? JsonKind::integer : JsonKind::real;
    node.number = digits == at_ ? number.value : -number.value;
    at_ = number.end;
  }
  [[noreturn]] void reject_word() const {
    for (const std::string word : {"NaN", "Infinity", "-Infinity"})
      if (std::strncmp(at_, word.c_str(), word.size()) == 0)
        reject(word + " is not a finite number: null is for what is missing", at_);
    reject_json("expecting value");
  }
  static constexpr std::ptrdiff_t most_digits = 4300;  // of whole numbers, as in Python

  // ---- names of fields ----

  void read_key() {
    if (*at_ != '"') reject_json("expecting property name enclosed in double quotes");
    key_begin_ = at_;
    field_.object = open_.back().object;
    field_.node = static_cast<std::uint32_t>(nodes_.size());
    const bool expected = fields_.find_expected(at_ + 1, field_);
    if (expected) [[likely]] at_ += field_.name.size() + 2;
    else read_other_key();
    fields_.add(field_, expected);
    if (field_.asked > 0) found_[field_.asked - 1u] = field_.node;
    skip_spaces();
    if (*at_ != ':') reject_json("expecting ':' delimiter");
    ++at_;
    skip_spaces();
  }
  HINGE_APART void read_other_key() {
    field_.name = read_string();
    field_.as_written = field_.name.data() == key_begin_ + 1;
    field_.special = field_.name.find_first_of("\\=*+") != std::string_view::npos;
    field_.dotted = field_.name.find_first_of(".[") != std::string_view::npos;
    field_.asked = 0;
    if (field_.object != 0) return;
    const auto found = std::find(asked_.begin(), asked_.end(), field_.name);
    if (found != asked_.end()) field_.asked = static_cast<std::uint8_t>(found - asked_.begin() + 1);
  }

  // ---- strings ----

  HINGE_INLINE std::string_view read_string() {
    const char* const from = at_ + 1;
    bool ascii = true;
    const char* const stop = find_string_stop(from, ascii);
    if (*stop != '"') [[unlikely]] return read_escaped(stop, ascii);
    const std::string_view text(from, static_cast<std::size_t>(stop - from));
    if (!ascii) [[unlikely]] check_utf8(text);
    at_ = stop + 1;
    return text;
  }
  HINGE_APART void check_utf8(std::string_view text) const {
    if (is_utf8(text)) return;
    std::size_t at = 0;
    for (std::string_view letter = letter_at(text, 0); is_utf8(letter); letter = letter_at(text, at)) at += letter.size();
    reject("not UTF-8", text.data() + at);
  }
  // The string that begins here has an escape, or something that is not allowed, at `stop`.
  HINGE_APART std::string_view read_escaped(const char* stop, bool ascii) {
    if (unescaped_ == nullptr) make_room();
    const char* from = at_ + 1;
    char* const begin = unescaped_;
    for (;; stop = find_string_stop(from, ascii)) {
      const std::string_view plain(from, static_cast<std::size_t>(stop - from));
      if (!ascii) check_utf8(plain);
      std::memcpy(unescaped_, plain.data(), plain.size());
      unescaped_ += plain.size();
      if (*stop == '"') break;
      if (*stop == '\n') reject_json("unterminated string starting at");
      if (*stop != '\\') reject_json("invalid control character at", stop);
      from = read_escape(stop + 1);
    }
    at_ = stop + 1;
    return {begin, static_cast<std::size_t>(unescaped_ - begin)};
  }
  // Without escapes text is never longer than with them: there is room for all that is left of the line.
  void make_room() {
    const auto size = static_cast<std::size_t>(find_newline(at_) - at_);
    if (buffer_.size() < size) buffer_.resize(size + size / 2);
    unescaped_ = buffer_.data();
  }
  // What follows a backslash. Returns what follows that.
  const char* read_escape(const char* at) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (*at == 'u') return read_unicode(at + 1);
    if (*at == '\n') reject_json("unterminated string starting at");
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
  const char *line_ = nullptr, *at_ = nullptr;
  std::vector<JsonNode> nodes_;
  std::vector<Open> open_;
  JsonFields fields_;
  JsonField field_;  // whose value comes next
  const char* key_begin_ = nullptr;
  std::uint32_t objects_ = 0;  // that have begun
  std::vector<char> buffer_;   // strings that had escapes
  char* unescaped_ = nullptr;  // its free part; nullptr: the line has none so far
  bool halves_ = false;
};

}  // namespace hinge
