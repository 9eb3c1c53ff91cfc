// Exponentials and logarithms of many numbers, four at a time, with the bits of one at a time (exponential.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "exponential.hpp"
#include "lane_sums.hpp"

namespace hinge {

#if defined(__GNUC__) || defined(__clang__)
using QuadBits = std::int64_t __attribute__((vector_size(32)));

// For numbers from -708 to 709.
HINGE_INLINE void four_exponentials(double* of) {
  constexpr double log2_e = 0x1.71547652b82fep0, ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  constexpr double shift = 0x1.8p52;
  constexpr double factors[] = {479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6};
  Quad x{};
  load_lanes(of, x);
  const Quad shifted = x * log2_e + shift, n = shifted - shift;
  const Quad r = (x - n * ln2_high) - n * ln2_low;
  Quad p = r * (1.0 / 6227020800);
  for (const double factor : factors) p = (p + 1.0 / factor) * r;
  p = p + 0.5;
  p = 1 + (r + r * r * p);
  QuadBits exponent;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  exponent = (exponent + 1023) << 52;
  Quad power;
  std::memcpy(&power, &exponent, sizeof power);
  p = p * power;
  std::memcpy(of, &p, sizeof p);
}

// For normal numbers above 0.
HINGE_INLINE void four_logarithms(double* of) {
  constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45, root_half = 0x1.6a09e667f3bcdp-1;
  constexpr std::int64_t mantissa = (std::int64_t{1} << 52) - 1, half = std::int64_t{1022} << 52;
  constexpr std::int64_t shift = std::int64_t{0x433} << 52;  // the bits of 2^52
  QuadBits bits;
  std::memcpy(&bits, of, sizeof bits);
  const QuadBits half_to_1 = (bits & mantissa) | half, biased = (bits >> 52) | shift;
  Quad m, n;
  std::memcpy(&m, &half_to_1, sizeof m);
  std::memcpy(&n, &biased, sizeof n);
  n = n - (0x1p52 + 1022);
  const auto small = m < root_half;
  n = small ? n - 1 : n;
  m = small ? m * 2 : m;
  const Quad s = (m - 1) / (m + 1), z = s * s;
  constexpr double odd[] = {23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3};
  Quad p = z * 0 + 1.0 / 25;
  for (const double k : odd) p = p * z + 1.0 / k;
  const Quad result = n * ln2_high + (2 * s + (2 * s * z * p + n * ln2_low));
  std::memcpy(of, &result, sizeof result);
}
#endif

// Replaces each of `count` numbers by its exponential.
inline void exponentials(double* of, std::size_t count) {
  std::size_t i = 0;
#if defined(__GNUC__) || defined(__clang__)
  for (; i + 4 <= count; i += 4) {
    const auto [least, most] = std::minmax_element(of + i, of + i + 4);
    if (*least >= -708 && *most <= 709) four_exponentials(of + i);
    else
      for (std::size_t k = i; k < i + 4; ++k) of[k] = exponential_anywhere(of[k]);
  }
#endif
  for (; i < count; ++i) of[i] = exponential_anywhere(of[i]);
}

// Replaces each of `count` finite numbers above 0 by its natural logarithm.
inline void logarithms(double* of, std::size_t count) {
  std::size_t i = 0;
#if defined(__GNUC__) || defined(__clang__)
  for (; i + 4 <= count; i += 4) {
    if (*std::min_element(of + i, of + i + 4) >= std::numeric_limits<double>::min()) four_logarithms(of + i);
    else
      for (std::size_t k = i; k < i + 4; ++k) of[k] = logarithm(of[k]);
  }
#endif
  for (; i < count; ++i) of[i] = logarithm(of[i]);
}

}  // namespace hinge
