// MurmurHash3, 32 bits, x86 variant (Austin Appleby, public domain): the hash of scikit-learn's FeatureHasher, so names
// map to the same columns with the same signs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hinge {

inline std::uint32_t murmur3(const char* key, std::size_t length, std::uint32_t seed = 0) {
  const auto byte = [key](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(key[i]));
  };
  const auto rotate = [](std::uint32_t x, int by) { return (x << by) | (x >> (32 - by)); };
  const auto scramble = [&](std::uint32_t k) { return rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u; };

  std::uint32_t hash = seed;
  const std::size_t whole = length & ~std::size_t{3};
  for (std::size_t i = 0; i < whole; i += 4) {
    hash ^= scramble(byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24);
    hash = rotate(hash, 13) * 5 + 0xe6546b64u;
  }
  std::uint32_t rest = 0;
  for (std::size_t i = length; i-- > whole;) rest = rest << 8 | byte(i);
  hash ^= scramble(rest);
  hash ^= static_cast<std::uint32_t>(length);
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

// The column of a name among `columns` columns, and its sign.
struct Hashed {
  std::size_t column;
  double sign;
};
inline Hashed hashed(std::uint32_t murmur, std::size_t columns) {
  const auto hash = static_cast<std::int32_t>(murmur);
  const std::uint32_t size = hash < 0 ? 0u - static_cast<std::uint32_t>(hash) : static_cast<std::uint32_t>(hash);
  return {size % columns, hash >= 0 ? 1.0 : -1.0};
}
inline Hashed hashed(const char* name, std::size_t length, std::size_t columns) {
  return hashed(murmur3(name, length), columns);
}

}  // namespace hinge
