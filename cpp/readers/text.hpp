// What the readers of text share: a line being read, numbers, and what is wrong with it and where.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <utility>

namespace hinge {

// A line that cannot be read: `column` counts bytes, from 1.
class BadLine : public std::exception {
 public:
  BadLine(std::size_t column_, std::string why) : column(column_), why_(std::move(why)) {}
  const char* what() const noexcept override { return why_.c_str(); }
  std::size_t column;
  std::size_t line = 0;  // whoever counts lines fills it in

 private:
  std::string why_;
};

// A place in a line. The line ends with a newline, which is the only one in it, so that nothing need ask for the end.
class Cursor {
 public:
  explicit Cursor(const char* line) : line_(line), at_(line) {}

  char operator*() const { return *at_; }
  const char* at() const { return at_; }
  void move_to(const char* at) { at_ = at; }
  void next() { ++at_; }
  bool ended() const { return *at_ == '\n'; }
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skip_spaces() {
    while (is_space(*at_)) ++at_;
  }
  // The word that begins here: it ends with a space, a newline, or what parts labels, indices and values.
  const char* end_of_word() const {
    const char* end = at_;
    while (*end != '\n' && !is_space(*end) && *end != ':' && *end != ',' && *end != '|') ++end;
    return end;
  }
  // The same in quotes, to be shown: bytes that are no ASCII as \xNN, and not too many.
  std::string word() const {
    static constexpr char hex[] = "0123456789abcdef";
    constexpr std::ptrdiff_t most = 40;
    std::string shown = "\"";
    const char* end = end_of_word();
    for (const char* at = at_; at < std::min(end, at_ + most); ++at) {
      const auto byte = static_cast<unsigned char>(*at);
      if (byte >= ' ' && byte < 127)
        shown += *at;
      else
        shown += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    }
    return shown + (end - at_ > most ? "...\"" : "\"");
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw BadLine(static_cast<std::size_t>(at_ - line_) + 1, why);
  }

 private:
  const char* line_;
  const char* at_;
};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Eight digits at once, if the next eight characters are digits.
inline bool read_eight(const char* at, std::uint64_t& number) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  if constexpr (std::endian::native != std::endian::little) return false;
  if (((word & 0xF0F0F0F0F0F0F0F0u) | (((word + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) >> 4)) !=
      0x3333333333333333u)
    return false;
  word = (word & 0x0F0F0F0F0F0F0F0Fu) * 2561 >> 8;
  word = (word & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
  number = (word & 0x0000FFFF0000FFFFu) * 42949672960001u >> 32;
  return true;
}

// An index and the colon after it. Indices count from `first`, and there are at most `count`. Returns its place.
inline std::size_t read_index(Cursor& cursor, std::size_t first, std::size_t count) {
  const char* at = cursor.at();
  std::size_t number = 0;
  for (; is_digit(*at); ++at) {
    number = number * 10 + static_cast<std::size_t>(*at - '0');
    if (number >= first + count) [[unlikely]] {
      if (!std::all_of(at, cursor.end_of_word(), is_digit)) break;
      cursor.refuse("index " + cursor.word() + " is over the limit of " + std::to_string(count) + " features");
    }
  }
  if (*at != ':' || at == cursor.at() || number < first) [[unlikely]] {
    if (at != cursor.end_of_word() || at == cursor.at()) cursor.refuse(cursor.word() + " is not an index");
    if (number < first) cursor.refuse("index " + cursor.word() + ": indices count from " + std::to_string(first));
    cursor.move_to(at);
    cursor.refuse("\":\" and a value were expected after the index");
  }
  cursor.move_to(at + 1);
  return number - first;
}

// A finite decimal number, rounded correctly. Up to 19 digits with a small exponent are exact in one operation (Clinger):
// nearly all are. The line must have eight readable bytes after its newline.
inline double read_number(Cursor& cursor) {
  static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char* at = cursor.at();
  const bool negative = *at == '-';
  if (negative || *at == '+') ++at;
  const char* first = at;
  std::uint64_t mantissa = 0, eight = 0;
  int exponent = 0;
  for (; is_digit(*at); ++at) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
  std::ptrdiff_t digits = at - first;
  if (*at == '.') {
    const char* point = ++at;
    while (read_eight(at, eight)) mantissa = mantissa * 100000000 + eight, at += 8;
    for (; is_digit(*at); ++at) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
    exponent = static_cast<int>(point - at);
    digits += at - point;
  }
  // What follows is not looked at here: whoever reads on does.
  const bool simple = digits > 0 && digits <= 19 && mantissa <= (std::uint64_t{1} << 53) && exponent >= -22 &&
                      *at != 'e' && *at != 'E';
  if (simple) [[likely]] {
    cursor.move_to(at);
    const double value = static_cast<double>(mantissa) / powers[-exponent];
    return negative ? -value : value;
  }
  const char* end = cursor.end_of_word();
  double value = 0;
  const bool plain = first < end && (is_digit(*first) || *first == '.');  // not "inf" or "nan", which it would read
  const auto [stopped, error] = std::from_chars(first, end, value);
  if (!plain || stopped != end || (error != std::errc() && error != std::errc::result_out_of_range))
    cursor.refuse(cursor.word() + " is not a number");
  if (error != std::errc()) value = std::strtod(std::string(first, end).c_str(), nullptr);  // 0, or infinity
  if (!std::isfinite(value)) cursor.refuse(cursor.word() + " is too large for float64");
  cursor.move_to(end);
  return negative ? -value : value;
}

}  // namespace hinge
