// Where strings and numbers of JSON end, and which number it is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../../data/instance.hpp"
#include "../text.hpp"
#include "../utf8.hpp"

namespace hinge {

// The first byte from here on that ends the plain part of a string: a quote, a backslash or a control character (which
// the newline is). `ascii` becomes false if a byte before it is not ASCII.
inline const char* find_string_stop(const char* at, bool& ascii) {
#if defined(HINGE_SSE2)
  for (;; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    const auto stops = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(marks, controls)));
    const auto high = static_cast<unsigned>(_mm_movemask_epi8(bytes));
    ascii = ascii && (high & (stops ^ (stops - 1))) == 0;
    if (stops != 0) return at + std::countr_zero(stops);
  }
#else
  constexpr std::uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
  const auto below = [](std::uint64_t word, unsigned limit) { return (word - limit * ones) & ~word & highs; };  // up to the first
  for (;; at += 8) {
    const std::uint64_t word = load_eight(at);
    const std::uint64_t stops = below(word, 0x20) | below(word ^ '"' * ones, 1) | below(word ^ '\\' * ones, 1);
    ascii = ascii && (word & highs & (stops ^ (stops - 1))) == 0;
    if (stops != 0) return at + std::countr_zero(stops) / 8;
  }
#endif
}

inline const char* find_newline(const char* at) {
  bool ascii = true;
  while (*(at = find_string_stop(at, ascii)) != '\n') ++at;
  return at;
}

// Digits, added to the mantissa (which overflows if there are many). Returns their end.
inline const char* read_digit_run(const char* at, std::uint64_t& mantissa) {
  for (;;) {
    const std::uint64_t word = load_eight(at) ^ 0x3030303030303030u;
    const std::uint64_t others = (((word & 0x7F7F7F7F7F7F7F7Fu) + 0x7676767676767676u) | word) & 0x8080808080808080u;
    const auto count = static_cast<unsigned>(std::countr_zero(others)) / 8;
    if (count == 0) return at;
    mantissa = mantissa * whole_powers_of_ten[count] + read_digits(at, count);
    at += count;
    if (count < 8) return at;
  }
}

// A number of JSON without its sign: digits [. digits] [e [+-] digits], the first of them 0 only if it is alone. What
// follows it is not looked at.
struct JsonNumber {
  const char* end;    // nullptr: it is none
  double value = 0;   // the nearest float64; infinity if it is too large
  bool whole = true;  // without a point and an exponent
};

// Most numbers have one to eight digits before the point, and no more behind it. False: this one is another one.
HINGE_INLINE bool read_short_number(const char* at, JsonNumber& number) {
#if defined(HINGE_SSE2)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m128i others = _mm_cmpgt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8(128 - '0')), _mm_set1_epi8(-128 + 9));
  const unsigned marks = static_cast<unsigned>(_mm_movemask_epi8(others)) | 1u << 16;
  const auto whole = static_cast<unsigned>(std::countr_zero(marks));
  if (whole - 1 >= 8 || (*at == '0' && whole > 1)) [[unlikely]] return false;
  number.end = at + whole;
  if (*number.end == '.') {
    const auto end = static_cast<unsigned>(std::countr_zero(marks & (marks - 1))), digits = end - whole - 1;
    if (digits - 1 >= 8 || end == 16) [[unlikely]] return false;
    const std::uint64_t both = read_digits_twice(at, whole, number.end + 1, digits);
    const std::uint64_t mantissa = static_cast<std::uint32_t>(both) * whole_powers_of_ten[digits] + (both >> 32);
    if (mantissa > std::uint64_t{1} << 53) [[unlikely]] return false;
    number.value = static_cast<double>(static_cast<std::int64_t>(mantissa)) / powers_of_ten[digits];
    number.whole = false;
    number.end = at + end;
  } else {
    number.value = static_cast<double>(static_cast<std::int64_t>(read_digits(at, whole)));
    number.whole = true;
  }
  return (*number.end | 0x20) != 'e';
#else
  return static_cast<void>(at), static_cast<void>(number), false;
#endif
}

HINGE_APART inline JsonNumber read_any_number(const char* const first) {
  JsonNumber number{first};
  const char*& end = number.end;
  std::uint64_t mantissa = 0;
  end = *first == '0' ? first + 1 : read_digit_run(first, mantissa);
  if (end == first) return {nullptr};
  std::int64_t exponent = 0;
  if (*end == '.' && is_digit(end[1])) {
    const char* const fraction = end + 1;
    end = read_digit_run(fraction, mantissa);
    exponent = fraction - end;
    number.whole = false;
  }
  const char* digits = first;  // those that count
  if (end - first > 19)
    while (*digits == '0' || *digits == '.') ++digits;
  const bool fits = end - digits <= 19;  // the mantissa is less than 10^19
  if ((*end | 0x20) == 'e') [[unlikely]] {
    const bool negative = end[1] == '-';
    const char* power = end + 1 + (negative || end[1] == '+');
    if (is_digit(*power)) {
      std::int64_t written = 0;
      for (; is_digit(*power); ++power) written = std::min<std::int64_t>(written * 10 + (*power - '0'), 1'000'000);
      exponent += negative ? -written : written;
      number.whole = false;
      end = power;
    }
  }
  // Exact in one operation (Clinger), as most are.
  constexpr std::uint64_t largest = std::uint64_t{1} << 53;
  if (fits && number.whole) number.value = static_cast<double>(mantissa);
  else if (fits && mantissa <= largest && exponent >= -22 && exponent <= 22)
    number.value = exponent < 0 ? static_cast<double>(static_cast<std::int64_t>(mantissa)) / powers_of_ten[-exponent]
                                : static_cast<double>(static_cast<std::int64_t>(mantissa)) * powers_of_ten[exponent];
  else
    read_decimal(first, end, number.value);
  return number;
}

HINGE_INLINE JsonNumber read_json_number(const char* first) {
  JsonNumber number{first};
  return read_short_number(first, number) ? number : read_any_number(first);
}

// A character in UTF-8; halves of surrogate pairs as if they were characters.
inline char* put_utf8(std::uint32_t letter, char* to) {
  const auto byte = [&](std::uint32_t value) { *to++ = static_cast<char>(static_cast<unsigned char>(value)); };
  if (letter < 0x80) {
    byte(letter);
  } else if (letter < 0x800) {
    byte(0xC0 | letter >> 6), byte(0x80 | (letter & 0x3F));
  } else if (letter < 0x10000) {
    byte(0xE0 | letter >> 12), byte(0x80 | (letter >> 6 & 0x3F)), byte(0x80 | (letter & 0x3F));
  } else {
    byte(0xF0 | letter >> 18), byte(0x80 | (letter >> 12 & 0x3F));
    byte(0x80 | (letter >> 6 & 0x3F)), byte(0x80 | (letter & 0x3F));
  }
  return to;
}

// What the four hexadecimal digits make; more than 0xFFFF: they are none.
inline std::uint32_t read_four_digits(const char* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char lower = static_cast<char>(at[i] | 0x20);
    if (is_digit(at[i])) value = value * 16 + static_cast<std::uint32_t>(at[i] - '0');
    else if (lower >= 'a' && lower <= 'f') value = value * 16 + static_cast<std::uint32_t>(lower - 'a' + 10);
    else return 0x10000;
  }
  return value;
}

// ---- for messages ----

// The character that begins there, if its first byte is right about its size.
inline std::string_view letter_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  return text.substr(at, byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4);
}
// Text on one line and in valid UTF-8: what is neither is shown as \xNN.
inline std::string printable_text(std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::string_view letter = letter_at(text, i);
    if (byte >= ' ' && byte != 0x7F && is_utf8(letter)) {
      shown += letter;
      i += letter.size();
    } else {
      if (byte == '\t') shown += "\\t";
      else shown += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
      i += 1;
    }
  }
  return shown;
}
// The first `most` bytes of it, without half of a character at the end.
inline std::string_view first_bytes(std::string_view text, std::size_t most) {
  std::size_t size = std::min(text.size(), most);
  while (size < text.size() && size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0u) == 0x80u) --size;
  return text.substr(0, size);
}
// In quotes, and shortened.
inline std::string quoted_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return '"' + printable_text(text) + '"';
  return '"' + printable_text(first_bytes(text, most - 3)) + "...\"";
}
// A value that was read already, as Python shows what json makes of it (but for numbers, which stay as they are written).
inline std::string in_python(std::string_view written) {
  constexpr std::size_t most = 200;
  std::string shown;
  for (std::size_t i = 0; i < written.size() && shown.size() < most;) {
    const std::string_view rest = written.substr(i);
    if (rest[0] == '"') {
      std::size_t end = i + 1;
      while (written[end] != '"') end += written[end] == '\\' ? 2 : 1;
      const std::string_view text = written.substr(i + 1, end - i - 1);
      const char quote = text.find('\'') == text.npos ? '\'' : '"';
      shown += quote + printable_text(text) + quote;
      i = end + 1;
      continue;
    }
    if (rest.starts_with("true") || rest.starts_with("null")) {
      shown += rest[0] == 't' ? "True" : "None";
      i += 4;
    } else if (rest.starts_with("false")) {
      shown += "False";
      i += 5;
    } else {
      if (rest[0] == ',' || rest[0] == ':') shown += {rest[0], ' '};
      else if (rest[0] > ' ') shown += rest[0];
      i += 1;
    }
  }
  return shown.size() < most ? shown : std::string(first_bytes(shown, most)) + "...";
}

}  // namespace hinge
