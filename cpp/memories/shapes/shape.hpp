// What "close" means where it is not the same in all directions: a covariance S, and with it the distance
// (v-w)' S^-1 (v-w) (M11). One S for all lanes. Directions in which much was learned have become narrow.
//
// A shape knows nothing of weights. It is asked for x'Sx, the squared size of an instance, and for Sx, the direction
// in which an instance moves the weights; and it is told that something was learned in the direction of x:
//     S^-1 <- S^-1 + precision * x x'.
// If instances have an extra coordinate (an intercept), S has it too.
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
  // The same, and the direction Sx is known from here on.
  virtual double aim(const Instance& x) = 0;
  // The same, and then S^-1 <- S^-1 + precision * x x'. `check` and `admit` come before.
  virtual double narrow(const Instance& x, double precision) = 0;

  // Sx of the last `aim` or `narrow`, which was given x.
  virtual Instance direction(const Instance& x) const = 0;
  // Its extra coordinate.
  double beside() const { return beside_; }

  // x'Sx is not less than this, whatever S is: the largest eigenvalue of S^-1 is at most its trace, which is
  // at most 1/variance + what was added to it.
  double least_size(double square) const { return 0.999999 * (square + constant2()) / (1 / variance_ + added_); }
  // What is less changes nothing.
  static constexpr double least_precision = 1e-300;
  double largest_variance() const { return variance_; }

  // As much of `precision` as S can still take. (CW may ask for more and more on labels that are noise.)
  double most(double precision, double square) const {
    const double room = (largest_ratio / variance_ - added_) / (square + constant2());
    return std::max(0.0, std::min({precision, largest_precision, 0.5 * room}));
  }
  // Throws if S could leave the numbers: it is held within 1e-120 of its start, in sizes of 1e50 and less.
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

  // The state, to be saved and restored. `restore` throws if no covariance is like that.
  virtual std::vector<double> save() const = 0;
  virtual void restore(const double* state, std::size_t size, std::size_t columns) = 0;
  virtual std::size_t bytes() const = 0;
  double added() const { return added_; }

  // The variances of all coordinates (the extra one first, if there is one), and for a full covariance the unit
  // upper triangular matrix U, row by row: S = U D U'.
  struct Factors {
    std::vector<double> d, u;
  };
  virtual Factors factors() const = 0;

 protected:
  // `constant`: the extra coordinate of every instance, 0 if there is none. S begins as variance * I.
  Shape(double constant, double variance) : constant_(constant), variance_(variance) {}

  double constant2() const { return constant_ * constant_; }
  std::size_t extras() const { return constant_ == 0 ? 0 : 1; }

  static constexpr double largest_square = 1e100, largest_precision = 1e100, largest_ratio = 1e120;

  double constant_, variance_;
  double beside_ = 0;
  double added_ = 0;  // to the trace of S^-1, at most
  double added_before_ = 0;
};

}  // namespace hinge
