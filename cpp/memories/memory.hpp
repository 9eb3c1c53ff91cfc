// A memory represents the predictor, and defines the geometry. It never sees labels.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "../data/instance.hpp"
#include "../rules/rule.hpp"

namespace hinge {

// The result of reading an instance.
struct Reading {
  double score = 0;   // w.x, or |x - w|^2 if the rule reads distances; with the bias coordinate. Many
                      // lanes: the sum of their scores, which is not finite if one is not
  double plain = 0;   // the same; a distance without the bias coordinate
  double q = 0;       // the squared size of the direction in which the rule may move
  double square = 0;  // |x|^2, without the bias coordinate
  bool in_order = true;  // if false, the columns are not strictly ascending below x.limit: read again in order

  // The score to report: w.x, or |x - w|.
  double reported(Reads reads) const { return reads == Reads::distance ? std::sqrt(plain) : plain; }
};

class Memory {
 public:
  virtual ~Memory() = default;

  // The memory with the weights: this one, unless it combines another one with a shape.
  virtual Memory& flat() { return *this; }
  // The memory of scaled values: this one, unless it scales them itself.
  virtual Memory& unscaled() { return *this; }

  virtual std::size_t dimension() const = 0;
  virtual std::size_t lanes() const { return 1; }
  // New columns start at 0; dropped columns must never have moved.
  virtual void resize(std::size_t dimension) = 0;

  // Whether the columns of an instance may be unsorted (`Instance::any_order`).
  virtual bool takes_any_order(Reads /*reads*/) const { return false; }
  // The size of the weights in bytes, and its limit.
  virtual std::size_t bytes() const = 0;
  virtual void limit_bytes(double most) { most_bytes_ = most; }
  // Throws if the weights of `dimension` columns would exceed the limit.
  virtual void check_room(std::size_t dimension) const = 0;

  // The score of a single lane is in the reading. Many lanes write their scores to `scores`.
  virtual Reading read(const Instance& x, Reads reads, double* scores) const = 0;
  // The same for the average of the tallied vectors.
  virtual Reading read_average(const Instance& x, Reads reads, double* scores) const = 0;

  // Throws if the next move could make a weight overflow. `amount`: an upper bound of |amount| of every lane.
  virtual void admit(double amount, double decay, double square) {
    const double step = amount * std::sqrt(square + constant2_);
    double bound = decay * weight_bound_ + step;
    if (!(bound <= limit_)) bound = decay * largest_weight() + step;  // the bound may have become loose
    if (!(bound <= limit_)) throw InputError("the step would make a weight larger than the model can hold");
    weight_bound_ = bound;
  }
  // Whether the bound alone suffices for `admit` to pass.
  virtual bool would_admit(double amount, double square) const {
    return weight_bound_ + amount * std::sqrt(square + constant2_) <= limit_;
  }
  // w <- decay * w + amount * x, in each lane.
  virtual void move(const double* amounts, double decay, const Instance& x) = 0;
  // w <- w + amount * direction, in each lane; `bias_value` is the direction's bias coordinate.
  virtual void move_along(const double* amounts, const Instance& direction, double bias_value) = 0;
  // The sizes of the constraints of x, whose squared size is q; nullptr if q determines them.
  virtual const Sizes* sizes(const Instance& /*x*/, double /*q*/) { return nullptr; }
  // Adds the current w to the average.
  virtual void tally() = 0;
  // After several passes over the same rows: drops what was cached about them.
  virtual void forget_rows() {}

  // Transactions: changes after `begin` can be rolled back. `stored` values are to come.
  virtual void begin(std::size_t stored) = 0;
  virtual void commit() = 0;
  virtual void rollback() = 0;

  // A bound on every |weight|, of weights that were put in from elsewhere.
  void set_weight_bound(double bound) { weight_bound_ = bound; }

  // The bias coordinate of every instance. It may change as long as nothing was learned.
  double constant() const { return constant_; }
  virtual void set_constant(double constant) {
    constant_ = constant;
    constant2_ = constant * constant;
  }

  // One weight of a lane, and the lane's bias coordinate (intercept, threshold, or c of a learned radius).
  virtual double weight(std::size_t column, std::size_t lane, bool averaged) const = 0;
  virtual double bias(std::size_t lane, bool averaged) const = 0;
  // All weights of a lane, in the order of the columns.
  virtual void copy_weights(std::size_t lane, bool averaged, double* to) const {
    for (std::size_t i = 0; i < dimension(); ++i) to[i] = weight(i, lane, averaged);
  }

  // Whether anything was learned in a column, and whether a lane has moved.
  virtual bool touched(std::size_t column) const {
    for (std::size_t lane = 0; lane < lanes(); ++lane)
      if (weight(column, lane, false) != 0 || weight(column, lane, true) != 0) return true;
    return false;
  }

  virtual bool lane_moved(std::size_t lane) const {
    for (std::size_t i = 0; i < dimension(); ++i)
      if (weight(i, lane, false) != 0) return true;
    return bias(lane, false) != 0;
  }

  // w has `size` entries per lane, one lane after the other; `biases` has one per lane.
  virtual void start_at(const double* w, std::size_t size, const double* biases) = 0;

  // The largest |weight|: O(dimension). (Files store this: `weight_bound_` depends on the order of the moves.)
  virtual double largest_weight() const = 0;

 protected:
  Memory(double limit, double constant, bool reads_distances)
      : limit_(limit), constant_(constant), constant2_(constant * constant), reads_distances_(reads_distances) {}

  // Throws if `columns` columns with `weights` weights each exceed the limit of `limit_bytes`.
  void check_bytes(std::size_t columns, std::size_t weights) const {
    const double wanted = static_cast<double>(columns) * static_cast<double>(weights) * bytes_each();
    if (!(wanted > most_bytes_)) return;
    throw InputError("the weights would take " + std::to_string(static_cast<std::uint64_t>(wanted)) + " bytes (" +
                  std::to_string(columns) + " features, " + std::to_string(weights) + " weights each); the limit is " +
                  std::to_string(static_cast<std::uint64_t>(most_bytes_)) + " (max_weights)");
  }

  // The bytes per weight, including its part of an average; 0 if there is no limit.
  virtual double bytes_each() const { return 0; }

  double limit_;      // the largest weight allowed
  double constant_;   // the bias coordinate of every instance
  double constant2_;  // its square
  bool reads_distances_;
  double weight_bound_ = 0;  // an upper bound on every |weight|
  double most_bytes_ = std::numeric_limits<double>::infinity();
};

}  // namespace hinge
