// The simplex: sizes of constraints, and exact projections onto them (S13.6).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "../../rules/root.hpp"
#include "../simplex.hpp"

namespace hinge {

inline const Sizes* Simplex::sizes(const Instance& x, double q) {
  if (kind_.paper) visit(x, [](const auto& features) {
    for (std::size_t j = 0; j < features.size; ++j)
      if (features.value(j) < 0)
        throw InputError("entropy_step='paper' is for values of 0 and more", none, features.column(j));
  });
  x_ = x;
  q_ = q;
  return this;
}

inline double Simplex::moved(const double* amounts, std::size_t count) const {
  double most = 0, total = 0;
  for (std::size_t r = 0; r < count; ++r) {
    most = std::max(most, std::abs(amounts[r]));
    total += amounts[r];
  }
  if (!kind_.shared) return q_ * most * most;
  const double along = visit(x_, [&](const auto& features) {
    double largest = 0;
    for (std::size_t j = 0; j < features.size; ++j) largest = std::max(largest, std::abs(features.value(j)));
    return largest;
  });
  const double size = kind_.scale * std::max(std::abs(total) * along, most * std::abs(kind_.constant));
  return size * size;
}

inline double Simplex::project(std::size_t r, std::size_t s, double wanted, double cap) const {
  return visit(x_, [&](const auto& features) {
    return projected(wanted, cap, [&](const auto& use) {  // x at r, -x at s
      for (std::size_t j = 0; j < features.size; ++j) {
        const std::size_t place = features.column(j) * lanes();
        use(theta[place + r], features.value(j));
        use(theta[place + s], -features.value(j));
      }
      if (kind_.constant != 0) use(biases[r], kind_.constant), use(biases[s], -kind_.constant);
    }, [&] { return mass_beside(features, [&](std::size_t lane) { return lane == r || lane == s; }); });
  });
}

inline double Simplex::project(std::size_t lane, double side, double wanted, double cap) const {
  return visit(x_, [&](const auto& features) {
    return projected(wanted, cap, [&](const auto& use) {
      for (std::size_t j = 0; j < features.size; ++j) use(theta[features.column(j)], side * features.value(j));
      use(biases[lane], side * kind_.constant);
    }, [&] { return mass_beside(features, [&](std::size_t other) { return kind_.shared || other == lane; }, lane); });
  });
}

template <class Features, class Lane>
double Simplex::mass_beside(const Features& x, const Lane& is_meant, std::size_t bias) const {
  double sum = 0;
  std::size_t j = 0;
  for (std::size_t i = 0; i < columns_; ++i) {
    const bool stored = j < x.size && x.column(j) == i;
    j += stored;
    for (std::size_t r = 0; r < held(); ++r)
      if (!stored || !is_meant(r)) sum += mass(theta[i * held() + r]);
  }
  for (std::size_t r = 0; r < lanes() && kind_.constant != 0; ++r)
    if (bias == none ? !is_meant(r) : r != bias) sum += mass(biases[r]);
  return sum;
}

template <class Each, class Others>
double Simplex::projected(double wanted, double cap, const Each& each, const Others& others) const {
  const double all = total();
  double rest = all;
  each([&](double its_theta, double /*value*/) { rest -= mass(its_theta); });
  if (!(rest > 1e-6 * all)) rest = others();
  const auto gap = [&](double alpha) { return margin_after(alpha, rest, each) - wanted; };
  const double below = gap(0), above = gap(cap);
  if (!(below < 0)) return 0;
  if (!(above > 0)) return cap;
  return root(gap, 0, below, cap, above);
}

template <class Each>
double Simplex::margin_after(double alpha, double rest, const Each& each) const {
  const double step = alpha * kind_.scale;
  double shift = now.shift;
  each([&](double its_theta, double value) { shift = std::max(shift, std::abs(its_theta + step * value)); });
  if (shift <= now.shift + most_above_shift) shift = now.shift;
  double sum = rest * exponential_anywhere(now.shift - shift), lead = 0;
  each([&](double its_theta, double value) {
    const double after = its_theta + step * value;
    const double plus = exponential_anywhere(after - shift), minus = exponential_anywhere(-after - shift);
    sum += plus + minus;
    lead += value * (plus - minus);
  });
  return kind_.scale * lead / sum;
}

}  // namespace hinge
