// A geometry that differs by direction: a covariance S, and the distance (v-w)' S^-1 (v-w) (M11). All lanes share S.
// Directions in which much was learned have become narrow.
//
// A shape knows nothing of weights. It computes x'Sx, the squared size of an instance, and Sx, the direction in which an
// instance moves the weights. What is learned in the direction of x narrows it:
//     S^-1 <- S^-1 + precision * x x'.
// If instances have a bias coordinate (an intercept), S has it too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "../../data/instance.hpp"

namespace hinge {

class Shape {
 public:
  virtual ~Shape() = default;

  virtual void resize(std::size_t columns) = 0;

  // x'Sx. Changes nothing.
  virtual double size(const Instance& x) const = 0;
  // The same, and computes the direction Sx.
  virtual double aim(const Instance& x) = 0;
  // The same, and then S^-1 <- S^-1 + precision * x x'. `check` and `admit` come before.
  virtual double narrow(const Instance& x, double precision) = 0;

  // Sx of the last `aim` or `narrow`, which was given x.
  virtual Instance direction(const Instance& x) const = 0;
  // Its bias coordinate.
  double bias() const { return bias_; }

  // x'Sx is not less than this, whatever S is: the largest eigenvalue of S^-1 is at most its trace, which is
  // at most 1/variance + what was added to it.
  double least_size(double square) const { return 0.999999 * (square + constant2()) / (1 / variance_ + added_); }
  // Smaller ones change nothing.
  static constexpr double least_precision = 1e-300;
  double largest_variance() const { return variance_; }

  // As much of `precision` as S can still take. (CW asks for more and more if labels are noise.)
  double most(double precision, double square) const {
    const double room = (largest_ratio / variance_ - added_) / (square + constant2());
    return std::max(0.0, std::min({precision, largest_precision, 0.5 * room}));
  }
  // Throws if S could leave float64: variances stay above 1e-120 of the start, instances below a norm of 1e50.
  void check(double precision, double square) const {
    if (!(square <= largest_square))
      throw InputError("the instance is too large for this geometry: its squared norm is more than 1e100");
    if (!(precision <= largest_precision))
      throw InputError("the sample weight over covariance_regularizer is too large for this geometry: it is above 1e100");
    if (!((added_ + precision * (square + constant2())) * variance_ <= largest_ratio))
      throw InputError("the covariance would become too small to be held in float64 (below 1e-120 of its start)");
  }
  // After `check`, and before `narrow`: nothing throws from here on.
  void admit(double precision, double square) { added_ += precision * (square + constant2()); }

  virtual void begin() { added_before_ = added_; }
  virtual void commit() {}
  virtual void rollback() { added_ = added_before_; }

  // The state, to be saved and restored. `restore` throws if it is not a covariance.
  virtual std::vector<double> save() const = 0;
  virtual void restore(const double* state, std::size_t size, std::size_t columns) = 0;
  virtual std::size_t bytes() const = 0;
  double added() const { return added_; }

  // The variances of all coordinates (the bias first, if there is one), and for a full covariance the unit
  // upper triangular matrix U, row by row: S = U D U'.
  struct Factors {
    std::vector<double> d, u;
  };
  virtual Factors factors() const = 0;

 protected:
  // `constant`: the bias coordinate of every instance, 0 if there is none. S begins as variance * I.
  Shape(double constant, double variance) : constant_(constant), variance_(variance) {}

  double constant2() const { return constant_ * constant_; }
  std::size_t bias_count() const { return constant_ == 0 ? 0 : 1; }

  static constexpr double largest_square = 1e100, largest_precision = 1e100, largest_ratio = 1e120;

  double constant_, variance_;
  double bias_ = 0;
  double added_ = 0;  // to the trace of S^-1, at most
  double added_before_ = 0;
};

}  // namespace hinge
