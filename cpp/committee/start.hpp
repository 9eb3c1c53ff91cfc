// What a committee takes from its first instances, in powers of 2: so that data in other units give the same bits.
#pragma once

#include <cmath>

namespace hinge {

// The power of 2 that is nearest to x > 0, by its logarithm.
inline double nearest_power_of_2(double x) {
  int exponent = 0;
  const double m = std::frexp(x, &exponent);
  return std::ldexp(1.0, m < 0x1.6a09e667f3bcdp-1 ? exponent - 1 : exponent);
}

}  // namespace hinge
