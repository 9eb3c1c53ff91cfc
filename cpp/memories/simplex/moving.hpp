// The simplex: moves of theta, and updates of the mass.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "../simplex.hpp"

namespace hinge {

inline void Simplex::admit(double amount, double /*decay*/, double square) {
  const double more = reads_distances_ ? kind_.scale : 0;  // |x - w| <= |x| + |w|
  const double length = std::sqrt(square) + more;
  Memory::admit(kind_.scale * amount, 1, length * length);
  if (weight_bound_ > now.shift + most_above_shift)  // the bound may have become loose
    weight_bound_ = largest_weight() + kind_.scale * amount * std::sqrt(length * length + constant2_);
  raises_ = weight_bound_ > now.shift + most_above_shift;
}

inline void Simplex::move(const double* amounts, double /*decay*/, const Instance& x) {
  if (reads_distances_) visit(x, [&](const auto& features) { look_at_gaps(features); });
  before_growth_ = {};
  if (raises_) sum_up(weight_bound_);
  if (reads_distances_)
    approach(amounts[0]);
  else
    visit(x, [&](const auto& features) { push(features, amounts); });
  if (raises_) sum_up();  // shifts by the actual theta
  raises_ = false;
  if (kind_.sorted) sort_biases();
  if (now.work >= static_cast<std::int64_t>(coordinates()) || now.doubt > 1e-10 * total()) sum_up();
}

template <class Features>
void Simplex::push(const Features& x, const double* amounts) {
  double total = 0;
  for (std::size_t r = 0; r < lanes(); ++r) total += amounts[r];
  const double* const its_amounts = kind_.shared ? &total : amounts;
  const auto each = [&](const auto& use) {
    for (std::size_t j = 0; j < x.size; ++j)
      for (std::size_t r = 0; r < held(); ++r)
        if (its_amounts[r] != 0) use(x.column(j) * held() + r, its_amounts[r] * x.value(j));
  };
  note(x.size * held(), [&](const auto& note_one) { each([&](std::size_t place, double) { note_one(place); }); });
  if (averaging_) {
    double most = 0;
    each([&](std::size_t place, double more) {
      most = std::max(most, std::abs(theta[place] + kind_.scale * more));
    });
    for (std::size_t r = 0; r < lanes() && kind_.constant != 0; ++r)
      most = std::max(most, std::abs(biases[r] + kind_.scale * amounts[r] * kind_.constant));
    fold_before(most);
  }
  each([&](std::size_t place, double more) {
    add(theta[place], averaging_ ? &u[place] : nullptr, kind_.scale * more);
  });
  for (std::size_t r = 0; r < lanes() && kind_.constant != 0; ++r)
    add(biases[r], averaging_ ? &bias_us[r] : nullptr, kind_.scale * amounts[r] * kind_.constant);
}

inline void Simplex::sort_biases() {
  if (std::is_sorted(biases.begin(), biases.end())) return;
  for (std::size_t r = 0; r < lanes() && averaging_; ++r) bias_us[r] += now.alpha * up(biases[r]);
  std::sort(biases.begin(), biases.end());
  for (std::size_t r = 0; r < lanes() && averaging_; ++r) bias_us[r] -= now.alpha * up(biases[r]);
}

template <class Features>
void Simplex::look_at_gaps(const Features& x) {
  const double share = unit();
  gaps_.resize(columns_);
  for (std::size_t i = 0; i < columns_; ++i) gaps_[i] = -share * up(theta[i]);
  for (std::size_t j = 0; j < x.size; ++j) gaps_[x.column(j)] += x.value(j);
}

inline void Simplex::approach(double amount) {
  note(columns_, [&](const auto& note_one) {
    for (std::size_t i = 0; i < columns_; ++i) note_one(i);
  });
  double most = 0;
  for (std::size_t i = 0; i < columns_; ++i) most = std::max(most,
       std::abs(theta[i] + kind_.scale * amount * gaps_[i]));
  if (averaging_) fold_before(most);
  for (std::size_t i = 0; i < columns_; ++i)
    add(theta[i], averaging_ ? &u[i] : nullptr, kind_.scale * amount * gaps_[i]);
}

inline void Simplex::add(double& its_theta, double* its_u, double more) {
  if (more == 0) return;
  const double before = its_theta, after = before + more;
  if (its_u != nullptr) *its_u -= now.alpha * (up(after) - up(before));
  const double mass_before = before == 0 ? 0 : mass(before), mass_after = after == 0 ? 0 : mass(after);
  now.mass += mass_after - mass_before;
  now.touched += (after != 0) - (before != 0);
  now.doubt += std::numeric_limits<double>::epsilon() * (mass_before + mass_after + now.mass);
  now.work += 1;
  its_theta = after;
}

inline void Simplex::fold() {
  if (!averaging_ || now.alpha == 0) return;
  undo_u_.note(u.size(), [&](const auto& note) {
    for (std::size_t i = 0; i < u.size(); ++i) note(i);
  });
  for (std::size_t i = 0; i < u.size(); ++i) u[i] += now.alpha * up(theta[i]);
  for (std::size_t r = 0; r < lanes(); ++r) bias_us[r] += now.alpha * up(biases[r]);
  now.alpha = 0;
}

inline void Simplex::sum_up(double coming) {
  const double most = std::max(largest_weight(), coming);
  const double shift = std::abs(most) <= most_above_shift || !std::isfinite(most) ? 0 : most;
  if (shift != now.shift) {
    fold();
    now.shift = shift;
  }
  sum_up_mass();
}

inline void Simplex::sum_up_mass() {
  now.mass = now.doubt = 0;
  now.touched = now.work = 0;
  const auto meet = [&](double its_theta) {
    if (its_theta == 0) return;
    now.mass += mass(its_theta);
    now.touched += 1;
  };
  for (std::size_t i = 0; i < theta.size(); ++i) meet(theta[i]);
  for (const double bias : biases) meet(bias);
}

inline double Simplex::largest_theta() const {
  double most = now.touched == static_cast<std::int64_t>(coordinates()) && now.touched > 0
                    ? -std::numeric_limits<double>::infinity() : 0;
  const auto meet = [&](double its_theta) {
    if (its_theta != 0) most = std::max(most, its_theta);
  };
  for (std::size_t i = 0; i < theta.size(); ++i) meet(theta[i]);
  for (const double bias : biases) meet(bias);
  return most;
}

}  // namespace hinge
