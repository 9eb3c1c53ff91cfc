// The root of an increasing function in a bracket, by the Illinois method: regula falsi that neither stalls nor leaves
// the bracket.
#pragma once

namespace hinge {

// function(low) = below < 0 < above = function(high).
template <class Function>
double root(const Function& function, double low, double below, double high, double above) {
  int side = 0;
  for (int step = 0; step < 200 && high - low > 1e-15 * high; ++step) {
    const double guess = (low * above - high * below) / (above - below);
    const double x = guess > low && guess < high ? guess : (low + high) / 2;
    const double value = function(x);
    if (value == 0) return x;
    if (value < 0) {
      low = x, below = value;
      if (side == -1) above /= 2;
      side = -1;
    } else {
      high = x, above = value;
      if (side == 1) below /= 2;
      side = 1;
    }
  }
  return (low + high) / 2;
}

}  // namespace hinge
