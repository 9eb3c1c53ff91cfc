// A streaming quantile of distances in three numbers: the radius of a ball that leaves `share` of them outside.
//
// Stochastic approximation (Robbins and Monro 1951): each distance d moves the estimate by
//     value += gain * spread * rate * (1[d > value] - share),    rate = max(1/1000, 1/(seen + 10)).
// It is stationary where the share of d above it is `share`. The rate never falls below 1/1000, so that the estimate
// follows a drift. `spread` makes it independent of units: the mean of |d - value|, each clipped at three times that
// mean, so that a gross outlier has little effect. The gain 2/sqrt(share) is near the optimum, 1/(density of d/spread
// at the quantile), for the tails of a normal distribution. Only +, *, / and sqrt are used, so results are
// bit-identical everywhere.
#pragma once

#include <algorithm>
#include <cmath>

namespace hinge {

struct Quantile {
  double share = 0.1;
  double value = 0;   // 0 until the first distance above 0
  double spread = 0;
  double seen = 0;    // the sum of the weights

  // The unit of lengths: the radius, or the distance itself as long as there is no radius.
  double unit(double distance) const { return value > 0 ? value : distance; }

  void observe(double distance, double weight) {
    if (!(value > 0)) value = spread = distance;
    const double rate = std::min(0.1, weight * std::max(0.001, 1 / (seen + 10)));
    const double away = std::min(std::abs(distance - value), std::max(3 * spread, 0.01 * value));
    const double step = std::min(0.6, rate * 2 / std::sqrt(share)) * spread;
    value = std::max(0.0, value + step * ((distance > value ? 1 : 0) - share));
    spread += 2 * rate * (away - spread);
    seen = std::min(seen + weight, 1e300);  // stays finite with weights of 1e308, so that a file can store it
  }

  // Whether a learner can reach this state.
  bool makes_sense() const {
    return value >= 0 && spread >= 0 && seen >= 0 && std::isfinite(value) && std::isfinite(spread) && std::isfinite(seen);
  }
};

}  // namespace hinge
