// What the readers of text share: a cursor in a line, numbers, and errors with their place.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "../data/errors.hpp"

#if !defined(_WIN32)
#include <locale.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

#if defined(__SSE2__) && defined(__x86_64__) && !defined(HINGE_PORTABLE)
#define HINGE_SSE2
#include <emmintrin.h>
#endif

namespace hinge {

// A place in a line. The line ends with a newline, which is the only one in it, so that no function needs to check for the end.
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
  // The end of the word that begins here: it ends with a space, a newline, or what separates labels, indices and values.
  const char* end_of_word() const {
    const char* end = at_;
    while (*end != '\n' && !is_space(*end) && *end != ':' && *end != ',' && *end != '|') ++end;
    return end;
  }
  // The same in quotes.
  std::string word() const { return quoted(end_of_word()); }
  // All up to the next space, in quotes.
  std::string rest() const {
    const char* end = at_;
    while (*end != '\n' && !is_space(*end)) ++end;
    return quoted(end);
  }
  [[noreturn]] void reject(const std::string& why) const {
    throw InputError(why, none, static_cast<std::size_t>(at_ - line_) + 1);
  }

 private:
  // For messages: at most 40 bytes, those that are not ASCII as \xNN.
  std::string quoted(const char* end) const {
    static constexpr char hex[] = "0123456789abcdef";
    constexpr std::ptrdiff_t most = 40;
    std::string shown = "\"";
    for (const char* at = at_; at < at_ + std::min(end - at_, most); ++at) {
      const auto byte = static_cast<unsigned char>(*at);
      if (byte >= ' ' && byte < 127)
        shown += *at;
      else
        shown += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    }
    return shown + (end - at_ > most ? "...\"" : "\"");
  }

  const char* line_;
  const char* at_;
};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Eight bytes, the first of them lowest, on any machine.
inline std::uint64_t load_eight(const char* at) {
  std::uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, at, 8);
  } else {
    for (int i = 8; i-- > 0;) word = word << 8 | static_cast<unsigned char>(at[i]);
  }
  return word;
}

// What follows reads text without looking at each byte: it may look this many bytes beyond a newline.
inline constexpr std::size_t padding = 128;

// One bit for each of the next 64 bytes, set if it is not a digit.
inline std::uint64_t find_nondigits(const char* at) {
#if defined(HINGE_SSE2)
  const auto mark = [](const char* from) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    // The digits become the ten smallest of the signed bytes.
    const __m128i others = _mm_cmpgt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8(128 - '0')), _mm_set1_epi8(-128 + 9));
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(others)));
  };
  return mark(at) | mark(at + 16) << 16 | mark(at + 32) << 32 | mark(at + 48) << 48;
#else
  std::uint64_t marks = 0;
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t word = load_eight(at + 8 * i) ^ 0x3030303030303030u;
    const std::uint64_t high = (((word & 0x7F7F7F7F7F7F7F7Fu) + 0x7676767676767676u) | word) & 0x8080808080808080u;
    marks |= (high * 0x0002040810204081u >> 56) << (8 * i);  // gathers the eight high bits
  }
  return marks;
#endif
}

// The number that the next 1 to 8 characters make, all of them digits: pairs, fours and eights by multiplication.
inline std::uint64_t read_digits(const char* at, unsigned count) {
  std::uint64_t word = (load_eight(at) ^ 0x3030303030303030u) << (64 - 8 * count);  // zeros before them
  word = word * 10 + (word >> 8);
  const std::uint64_t low = (word & 0x000000FF000000FFu) * 0x000F424000000064u;         // 100 + (1000000 << 32)
  const std::uint64_t high = (word >> 16 & 0x000000FF000000FFu) * 0x0000271000000001u;  // 1 + (10000 << 32)
  return (low + high) >> 32;
}

// Two numbers at once: the first in the low half, the second in the high half.
inline std::uint64_t read_digits_twice(const char* at, unsigned count, const char* other, unsigned other_count) {
#if defined(HINGE_SSE2)
  const auto word = [](const char* from, unsigned digits) {
    return _mm_cvtsi64_si128(static_cast<long long>(load_eight(from) << (64 - 8 * digits)));
  };
  const __m128i text = _mm_unpacklo_epi64(word(at, count), word(other, other_count));
  const __m128i digits = _mm_subs_epu8(text, _mm_set1_epi8('0'));
  const __m128i tens = _mm_mullo_epi16(_mm_and_si128(digits, _mm_set1_epi16(0xFF)), _mm_set1_epi16(10));
  const __m128i pairs = _mm_add_epi16(tens, _mm_srli_epi16(digits, 8));
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(100 | 1 << 16));
  const __m128i eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(10000 | 1 << 16));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
#else
  return read_digits(at, count) | read_digits(other, other_count) << 32;
#endif
}

inline constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::uint64_t whole_powers_of_ten[] = {1,      10,      100,      1000,     10000,
                                                        100000, 1000000, 10000000, 100000000};

// An index and the colon after it. Indices count from `first`, and there are at most `count`. Returns its place.
inline std::size_t read_index(Cursor& cursor, std::size_t first, std::size_t count) {
  const char* at = cursor.at();
  std::size_t number = 0;
  for (; is_digit(*at); ++at) {
    number = number * 10 + static_cast<std::size_t>(*at - '0');
    if (number >= first + count) [[unlikely]] {
      if (!std::all_of(at, cursor.end_of_word(), is_digit)) break;
      cursor.reject("index " + cursor.word() + " is over the limit of " + std::to_string(count) + " features");
    }
  }
  if (*at != ':' || at == cursor.at() || number < first) [[unlikely]] {
    if (at != cursor.end_of_word() || at == cursor.at()) cursor.reject(cursor.word() + " is not an index");
    if (number < first) cursor.reject("index " + cursor.word() + ": indices count from " + std::to_string(first));
    cursor.move_to(at);
    cursor.reject("\":\" and a value were expected after the index");
  }
  cursor.move_to(at + 1);
  return number - first;
}

// What may follow a number: spaces, a newline, '#', ',' and '|'. (Some of these may not: the next read finds out.)
inline bool ends_number(char c) { return static_cast<unsigned char>(c) < '-' || c == '|'; }

// A decimal number without sign and exponent, of so few digits that it is exact in one operation (Clinger). `at` is
// moved behind it, or stays where it is: then the number is not so simple. `marks` are the non-digits from there; they
// need not reach far.
inline double read_simple(const char*& at, std::uint64_t marks) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 53;
  const auto whole = static_cast<unsigned>(std::countr_zero(marks));
  if (whole - 1 >= 8) return 0;  // none, or more than eight
  const std::uint64_t number = read_digits(at, whole);
  const char* fraction = at + whole + 1;
  if (fraction[-1] != '.') {
    if (ends_number(fraction[-1])) at = fraction - 1;
    return static_cast<double>(static_cast<std::int64_t>(number));
  }
  const auto digits = static_cast<unsigned>(std::countr_zero(marks & (marks - 1))) - whole - 1;
  std::uint64_t mantissa = 0;
  if (digits - 1 < 8) [[likely]] {
    mantissa = number * whole_powers_of_ten[digits] + read_digits(fraction, digits);
  } else {
    if (digits - 9 >= 8 || number >= 100) return 0;
    mantissa = number * 100000000 + read_digits(fraction, 8);
    mantissa = mantissa * whole_powers_of_ten[digits - 8] + read_digits(fraction + 8, digits - 8);
  }
  if (mantissa <= largest && ends_number(fraction[digits])) at = fraction + digits;
  return static_cast<double>(static_cast<std::int64_t>(mantissa)) / powers_of_ten[digits];
}

// As strtod reads a number, with a point whatever the locale of the process: 0 or infinity where it is out of range.
inline double read_with_point(const std::string& text, std::size_t& length) {
  char* stopped = nullptr;
#if defined(_WIN32)
  const double value = std::strtod(text.c_str(), &stopped);
#else
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  const double value = strtod_l(text.c_str(), &stopped, plain);
#endif
  length = static_cast<std::size_t>(stopped - text.c_str());
  return value;
}

// The number nearest to the decimal from `first` to `end`. Returns where it stopped reading. (libc++ has no from_chars for
// doubles before version 20.)
inline const char* read_decimal(const char* first, const char* end, double& value) {
#if defined(__cpp_lib_to_chars)
  const auto [stopped, error] = std::from_chars(first, end, value);
  if (error == std::errc()) return stopped;
  if (error != std::errc::result_out_of_range) return first;
#endif
  std::size_t length = 0;
  value = read_with_point(std::string(first, end), length);
  return first + length;
}

// A finite decimal number, rounded correctly. What follows it is checked by the next read.
inline double read_number(Cursor& cursor) {
  const char* first = cursor.at();
  const bool negative = *first == '-';
  if (negative || *first == '+') ++first;
  const char* at = first;
  double value = read_simple(at, find_nondigits(at));
  if (at == first) [[unlikely]] {
    const char* end = first;
    while (is_digit(*end) || *end == '.' || *end == '+' || *end == '-' || (*end | 0x20) == 'e') ++end;
    const bool plain = first < end && (is_digit(*first) || *first == '.');  // not "inf" or "nan", which it would read
    if (!plain || read_decimal(first, end, value) != end) cursor.reject(cursor.word() + " is not a number");
    if (!std::isfinite(value)) cursor.reject(cursor.word() + " is too large for float64");
    at = end;
  }
  cursor.move_to(at);
  return negative ? -value : value;
}

}  // namespace hinge
