// Exponentials and logarithms that are bit-identical on every machine. Those of the C library differ between
// processors: it uses fused operations where they exist.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "../../data/instance.hpp"

namespace hinge {

// e^x for x from -708 to 709, within 2 units in the last place: x = n ln 2 + r, |r| <= ln 2/2, a polynomial for e^r,
// and 2^n by way of the exponent.
HINGE_INLINE double exponential(double x) {
  constexpr double log2_e = 0x1.71547652b82fep0, ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  constexpr double shift = 0x1.8p52;  // doubles of this size are integers
  const double shifted = x * log2_e + shift, n = shifted - shift;
  const double r = (x - n * ln2_high) - n * ln2_low;
  double p = 1.0 / 6227020800;
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = 1 + (r + r * r * p);
  const auto exponent = static_cast<std::uint64_t>(std::bit_cast<std::int64_t>(shifted)) + 1023;
  return p * std::bit_cast<double>(exponent << 52);
}

// e^x for any x: 0 or infinity beyond the range of float64.
inline double exponential_anywhere(double x) {
  if (x > 709.782712893384) return std::numeric_limits<double>::infinity();
  if (x > 709) return exponential(x - 1) * 0x1.5bf0a8b145769p1;
  if (x >= -708) return exponential(x);
  return x < -746 ? 0 : exponential(x + 100) * 0x1.a8c1f14e2af5dp-145;  // e^-100: the result is subnormal
}

// The natural logarithm of a finite x > 0, within 2 units in the last place (near 1: of the distance from 1):
// x = 2^n m, m from sqrt(1/2) to sqrt(2), log m = 2 artanh((m - 1)/(m + 1)).
inline double logarithm(double x) {
  constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact
  if (m < 0x1.6a09e667f3bcdp-1) m *= 2, exponent -= 1;
  const double n = exponent, s = (m - 1) / (m + 1), z = s * s;
  double p = 1.0 / 25;
  for (int k = 23; k >= 3; k -= 2) p = p * z + 1.0 / k;
  return n * ln2_high + (2 * s + (2 * s * z * p + n * ln2_low));
}

// log(1 + x) for x > -1.
inline double logarithm_of_1_and(double x) {
  const double u = 1 + x;
  return u == 1 ? x : logarithm(u) * (x / (u - 1));
}

// The inverse of the hyperbolic sine.
inline double inverse_sinh(double x) {
  const double size = std::abs(x);
  if (size > 0x1p28) return std::copysign(logarithm(size) + 0x1.62e42fefa39efp-1, x);  // x^2 + 1 is x^2
  const double square = size * size;
  return std::copysign(logarithm_of_1_and(size + square / (1 + std::sqrt(1 + square))), x);
}

// sqrt(x^2 + y^2), without overflow.
inline double hypotenuse(double x, double y) {
  const double large = std::fmax(std::abs(x), std::abs(y)), small = std::fmin(std::abs(x), std::abs(y));
  if (large == 0) return 0;
  const double ratio = small / large;
  return large * std::sqrt(1 + ratio * ratio);
}

}  // namespace hinge
