// A geometry that depends on the direction: a covariance S, and the distance (v-w)' S^-1 (v-w) (M11). All lanes share
// S. S is narrow in directions in which much was learned.
//
// A shape does not know the weights. It computes x'Sx, the squared size of an instance, and Sx, the direction in which
// an instance moves the weights. Learning from x narrows S along x:
//     S^-1 <- S^-1 + precision * x x'.
// If instances have a bias coordinate (an intercept), so does S.
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
  // As long as nothing was learned, the bias coordinate of the instances may get another value (not 0).
  void set_constant(double constant) { constant_ = constant; }

  // x'Sx, without any change.
  virtual double size(const Instance& x) const = 0;
  // x'Sx; also computes the direction Sx.
  virtual double aim(const Instance& x) = 0;
  // The same, followed by S^-1 <- S^-1 + precision * x x'. Call `check` and `admit` first.
  virtual double narrow(const Instance& x, double precision) = 0;

  // Sx of the last `aim` or `narrow`, which must have been called with x.
  virtual Instance direction(const Instance& x) const = 0;
  // Its bias coordinate.
  double bias() const { return bias_; }

  // A lower bound on x'Sx: the largest eigenvalue of S^-1 is at most its trace, which is at most 1/variance plus what
  // was added.
  double least_size(double square) const { return 0.999999 * (square + constant2()) / (1 / variance_ + added_); }
  // Smaller precisions change nothing.
  static constexpr double least_precision = 1e-300;
  double largest_variance() const { return variance_; }

  // `precision`, reduced to what S can still hold. (With noisy labels CW keeps increasing the precision.)
  double most(double precision, double square) const {
    const double room = (largest_ratio / variance_ - added_) / (square + constant2());
    return std::max(0.0, std::min({precision, largest_precision, 0.5 * room}));
  }
  // Throws if S could leave the range of float64: variances stay above 1e-120 of their start, norms of instances below
  // 1e50.
  void check(double precision, double square) const {
    if (!(square <= largest_square))
      throw InputError("the instance is too large for this geometry: its squared norm is more than 1e100");
    if (!(precision <= largest_precision))
      throw InputError("the sample weight over covariance_regularizer is too large for this geometry: it is above 1e100");
    if (!((added_ + precision * (square + constant2())) * variance_ <= largest_ratio))
      throw InputError("the covariance would become too small to be held in float64 (below 1e-120 of its start)");
  }
  // Call this after `check` and before `narrow`: nothing throws afterwards.
  void admit(double precision, double square) { added_ += precision * (square + constant2()); }

  virtual void begin() { added_before_ = added_; }
  virtual void commit() {}
  virtual void rollback() { added_ = added_before_; }

  // The state for saving and restoring. `restore` throws if it is not a valid covariance.
  virtual std::vector<double> save() const = 0;
  virtual void restore(const double* state, std::size_t size, std::size_t columns) = 0;
  virtual std::size_t bytes() const = 0;
  double added() const { return added_; }
  void set_added(double added) { added_ = added; }

  // The variances of all coordinates (first the bias, if there is one), and for a full covariance the unit upper
  // triangular matrix U, row by row: S = U D U'.
  struct Factors {
    std::vector<double> d, u;
  };
  virtual Factors factors() const = 0;

 protected:
  // `constant`: the bias coordinate of every instance; 0 without one. S starts as variance * I.
  Shape(double constant, double variance) : constant_(constant), variance_(variance) {}

  double constant2() const { return constant_ * constant_; }
  std::size_t bias_count() const { return constant_ == 0 ? 0 : 1; }

  static constexpr double largest_square = 1e100, largest_precision = 1e100, largest_ratio = 1e120;

  double constant_, variance_;
  double bias_ = 0;
  double added_ = 0;  // an upper bound on what was added to the trace of S^-1
  double added_before_ = 0;
};

}  // namespace hinge
