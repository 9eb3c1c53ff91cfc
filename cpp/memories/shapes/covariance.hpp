// A full covariance: storage, growth, saving and rollback of its factors U and D (factored.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../arithmetic/buffer.hpp"
#include "../arithmetic/undo.hpp"
#include "factored.hpp"
#include "shape.hpp"

namespace hinge {

class Covariance final : public Shape {
 public:
  // `most`: the limit of its size in bytes.
  Covariance(double constant, double variance, double most) : Shape(constant, variance), most_(most) { resize(0); }

  void resize(std::size_t columns) override {
    const std::size_t size = columns + bias_count(), blocks = (size + 3) / 4;
    if (blocks > first_.size()) {
      if (const double bytes = bytes_of(blocks); bytes > most_)
        throw InputError("a full covariance of " + std::to_string(columns) + " features" +
                      (bias_count() == 0 ? "" : " and the intercept") + " needs " + in_words(bytes) +
                      ", the limit is " + in_words(most_) + " (max_covariance); geometry='diagonal' needs " +
                      in_words(8.0 * static_cast<double>(size)));
      u_.resize(8 * blocks * (blocks + 1));
      k_.resize(4 * blocks), f_.resize(4 * blocks);
    }
    d_.resize(4 * blocks, variance_);
    const std::size_t known = first_.size();
    first_.resize(blocks);
    for (std::size_t b = known; b < blocks; ++b) first_[b] = b;
    if (blocks < known) u_.resize(8 * blocks * (blocks + 1));
    columns_ = columns;
  }

  double size(const Instance& x) const override {
    thread_local Spread spread;  // several threads may call this
    spread.take(x, constant_, first_.size());
    return size_of(spread, nullptr);
  }
  double aim(const Instance& x) override {
    spread_.take(x, constant_, first_.size());
    const double sum = size_of(spread_, f_.data());
    const Factored factored = factored_();
    forget_direction();
    range_ = {0, first_.size()};
#if defined(__x86_64__) && defined(__GNUC__)
    has_avx2 ? product_avx2(factored, f_.data(), k_.data()) : factored.product(f_.data(), k_.data());
#else
    factored.product(f_.data(), k_.data());
#endif
    bias_ = bias_count() == 0 ? 0 : k_[0];
    return sum;
  }
  double narrow(const Instance& x, double precision) override {
    if (2 * x.size > columns_) u_.expect_use();  // sparse instances may leave most of it untouched
    spread_.take(x, constant_, first_.size());
    const Factored factored = factored_();
    if (in_batch_) note(factored);
    forget_direction();
#if defined(__x86_64__) && defined(__GNUC__)
    const double sum = has_avx2 ? narrow_avx2(factored, spread_, precision, k_.data(), range_)
                                : factored.narrow(spread_, precision, k_.data(), range_);
#else
    const double sum = factored.narrow(spread_, precision, k_.data(), range_);
#endif
    const double least = least_variance();
    for (std::size_t j = 4 * range_.begin; j < 4 * range_.end; ++j) d_[j] = std::max(d_[j], least);
    bias_ = bias_count() == 0 ? 0 : k_[0];
    return sum;
  }

  // Dense, or sparse if most of it is 0.
  Instance direction(const Instance& /*x*/) const override {
    Instance g;
    g.values = k_.data() + bias_count();
    g.size = columns_;
    if (8 * (range_.end - range_.begin) > columns_) return g;
    values_.clear();
    places_.clear();
    for (std::size_t i = std::max(bias_count(), 4 * range_.begin); i < std::min(4 * range_.end, columns_ + bias_count()); ++i) {
      if (k_[i] == 0) continue;
      values_.push_back(k_[i]);
      places_.push_back(static_cast<std::int64_t>(i - bias_count()));
    }
    g.values = values_.data();
    g.columns = places_.data();
    g.limit = columns_;
    g.size = values_.size();
    g.layout = Layout::sparse64;
    g.transient = true;
    return g;
  }

  void begin() override {
    Shape::begin();
    undo_.begin();
    in_batch_ = true;
  }
  void commit() override {
    undo_.commit();
    in_batch_ = noted_ = false;
    before_ = {};
  }
  void rollback() override {
    Shape::rollback();
    undo_.rollback();
    if (noted_) {
      const std::size_t columns = columns_;
      d_ = std::move(before_.d);
      first_ = std::move(before_.first);
      u_.resize(8 * first_.size() * (first_.size() + 1));
      resize(columns);
    }
    commit();
  }

  std::vector<double> save() const override {
    const std::size_t size = columns_ + bias_count();
    std::vector<double> state{added_};
    state.insert(state.end(), d_.begin(), d_.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::size_t j = 0; j < size; ++j) state.insert(state.end(), row(j), row(j) + j);
    return state;
  }
  void restore(const double* state, std::size_t count, std::size_t columns) override {
    const std::size_t size = columns + bias_count();
    if (count != 1 + size + size * (size - (size > 0)) / 2) throw InputError("the covariance does not fit the learner");
    resize(columns);
    const double* from = state + 1;
    for (std::size_t j = 0; j < size; ++j)
      if (!(from[j] > 0 && from[j] <= variance_ * (1 + 1e-9))) throw InputError("a variance is not positive");
    std::copy_n(from, size, d_.begin());
    from += size;
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t i = 0; i < j; ++i, ++from) {
        if (!(std::abs(*from) <= largest_ratio)) throw InputError("the covariance is invalid");
        row(j)[i] = *from;
        if (*from != 0) first_[j / 4] = std::min(first_[j / 4], i / 4);
      }
    if (!(state[0] >= 0 && state[0] <= largest_ratio / variance_))
      throw InputError("the covariance is invalid");
    added_ = state[0];
    for (std::size_t j = 0; j < size; ++j)  // the variances must roughly agree with the saved trace
      if (!(d_[j] >= least_variance() * (1 - 1e-6))) throw InputError("the covariance is invalid");
  }
  std::size_t bytes() const override { return static_cast<std::size_t>(bytes_of(first_.size())); }

  Factors factors() const override {
    const std::size_t size = columns_ + bias_count();
    Factors factors{{d_.begin(), d_.begin() + static_cast<std::ptrdiff_t>(size)}, std::vector<double>(size * size)};
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t i = 0; i < j; ++i) factors.u[i * size + j] = row(j)[i];
      factors.u[j * size + j] = 1;
    }
    return factors;
  }

 private:
  // In exact arithmetic 1/d_j <= 1/variance + added, because 1/d_j is at most the j-th diagonal entry of S^-1. With
  // numbers of very different sizes, rounding may put d_j far below that. It is kept near the bound, as `least_size`
  // assumes.
  double least_variance() const { return 1 / (1 / variance_ + 1e19 * added_); }

  static double bytes_of(std::size_t blocks) {
    return 64 * static_cast<double>(blocks) * static_cast<double>(blocks + 1);
  }
  static std::string in_words(double bytes) {
    const char* const units[] = {"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
    int unit = 0;
    for (; bytes >= 1000 && unit < 6; ++unit) bytes /= 1000;
    char text[32];
    std::snprintf(text, sizeof text, "%.4g %s", bytes, units[unit]);
    return text;
  }

  double* row(std::size_t j) { return BlockOf<double>::at(u_.data(), j / 4).row[j % 4]; }
  const double* row(std::size_t j) const { return BlockOf<const double>::at(u_.data(), j / 4).row[j % 4]; }
  Factored factored_() { return {first_.size(), u_.data(), d_.data(), first_.data()}; }
  double size_of(const Spread& spread, double* f) const {
#if defined(__x86_64__) && defined(__GNUC__)
    if (has_avx2) return size_avx2(first_.size(), u_.data(), d_.data(), first_.data(), spread, f);
#endif
    return Factored::size(first_.size(), u_.data(), d_.data(), first_.data(), spread, f);
  }
  // Sets k to 0. (It may have been longer, before columns were dropped.)
  void forget_direction() {
    std::fill(k_.data() + 4 * range_.begin, k_.data() + 4 * range_.end, 0.0);
    range_ = {};
  }
  // Records what the update is about to overwrite.
  void note(const Factored& factored) {
    if (!noted_) before_ = {d_, first_};
    noted_ = true;
    if (!undo_.noting()) return;
    std::size_t count = 0;
    factored.each_written(spread_, [&](std::size_t begin, std::size_t end) { count += end - begin; });
    undo_.note(count, [&](const auto& note_one) {
      factored.each_written(spread_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t place = begin; place < end; ++place) note_one(place);
      });
    });
  }

  double most_;
  std::size_t columns_ = 0;
  Buffer<double> u_;
  std::vector<double> d_;
  std::vector<std::size_t> first_;
  Spread spread_;
  Buffer<double> f_, k_;
  Range range_;  // where k_ is not 0
  mutable std::vector<double> values_;  // the values and the columns of a sparse direction
  mutable std::vector<std::int64_t> places_;

  struct Before {
    std::vector<double> d;
    std::vector<std::size_t> first;
  };
  Before before_;
  bool in_batch_ = false, noted_ = false;
  Undo<double> undo_{u_};
};

}  // namespace hinge
