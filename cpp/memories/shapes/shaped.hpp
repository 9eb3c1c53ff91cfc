// Weights in the geometry of a covariance (M11): combines a memory with the weights and a shape.
//
// An instance moves the weights in the direction Sx, and has the squared size x'Sx. That costs much more than a score,
// so it is computed only if the rule would move (rounds/shaped.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "../memory.hpp"
#include "shape.hpp"

namespace hinge {

class Shaped final : public Memory {
 public:
  // `regularizer`: a round of weight 1 adds x x'/regularizer to S^-1. `threshold_step`: how far a move of 1 shifts the
  // thresholds of ordinal regression, which are not part of S; 0 without thresholds.
  Shaped(std::unique_ptr<Memory> flat, std::unique_ptr<Shape> shape, double regularizer, double threshold_step)
      : Memory(0, flat->constant(), false),
        flat_(std::move(flat)),
        shape_(std::move(shape)),
        regularizer_(regularizer),
        threshold_step_(threshold_step) {}

  Memory& flat() override { return *flat_; }
  Shape& shape() { return *shape_; }
  const Shape& shape() const { return *shape_; }
  double regularizer() const { return regularizer_; }
  // Replaces the weights (more lanes), and keeps the shape.
  void change_flat(std::unique_ptr<Memory> flat) { flat_ = std::move(flat); }

  void set_constant(double constant) override {
    Memory::set_constant(constant);
    flat_->set_constant(constant);
    shape_->set_constant(constant);
  }

  std::size_t dimension() const override { return flat_->dimension(); }
  std::size_t lanes() const override { return flat_->lanes(); }
  std::size_t bytes() const override { return flat_->bytes() + shape_->bytes(); }
  void check_room(std::size_t dimension) const override { flat_->check_room(dimension); }
  void resize(std::size_t dimension) override {
    if (dimension > flat_->dimension()) flat_->check_room(dimension);
    shape_->resize(dimension);  // may throw
    flat_->resize(dimension);
  }

  Reading read(const Instance& x, Reads reads, double* scores) const override { return flat_->read(x, reads, scores); }
  Reading read_average(const Instance& x, Reads reads, double* scores) const override {
    return flat_->read_average(x, reads, scores);
  }
  // No coordinate of Sx exceeds the largest variance times |x|. Thresholds move by the amount itself.
  void admit(double amount, double decay, double square) override {
    flat_->admit(amount * std::max(shape_->largest_variance(), std::abs(threshold_step_)), decay, square);
  }
  bool would_admit(double amount, double square) const override {
    return flat_->would_admit(amount * std::max(shape_->largest_variance(), std::abs(threshold_step_)), square);
  }
  // Moves in the last direction that the shape computed, which must be that of x.
  void move(const double* amounts, double /*decay*/, const Instance& x) override {
    flat_->move_along(amounts, shape_->direction(x), threshold_step_ == 0 ? shape_->bias() : threshold_step_);
  }
  void move_along(const double* amounts, const Instance& direction, double bias_value) override {
    flat_->move_along(amounts, direction, bias_value);
  }
  void tally() override { flat_->tally(); }

  void begin(std::size_t stored) override {
    flat_->begin(stored);
    shape_->begin();
  }
  void commit() override {
    flat_->commit();
    shape_->commit();
  }
  void rollback() override {
    flat_->rollback();
    shape_->rollback();
    shape_->resize(flat_->dimension());
  }

  double weight(std::size_t column, std::size_t lane, bool averaged) const override {
    return flat_->weight(column, lane, averaged);
  }
  double bias(std::size_t lane, bool averaged) const override { return flat_->bias(lane, averaged); }
  double largest_weight() const override { return flat_->largest_weight(); }
  void start_at(const double* w, std::size_t size, const double* biases) override {
    shape_->resize(size);
    flat_->start_at(w, size, biases);
  }

 private:
  std::unique_ptr<Memory> flat_;
  std::unique_ptr<Shape> shape_;
  double regularizer_;
  double threshold_step_;
};

}  // namespace hinge
