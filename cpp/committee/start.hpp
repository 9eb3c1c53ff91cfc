// What a committee takes from its first instances, in powers of 2: so that data in other units give the same bits.
#pragma once

#include <cmath>

#include "../data/instance.hpp"

namespace hinge {

// The power of 2 that is nearest to x > 0, by its logarithm.
inline double nearest_power_of_2(double x) {
  int exponent = 0;
  const double m = std::frexp(x, &exponent);
  return std::ldexp(1.0, m < 0x1.6a09e667f3bcdp-1 ? exponent - 1 : exponent);
}

// The constant beside the features: about half the root mean square of the values that are not 0.
inline double constant_for(const Instance& x) {
  return visit(x, [](const auto& features) {
    double squares = 0, count = 0;
    for (std::size_t j = 0; j < features.size; ++j) {
      const double value = features.value(j);
      squares += value * value;
      count += value != 0;
    }
    return nearest_power_of_2(std::sqrt(squares / count) / 2);
  });
}

}  // namespace hinge
