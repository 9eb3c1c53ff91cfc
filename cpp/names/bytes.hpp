// Comparison of short byte strings without a function call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hinge {

// The last word overlaps the previous one.
template <class Word>
inline bool same_words(const char* a, const char* b, std::size_t size) {
  Word x = 0, y = 0, differ = 0;
  for (std::size_t i = 0; i + sizeof(Word) < size; i += sizeof(Word)) {
    std::memcpy(&x, a + i, sizeof(Word)), std::memcpy(&y, b + i, sizeof(Word));
    differ |= x ^ y;
  }
  std::memcpy(&x, a + size - sizeof(Word), sizeof(Word)), std::memcpy(&y, b + size - sizeof(Word), sizeof(Word));
  return (differ | (x ^ y)) == 0;
}

inline bool same_bytes(const char* a, const char* b, std::size_t size) {
  if (size >= 8) return same_words<std::uint64_t>(a, b, size);
  if (size >= 4) return same_words<std::uint32_t>(a, b, size);
  for (std::size_t i = 0; i < size; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

}  // namespace hinge
