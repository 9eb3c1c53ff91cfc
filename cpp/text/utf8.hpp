// What UTF-8 is: as Python's strict decoder sees it; with `surrogates`, as its handler 'surrogatepass' does.
#pragma once

#include <string_view>

namespace hinge {

inline bool is_utf8(std::string_view text, bool surrogates = false) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = byte(i), second = byte(i + 1);
    if (first < 0x80) {
      i += 1;
    } else if (first >= 0xC2 && first <= 0xDF && follows(i + 1)) {
      i += 2;
    } else if (first >= 0xE0 && first <= 0xEF && follows(i + 1) && follows(i + 2)) {
      if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F && !surrogates)) return false;  // too long; surrogates
      i += 3;
    } else if (first >= 0xF0 && first <= 0xF4 && follows(i + 1) && follows(i + 2) && follows(i + 3)) {
      if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return false;  // too long; too large
      i += 4;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace hinge
