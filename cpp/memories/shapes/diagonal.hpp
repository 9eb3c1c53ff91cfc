// A diagonal covariance: one variance per feature (M11 with a diagonal S; diagonal AROW and CW). O(nonzeros).
//
// It stores what was added to the inverse: 1/s_i = 1/variance + t_i. Nothing cancels, and s_i always stays positive.
//     precision   t_i += precision x_i^2: the diagonal of the update of a full S^-1
//     drop        s_i <- s_i - (s_i x_i)^2/(r + x'Sx), r = 1/precision: the full update without its off-diagonal
//                 entries; equivalent to t_i += x_i^2/(r + x'Sx - s_i x_i^2)
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "../arithmetic/buffer.hpp"
#include "shape.hpp"
#include "../arithmetic/undo.hpp"

namespace hinge {

class Diagonal final : public Shape {
 public:
  Diagonal(double constant, double variance, bool drop) : Shape(constant, variance), drop_(drop), undo_(t_) {
    t_.resize(bias_count());
  }

  void resize(std::size_t columns) override { t_.resize(columns + bias_count()); }

  double size(const Instance& x) const override {
    return visit(x, [&](const auto& features) {
      double sum = constant_ == 0 ? 0 : constant2() * s(0);
      for (std::size_t j = 0; j < features.size; ++j) {
        const double value = features.value(j);
        sum += value * value * s(features.column(j) + bias_count());
      }
      return sum;
    });
  }

  double aim(const Instance& x) override {
    g_.resize(x.size);
    bias_ = constant_ == 0 ? 0 : constant_ * s(0);
    visit(x, [&](const auto& features) {
      for (std::size_t j = 0; j < features.size; ++j)
        g_[j] = features.value(j) * s(features.column(j) + bias_count());
    });
    return size(x);
  }

  double narrow(const Instance& x, double precision) override {
    const double sizes = aim(x);
    visit(x, [&](const auto& features) {
      undo_.note(features.size + bias_count(), [&](const auto& note) {
        if (constant_ != 0) note(std::size_t{0});
        for (std::size_t j = 0; j < features.size; ++j) note(features.column(j) + bias_count());
      });
      if (constant_ != 0) add(0, constant_, sizes, precision);
      for (std::size_t j = 0; j < features.size; ++j)
        add(features.column(j) + bias_count(), features.value(j), sizes, precision);
    });
    return sizes;
  }

  Instance direction(const Instance& x) const override {
    Instance g = x;
    g.values = g_.data();
    g.precision = Precision::double_;
    g.stride = 1;
    if (g.layout == Layout::strided) g.layout = Layout::dense;
    return g;
  }

  void begin() override {
    Shape::begin();
    undo_.begin();
  }
  void commit() override { undo_.commit(); }
  void rollback() override {
    Shape::rollback();
    undo_.rollback();
  }

  std::vector<double> save() const override {
    std::vector<double> state{added_};
    state.insert(state.end(), t_.data(), t_.data() + t_.size());
    return state;
  }
  void restore(const double* state, std::size_t size, std::size_t columns) override {
    if (size != 1 + columns + bias_count()) throw InputError("the variances do not fit the learner");
    double sum = 0;
    for (std::size_t i = 1; i < size; ++i) {
      if (!(state[i] >= 0 && state[i] <= largest_ratio / variance_)) throw InputError("a variance is not positive");
      sum = std::max(sum, state[i]);
    }
    if (!(state[0] >= sum * (1 - 1e-9) && state[0] <= largest_ratio / variance_))
      throw InputError("the variances are invalid");
    resize(columns);
    std::copy_n(state + 1, size - 1, t_.data());
    added_ = state[0];
  }
  // What was added to the inverse, public for changes of the layout.
  Buffer<double>& precisions() { return t_; }
  std::size_t bytes() const override { return sizeof(*this) + t_.size() * sizeof(double); }

  Factors factors() const override {
    Factors factors;
    for (std::size_t i = 0; i < t_.size(); ++i) factors.d.push_back(s(i));
    return factors;
  }

 private:
  double s(std::size_t i) const { return 1 / (1 / variance_ + t_[i]); }

  void add(std::size_t i, double value, double sizes, double precision) {
    const double square = value * value;
    const double others = std::max(0.0, sizes - s(i) * square);
    t_[i] += drop_ ? square / (1 / precision + others) : precision * square;
  }

  bool drop_;
  Buffer<double> t_;
  Undo<double> undo_;
  std::vector<double> g_;
};

}  // namespace hinge
