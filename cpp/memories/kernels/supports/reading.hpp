// Supports: scores, from kernel values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "../supports.hpp"

namespace hinge {

inline Reading Supports::look(std::size_t row, Reads reads, double* scores) {
  current_ = row;
  if (!ahead_.in_order[row]) return Reading{0, 0, 0, 0, false};
  double* const products = products_.data();
  if (passes_.on())
    for (std::size_t r = 0; r < held(); ++r) products[r] = passes_.sum(ahead_.numbers[row], r);
  else
    sum_up(v, ahead_.of(row), products);
  for (std::size_t r = 0; r < held(); ++r) products[r] *= now.scale;
  return finish(products, biases, now.norm2, ahead_.itself[row], ahead_.squares[row], reads, scores);
}

inline void Supports::look_without(std::size_t i, double own, double* scores) {
  double& kernel = ahead_.of(current_)[i];
  const double its_kernel = std::exchange(kernel, 0);
  std::vector<double> products(stride_);
  sum_up(v, ahead_.of(current_), products.data());  // not a difference: what is equal then is equal
  for (std::size_t r = 0; r < held(); ++r) products[r] *= now.scale;
  kernel = its_kernel;
  scores_of_others(i, own, products.data(), itself(), scores);
}

inline Reading Supports::read_row(const KernelRows& rows, std::size_t row, bool averaged,
                                  const std::vector<double>& coefficients, Reads reads, double* scores) const {
  if (!rows.in_order[row]) return Reading{0, 0, 0, 0, false};
  averaged = averaged && now.tallied > 0;
  const double share = averaged ? 1.0 / static_cast<double>(now.tallied) : now.scale;
  std::vector<double> products(stride_);
  sum_up(coefficients, rows.of(row), products.data());
  for (std::size_t r = 0; r < held(); ++r) products[r] *= share;
  if (!averaged)
    return finish(products.data(), biases, now.norm2, rows.itself[row], rows.squares[row], reads, scores);
  std::vector<double> mean(bias_sums);
  for (double& bias : mean) bias *= share;
  const double norm2 = now.sum_norm2 * share * share;
  return finish(products.data(), mean, norm2, rows.itself[row], rows.squares[row], reads, scores);
}

inline std::vector<double> Supports::coefficients(bool averaged) const {
  std::vector<double> all(v);
  for (std::size_t i = 0; averaged && now.tallied > 0 && i < all.size(); ++i) all[i] = now.alpha * v[i] + u[i];
  return all;
}

inline void Supports::scores_without(std::size_t i, const double* products, double* scores) const {
  const double* const c = v.data() + i * stride_;
  const double itself = itself_[i];
  if (kind_.distances || kind_.shared) {
    const double others = products[0] - coefficient(i, 0) * itself;
    return scores_of_others(i, products[0], &others, itself, scores);
  }
  for (std::size_t r = 0; r < lanes(); ++r) scores[r] = products[r] - c[r] * itself;  // the scale is 1
}

inline Reading Supports::finish(const double* products, const std::vector<double>& its_biases, double norm2,
                                double itself, double square, Reads reads, double* scores) const {
  if (!std::isfinite(square)) return Reading{square, square, square, square};  // to be rejected
  if (reads == Reads::distance) {
    const double plain = std::max(0.0, norm2 - 2 * products[0] + itself);
    return Reading{plain + its_biases[0] * its_biases[0], plain, 1.0, square};
  }
  if (lanes() == 1 && !kind_.shared) return Reading{products[0], products[0], itself, square};
  double all = 0;
  for (std::size_t r = 0; r < lanes(); ++r) {
    scores[r] = kind_.shared ? products[0] - its_biases[r] : products[r];
    all += scores[r];
  }
  return Reading{all, all, itself, square};
}

inline Reading Supports::read_one(const Instance& x, bool averaged, Reads reads, double* scores) const {
  KernelRows own;
  thread_local KernelRows kept;
  KernelRows& one = kind_.kernel.kind == Kernel::custom ? own : kept;  // a function may ask another learner
  look_at(x, one);
  return read_row(one, 0, averaged, coefficients(averaged), reads, scores);
}

inline void Supports::scores_of_others(std::size_t i, double own, const double* products, double itself,
                                       double* scores) const {
  if (kind_.distances) {
    const double squared = norm2_without(i, own) - 2 * (products[0] / rest_without(i)) + itself;
    scores[0] = std::max(0.0, squared) + biases[0] * biases[0];
  } else if (kind_.shared) {
    std::vector<double> thresholds(biases);
    for (std::size_t r = 0; r < lanes(); ++r) thresholds[r] += given[i * lanes() + r];
    if (kind_.sorted) std::sort(thresholds.begin(), thresholds.end());
    for (std::size_t r = 0; r < lanes(); ++r) scores[r] = products[0] - thresholds[r];
  } else {
    std::copy_n(products, lanes(), scores);
  }
}

inline double Supports::sum_of_average() const {
  const double* const kernels = ahead_.of(current_);
  double sum = 0;
  for (std::size_t i = 0; i < count(); ++i) sum += kernels[i] * (now.alpha * v[i * stride_] + u[i * stride_]);
  return sum;
}

}  // namespace hinge
