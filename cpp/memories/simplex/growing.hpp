// The simplex: new columns and lanes, and initial weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "../simplex.hpp"

namespace hinge {

inline void Simplex::resize(std::size_t dimension) {
  const std::size_t before = columns_;
  if (dimension > before) check_room(dimension);
  for (std::size_t i = dimension * held(); averaging_ && i < u.size(); ++i) u[i] = 0;  // dropped columns
  if (averaging_) u.resize(dimension * held());
  theta.resize(dimension * held());
  columns_ = dimension;
  if (dimension < before) return come_back();
  if (kind_.is_signed || dimension == before) return;
  if (now.shift < 0) {  // a new weight would be infinite relative to the others: shift the exponents
    before_growth_ = {before, now, weight_bound_, u, bias_us};
    sum_up();
  }
  weight_bound_ = std::max(weight_bound_, 0.0);
  // Unsigned weights start above 0. New ones contribute nothing to the average for earlier rounds.
  for (std::size_t i = before; i < columns_ && averaging_; ++i) u[i] = -now.alpha * up(0);
}

inline void Simplex::widen(std::size_t count) {
  const std::size_t before = lanes();
  if (before > 0 && columns_ > 0 && !kind_.shared) {
    if (count > before) check_bytes(columns_, count);
    Buffer<double> wide_theta, wide_u;
    wide_theta.resize(columns_ * count);
    if (averaging_) wide_u.resize(columns_ * count);
    for (std::size_t i = 0; i < columns_; ++i)
      for (std::size_t r = 0; r < std::min(before, count); ++r) {
        wide_theta[i * count + r] = theta[i * before + r];
        if (averaging_) wide_u[i * count + r] = u[i * before + r];
      }
    theta = std::move(wide_theta);
    u = std::move(wide_u);
  }
  bias_us.resize(count);
  biases.resize(count);
}

inline void Simplex::start_from(const Simplex& one) {
  resize(one.dimension());
  const auto split = [](double value, double& low, double& high) {
    high = value;
    low = 0 - value;
  };
  for (std::size_t i = 0; i < columns_; ++i) {
    split(one.theta[i], theta[i * lanes()], theta[i * lanes() + 1]);
    if (averaging_) split(one.u[i] / 2, u[i * lanes()], u[i * lanes() + 1]);
  }
  split(one.biases[0], biases[0], biases[1]);
  split(one.bias_us[0] / 2, bias_us[0], bias_us[1]);
  now = one.now;
  now.alpha /= 2;
  weight_bound_ = one.weight_bound_;
  sum_up();
}

inline void Simplex::start_at(const double* w, std::size_t size, const double* /*biases*/) {
  resize(size);
  double sum = 0, least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < size * held(); ++i) sum += std::abs(w[i]), least = std::min(least, w[i]);
  const double count = static_cast<double>(coordinates());
  if (!kind_.is_signed && kind_.constant != 0) {  // the remainder belongs to the intercept
    const double rest = kind_.scale - sum;
    if (!(rest > 0)) throw InputError("w1 must add up to less than scale: the intercept has a part of it");
    biases[0] = logarithm(rest / kind_.scale * count);
    sum = kind_.scale;
  }
  if (kind_.is_signed ? !(sum < kind_.scale) : !(least > 0 && std::abs(sum - kind_.scale) <= 1e-9 * kind_.scale))
    throw InputError(kind_.is_signed ? "w1 is outside of the simplex: the sum of |w1| must be below scale"
                                  : "w1 is outside of the simplex: it must be positive, with the sum scale");
  double low = 0, high = 1 / (2 * std::max(1.0, count));
  const auto masses = [&](double c) {
    double mass = 2 * c * (count - static_cast<double>(size * held()));
    for (std::size_t i = 0; i < size * held(); ++i) mass += hypotenuse(w[i] / kind_.scale, 2 * c);
    return mass;
  };
  for (int step = 0; kind_.is_signed && step < 200; ++step) {
    const double middle = (low + high) / 2;
    (masses(middle) > 1 ? high : low) = middle;
  }
  const double c = (low + high) / 2;
  for (std::size_t r = 0; r < held(); ++r)
    for (std::size_t i = 0; i < size; ++i) {
      const double weight = w[r * size + i] / kind_.scale;
      theta[i * held() + r] = kind_.is_signed ? inverse_sinh(weight / (2 * c)) : logarithm(weight * count);
    }
  weight_bound_ = largest_weight();
  sum_up();
}

inline void Simplex::negate() {
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = 0 - theta[i];
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = 0 - u[i];
  biases[0] = 0 - biases[0], bias_us[0] = 0 - bias_us[0];
}

inline void Simplex::check_restored(double bound) {
  const SimplexScalars saved = now;
  sum_up_mass();
  if (!std::isfinite(now.mass) || !(std::abs(now.mass - saved.mass) <= 1e-6 * now.mass + 1e-300))
    throw InputError("the weights are not on the simplex");
  const std::int64_t touched = now.touched;
  now = saved;
  now.touched = touched;
  // The bound decides when the sum is shifted, so it is kept to the bit. By rounding it may be a little too low.
  weight_bound_ = bound >= largest_weight() * (1 - 1e-9) ? bound : largest_weight();
}

inline void Simplex::come_back() {
  if (before_growth_.columns != columns_ || before_growth_.u.size() != u.size()) return;
  now = before_growth_.now;
  weight_bound_ = before_growth_.weight_bound;
  u = before_growth_.u;
  bias_us = before_growth_.bias_us;
  before_growth_ = {};
}

}  // namespace hinge
