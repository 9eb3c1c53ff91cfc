// The subset of JSON for model files. Strings are UTF-8. Lone surrogates, which Python strings may contain, are written
// as \udXXX and held as the three bytes that UTF-8 would use for them.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "../data/instance.hpp"
#include "../text/text.hpp"

namespace hinge {

struct Json {
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value = nullptr;

  template <class Kind>
  const Kind* as() const { return std::get_if<Kind>(&value); }
  const Json* find(std::string_view name) const {
    if (const auto* object = as<Object>())
      for (const auto& [key, its] : *object)
        if (key == name) return &its;
    return nullptr;
  }
};

inline void append_utf8(std::string& to, std::uint32_t code) {
  const auto last = [&](int shift) { to += static_cast<char>(0x80u | (code >> shift & 0x3Fu)); };
  if (code < 0x80) return void(to += static_cast<char>(code));
  if (code < 0x800) return to += static_cast<char>(0xC0u | code >> 6), last(0);
  if (code < 0x10000) return to += static_cast<char>(0xE0u | code >> 12), last(6), last(0);
  to += static_cast<char>(0xF0u | code >> 18), last(12), last(6), last(0);
}

// ---- writing ----

inline void append_json(std::string& to, std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  const auto escape = [&](unsigned code) {
    to += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) to += hex[code >> shift & 15u];
  };
  to += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool surrogate = byte == 0xED && i + 2 < text.size() && static_cast<unsigned char>(text[i + 1]) >= 0xA0;
    if (surrogate) {
      escape(0xD000u | (static_cast<unsigned char>(text[i + 1]) & 0x3Fu) << 6 | (static_cast<unsigned char>(text[i + 2]) & 0x3Fu));
      i += 2;
    } else if (byte < 0x20) {
      escape(byte);
    } else {
      if (byte == '"' || byte == '\\') to += '\\';
      to += text[i];
    }
  }
  to += '"';
}
inline void append_json(std::string& to, const std::string& text) { append_json(to, std::string_view(text)); }
inline void append_json(std::string& to, bool value) { to += value ? "true" : "false"; }
inline void append_json(std::string& to, std::int64_t value) { to += std::to_string(value); }
inline void append_json(std::string& to, std::size_t value) { to += std::to_string(value); }
inline void append_json(std::string& to, unsigned value) { to += std::to_string(value); }
// The shortest decimal that round-trips. Infinity is written as in Python.
inline void append_json(std::string& to, double value) {
  if (!std::isfinite(value)) return void(to += std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  to += text;
}
template <class Value>
void append_json(std::string& to, const std::vector<Value>& values) {
  to += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) to += ',';
    append_json(to, values[i]);
  }
  to += ']';
}

// ---- reading ----

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  // Parses the whole text as one value.
  Json read() {
    Json json = value(0);
    skip_spaces();
    if (at_ != text_.size()) fail();
    return json;
  }

 private:
  static constexpr int max_depth = 100;

  [[noreturn]] void fail() const { throw InputError("invalid JSON at byte " + std::to_string(at_)); }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void expect(char c) {
    if (peek() != c) fail();
    ++at_;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json value(int depth) {
    if (depth > max_depth) fail();
    skip_spaces();
    if (peek() == '{') return {object(depth)};
    if (peek() == '[') return {array(depth)};
    if (peek() == '"') return {string()};
    if (take("null")) return {nullptr};
    if (take("true")) return {true};
    if (take("false")) return {false};
    if (take("Infinity")) return {HUGE_VAL};
    if (take("-Infinity")) return {-HUGE_VAL};
    return number();
  }
  Json::Array array(int depth) {
    Json::Array all;
    expect('[');
    skip_spaces();
    if (peek() == ']') return ++at_, all;
    for (;;) {
      all.push_back(value(depth + 1));
      skip_spaces();
      if (peek() == ']') return ++at_, all;
      expect(',');
    }
  }
  Json::Object object(int depth) {
    Json::Object all;
    expect('{');
    skip_spaces();
    if (peek() == '}') return ++at_, all;
    for (;;) {
      skip_spaces();
      std::string name = string();
      skip_spaces();
      expect(':');
      all.emplace_back(std::move(name), value(depth + 1));
      skip_spaces();
      if (peek() == '}') return ++at_, all;
      expect(',');
    }
  }
  Json number() {
    const std::size_t from = at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || std::string_view("+-.eE").find(text_[at_]) != std::string_view::npos)) ++at_;
    const char *first = text_.data() + from, *end = text_.data() + at_;
    const char* digits = first < end && *first == '-' ? first + 1 : first;
    if (digits == end || !is_digit(*digits) || (*digits == '0' && digits + 1 < end && is_digit(digits[1]))) fail();
    std::int64_t whole = 0;
    if (const auto [stopped, error] = std::from_chars(first, end, whole); stopped == end && error == std::errc()) return {whole};
    double value = 0;
    if (read_decimal(first, end, value) != end) fail();
    return {value};
  }
  std::uint32_t four_digits() {
    std::uint32_t code = 0;
    const char* end = text_.data() + std::min(at_ + 4, text_.size());
    if (end - (text_.data() + at_) != 4) fail();
    if (const auto [stopped, error] = std::from_chars(text_.data() + at_, end, code, 16); stopped != end || error != std::errc()) fail();
    at_ += 4;
    return code;
  }
  std::string string() {
    std::string text;
    expect('"');
    for (;;) {
      const char c = peek();
      if (at_ >= text_.size() || static_cast<unsigned char>(c) < 0x20) fail();
      ++at_;
      if (c == '"') return text;
      c == '\\' ? escaped(text) : void(text += c);
    }
  }
  void escaped(std::string& text) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const char c = peek();
    ++at_;
    if (const std::size_t place = letters.find(c); place != std::string_view::npos && c != '\0') return void(text += meanings[place]);
    if (c != 'u') fail();
    std::uint32_t code = four_digits();
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      const std::size_t here = at_;
      at_ += 2;
      const std::uint32_t low = four_digits();
      if (low >= 0xDC00 && low < 0xE000) code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      else at_ = here;
    }
    append_utf8(text, code);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace hinge
