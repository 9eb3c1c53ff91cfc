// The simplex: scores and distances, and the size q of the direction.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "../simplex.hpp"

namespace hinge {

inline Reading Simplex::read(const Instance& x, Reads reads, double* scores) const {
  if (reads == Reads::distance)
    return distance(x, [&, share = unit()](std::size_t place) { return share * up(theta[place]); });
  double one = 0;
  double* const to = lanes() == 1 ? &one : scores;
  return products(x, to, unit(), [&](std::size_t place) { return up(theta[place]); },
                  [&](std::size_t lane) { return up(biases[lane]); });
}

inline Reading Simplex::read_average(const Instance& x, Reads reads, double* scores) const {
  if (now.tallied == 0) return read(x, reads, scores);
  const double share = 1 / static_cast<double>(now.tallied);
  if (reads == Reads::distance)
    return distance(x, [&](std::size_t place) { return share * summed(place); });
  double one = 0;
  double* const to = lanes() == 1 ? &one : scores;
  return products(x, to, share, [&](std::size_t place) { return summed(place); },
                  [&](std::size_t lane) { return now.alpha * up(biases[lane]) + bias_us[lane]; });
}

template <class At, class BiasAt>
Reading Simplex::products(const Instance& x, double* scores, double share, const At& at, const BiasAt& bias_at) const {
  return visit(x, [&](const auto& features) {
    if (!in_order(features)) return Reading{0, 0, 0, 0, false};
    double square = 0;
    Extremes values;
    std::fill_n(scores, lanes(), 0.0);
    for (std::size_t j = 0; j < features.size; ++j) {
      const double value = features.value(j);
      square += value * value;
      values.meet(value);
      if (value == 0) continue;
      for (std::size_t r = 0; r < held(); ++r) scores[r] += value * at(features.column(j) * held() + r);
    }
    if (kind_.shared) std::fill_n(scores, lanes(), scores[0]);
    if (features.size < columns_) values.meet(0);
    if (kind_.constant != 0) values.meet(kind_.constant);
    double all = 0;
    for (std::size_t r = 0; r < lanes(); ++r) {
      if (kind_.constant != 0) scores[r] += kind_.constant * bias_at(r);
      scores[r] *= share;
      all += scores[r];
    }
    const double size = kind_.scale * (kind_.paper ? values.largest() / 2 : values.half_range(kind_.is_signed));
    return Reading{all, all, size * size, square, true};
  });
}

template <class At>
Reading Simplex::distance(const Instance& x, const At& at) const {
  return visit(x, [&](const auto& features) {
    if (!in_order(features)) return Reading{0, 0, 0, 0, false};
    double square = 0, near = 0;
    Extremes gaps;
    std::size_t j = 0;
    for (std::size_t i = 0; i < columns_; ++i) {
      const bool stored = j < features.size && features.column(j) == i;
      const double value = stored ? features.value(j) : 0, gap = value - at(i);
      j += stored;
      square += value * value;
      near += gap * gap;
      gaps.meet(gap);
    }
    const double plain = near + x.unseen;
    const double part = kind_.paper ? std::sqrt(8.0) * gaps.largest() : gaps.half_range(kind_.is_signed);
    const double size = plain > 0 ? kind_.scale * part / std::sqrt(plain) : 0;
    return Reading{plain, plain, size * size, square + x.unseen, true};
  });
}

}  // namespace hinge
