// Weights of scaled values: combines a memory with the scales of its columns (scaling.hpp). The memory inside sees a
// stream of scaled instances, and nothing else. To the outside the weights are those of the values as they come.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "arithmetic/sums.hpp"
#include "memory.hpp"
#include "scaling.hpp"

namespace hinge {

class Scaled final : public Memory {
 public:
  explicit Scaled(std::unique_ptr<Memory> inner) : Memory(0, inner->constant(), false), inner_(std::move(inner)) {}

  Memory& flat() override { return inner_->flat(); }
  Memory& unscaled() override { return *inner_; }
  // Replaces the weights (more lanes), and keeps the scales.
  void change_inner(std::unique_ptr<Memory> inner) { inner_ = std::move(inner); }

  Scaling scaling;

  void set_constant(double constant) override {
    Memory::set_constant(constant);
    inner_->set_constant(constant);
  }
  std::size_t dimension() const override { return inner_->dimension(); }
  std::size_t lanes() const override { return inner_->lanes(); }
  std::size_t bytes() const override { return inner_->bytes() + scaling.bytes(); }
  void check_room(std::size_t dimension) const override { inner_->check_room(dimension); }
  void resize(std::size_t dimension) override {
    if (dimension > this->dimension()) check_room(dimension);
    scaling.resize(dimension);  // may throw
    inner_->resize(dimension);
  }
  bool takes_any_order(Reads reads) const override { return inner_->takes_any_order(reads); }

  Reading read(const Instance& x, Reads reads, double* scores) const override {
    return read_scaled(x, [&](const Instance& its) { return inner_->read(its, reads, scores); });
  }
  Reading read_average(const Instance& x, Reads reads, double* scores) const override {
    return read_scaled(x, [&](const Instance& its) { return inner_->read_average(its, reads, scores); });
  }
  // Calls function(x with the scales as they are).
  template <class Function>
  auto with_scaled(const Instance& x, const Function& function) const {
    thread_local Scaling::Values values;  // several threads may read
    return function(scaling.scaled(x, values));
  }

  // Rounds move the memory inside (rounds/scaled.hpp).
  void move(const double* /*amounts*/, double /*decay*/, const Instance& /*x*/) override {}
  void move_along(const double* /*amounts*/, const Instance& /*direction*/, double /*bias_value*/) override {}
  void tally() override { inner_->tally(); }
  void start_at(const double* /*w*/, std::size_t /*size*/, const double* /*biases*/) override {
    throw InputError("scaled weights cannot start at given values (w1): the scales are not known yet");
  }

  void begin(std::size_t stored) override {
    inner_->begin(stored);
    scaling.begin();
  }
  void commit() override {
    inner_->commit();
    scaling.commit();
  }
  void rollback() override {
    inner_->rollback();
    scaling.rollback();
    scaling.resize(inner_->dimension());
  }

  double weight(std::size_t column, std::size_t lane, bool averaged) const override {
    return inner_->weight(column, lane, averaged) / scaling.scale(column);
  }
  double bias(std::size_t lane, bool averaged) const override { return inner_->bias(lane, averaged); }
  bool touched(std::size_t column) const override { return inner_->touched(column) || scaling.has_values(column); }
  double largest_weight() const override { return inner_->largest_weight(); }

 private:
  template <class Function>
  Reading read_scaled(const Instance& x, const Function& read) const {
    if (!visit(x, [](const auto& features) { return in_order(features); })) return Reading{0, 0, 0, 0, false};
    return with_scaled(x, read);
  }

  std::unique_ptr<Memory> inner_;
};

}  // namespace hinge
