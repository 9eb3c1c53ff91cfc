// Short byte strings are compared and copied without a function call.
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

// The last word overlaps the previous one.
template <class Word>
inline void copy_words(char* to, const char* from, std::size_t size) {
  Word word = 0;
  for (std::size_t i = 0; i + sizeof(Word) < size; i += sizeof(Word))
    std::memcpy(&word, from + i, sizeof(Word)), std::memcpy(to + i, &word, sizeof(Word));
  std::memcpy(&word, from + size - sizeof(Word), sizeof(Word));
  std::memcpy(to + size - sizeof(Word), &word, sizeof(Word));
}

inline void copy_bytes(char* to, const char* from, std::size_t size) {
  if (size > 32) std::memcpy(to, from, size);
  else if (size >= 8) copy_words<std::uint64_t>(to, from, size);
  else if (size >= 4) copy_words<std::uint32_t>(to, from, size);
  else
    for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
}

}  // namespace hinge
