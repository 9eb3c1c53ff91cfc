// A round of many members on one record, four numbers at a time: the sizes x'Sx of the members with a variance, their
// narrowing, and the moves of members with one weight per column (two classes, numbers, ranks).
//
// The bits are those of one number at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "../memories/arithmetic/lane_sums.hpp"

namespace hinge {

// Variances start at 1, which is stored as 0. What is held never becomes 0.
inline double variance_of(double stored) { return stored == 0 ? 1 : stored; }
inline constexpr double least_variance = 1e-120;

#if defined(__GNUC__) || defined(__clang__)
HINGE_INLINE void load_variances(const double* from, Quad& variances) {
  load_lanes(from, variances);
  variances = variances == 0 ? Quad{1, 1, 1, 1} : variances;
}
HINGE_INLINE void raise_to(const Quad& least, Quad& x) { x = x < least ? least : x; }
#else
HINGE_INLINE void load_variances(const double* from, Quad& variances) {
  for (int i = 0; i < 4; ++i) variances.of[i] = variance_of(from[i]);
}
#endif

struct QuadRound {
  // Four variances, the weights that they belong to (if a member has one per column), and which values they see.
  struct Group {
    std::size_t place, variances;  // in a record
    std::size_t at;                // of `sizes`, `r` and `moves`
    bool scaled;
  };
  struct Average {
    std::size_t weight, sum;
  };
  std::vector<Group> shaped;     // all groups of variances
  std::vector<Group> moving;     // groups of weights of which some move; variances: `none` if they have none
  std::vector<Group> narrowing;  // groups of variances of which some narrow
  std::vector<Average> averages;
  std::vector<double> amounts;   // one per place that is summed
  std::vector<double> sizes, r;  // one per variance: x'Sx, and the regularizer
  std::vector<double> narrows;   // 1: it narrows, 0: it stays
  double alpha = 0;              // the rounds that the averages include

  HINGE_INLINE void move(double* record, double value, double scaled) const {
    std::array<double, 64> before;
    for (std::size_t i = 0; i < averages.size(); ++i) before[i] = record[averages[i].weight];
    for (const Group& group : moving) {
      Quad x, amount, weights, variances;
      repeat(group.scaled ? scaled : value, x);
      load_lanes(amounts.data() + group.place, amount);
      load_lanes(record + group.place, weights);
      if (group.variances != none) {
        load_variances(record + group.variances, variances);
        amount = amount * variances;
      }
      weights = weights + amount * x;
      std::memcpy(record + group.place, &weights, sizeof weights);
    }
    for (std::size_t i = 0; i < averages.size(); ++i)
      record[averages[i].sum] -= alpha * (record[averages[i].weight] - before[i]);
  }

  // S^-1 gains x x'/r without its off-diagonal entries: s <- s (r + X - s x^2)/(r + X), X = x'Sx (diagonal.hpp, `drop`).
  HINGE_INLINE void narrow(double* record, double value, double scaled) const {
    for (const Group& group : narrowing) narrow_group(record + group.variances, group.scaled ? scaled : value, group.at);
  }

 private:
#if defined(__GNUC__) || defined(__clang__)
  HINGE_INLINE void narrow_group(double* stored, double value, std::size_t at) const {
    constexpr Quad zeros{0, 0, 0, 0}, least{least_variance, least_variance, least_variance, least_variance};
    Quad x, s, before, size, regularizer, chosen;
    repeat(value, x);
    load_lanes(stored, before);
    load_variances(stored, s);
    load_lanes(sizes.data() + at, size);
    load_lanes(r.data() + at, regularizer);
    load_lanes(narrows.data() + at, chosen);
    const Quad square = s * x * x;
    Quad rest = size - square;
    raise_to(zeros, rest);
    Quad next = s * ((regularizer + rest) / (regularizer + size));
    raise_to(least, next);
    const Quad held = chosen == 0 ? before : next;
    std::memcpy(stored, &held, sizeof held);
  }
#else
  void narrow_group(double* stored, double value, std::size_t at) const {
    for (std::size_t i = 0; i < 4; ++i, ++at) {
      if (narrows[at] == 0) continue;
      const double s = variance_of(stored[i]), square = s * value * value;
      const double next = s * ((r[at] + std::max(0.0, sizes[at] - square)) / (r[at] + sizes[at]));
      stored[i] = std::max(least_variance, next);
    }
  }
#endif
};

}  // namespace hinge
