// Supports: all or nothing, and lanes that are added.
#pragma once

#include "budget.hpp"
#include "supports.hpp"

namespace hinge {

inline Supports::~Supports() = default;

inline void Supports::widen(std::size_t lanes) {
  const std::size_t before = this->lanes(), stride = padded<double>(kind_.shared ? 1 : lanes);
  if (stride > stride_) {
    v = spread(v, stride);
    u = spread(u, stride);
    stride_ = stride;
  }
  passes_.clear();
  products_.resize(stride_);
  bias_sums.resize(lanes, 0.0);
  biases.resize(lanes, kind_.start);
  if (budget) budget->widen(before, lanes);
}

inline void Supports::split() {
  widen(2);
  for (std::vector<double>* c : {&v, &u})
    for (std::size_t i = 0; i < c->size(); i += stride_) {
      (*c)[i + 1] = (*c)[i] / 2;
      (*c)[i] = 0 - (*c)[i + 1];
    }
  if (budget) budget->split();
}

inline void Supports::negate() {
  passes_.clear();
  for (double& c : v) c = 0 - c;
  for (double& c : u) c = 0 - c;
  if (budget) budget->negate();
}

inline void Supports::begin(std::size_t /*stored*/) {
  before_ = Before{numbers, ages, itself_, squares_, v, u, given, biases, bias_sums,
                   now, weight_bound_, sparse, now.insertions, {}, room_};
  // A custom kernel may give another value if it is called again, or raise.
  if (kind_.kernel.kind == Kernel::outside) before_.values = values_;
  buried_.clear();
  journaling_ = true;
  if (budget) budget->begin();
}

inline void Supports::commit() {
  journaling_ = false;
  buried_ = {};
  before_ = {};
  ahead_.count = 0;
  if (budget) budget->commit();
}

inline void Supports::rollback() {
  journaling_ = false;
  std::vector<SparseVector> vectors;
  for (const std::int64_t age : before_.ages) vectors.push_back(found_vector(age));
  numbers = std::move(before_.numbers);
  ages = std::move(before_.ages);
  itself_ = std::move(before_.itself);
  squares_ = std::move(before_.squares);
  v = std::move(before_.v);
  u = std::move(before_.u);
  given = std::move(before_.given);
  biases = std::move(before_.biases);
  bias_sums = std::move(before_.bias_sums);
  now = before_.now;
  weight_bound_ = before_.weight_bound;
  sparse = before_.sparse;
  const bool known = kind_.kernel.kind == Kernel::outside;
  if (known) {
    values_ = std::move(before_.values);
    room_ = before_.room;
  }
  hold(vectors, known);
  sum_up_shares();
  if (budget) budget->rollback();
  commit();
}

}  // namespace hinge
