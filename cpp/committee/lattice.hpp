// PA-I with C_j = c 4^j for every integer j, exactly (theory: T1.1). Of these lanes only those that differ are held:
//
//     the top      PA (C = infinity): stands for all j >= above
//     the bottom   the limit C -> 0: it holds v = w/C, always takes the step 1, and stands for all j < -below
//     between      lane j with its own C_j, -below <= j < above
//
// A lane is born from the top when the top's step exceeds C_above, and from the bottom when the margin of C_(-below-1)
// is too large for a full step. Multiplications by powers of 2 are exact, so all lanes are exact to the bit.
//
// Predictions of numbers depend on the scale of w, so there is no bottom: lanes 0 to -8 are there from the start.
#pragma once

#include <cmath>
#include <cstddef>

#include "../rounds/books.hpp"

namespace hinge {

struct StepLattice {
  bool used = false;
  std::size_t above = 0, below = 0;
  static constexpr std::size_t most = 16;  // lanes between
  static constexpr std::size_t first_numbers = 9;

  double C_above(double first) const { return std::ldexp(first, 2 * static_cast<int>(above)); }
  double C_below(double first) const { return std::ldexp(first, -2 * (static_cast<int>(below) + 1)); }
  bool full() const { return above + below >= most; }
};

// The bottom's losses depend on the C that it is read with. So its statistics hold sums from which those of any C
// follow, in the unit of C_0: `loss` the margins m = C_0 v.x, `squared_loss` m^2, `cost` its steps o (the weights of the
// examples), `progress` o(2m + o C_0 q). All its rounds had the loss g - c m, c = C/C_0.
inline Statistics bottom_statistics(const Statistics& sums, double g, double C, double c) {
  Statistics s = sums;
  const auto rounds = static_cast<double>(s.rounds);
  s.loss = g * rounds - c * sums.loss;
  s.squared_loss = g * g * rounds - 2 * g * c * sums.loss + c * c * sums.squared_loss;
  s.progress = C * (2 * g * sums.cost - c * sums.progress);
  s.capped = s.updates;
  s.cost = static_cast<double>(s.mistakes);
  return s;
}

}  // namespace hinge
