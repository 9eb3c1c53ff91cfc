// Supports: all or nothing, restored states, and lanes that are added.
#pragma once

#include "../budget.hpp"
#include "../supports.hpp"

namespace hinge {

// An average is a sum over rounds, of which there are fewer than 2^62. (Weights need no such limit: their sums of squares
// are part of the progress of the statistics, which is finite.)
inline Supports::Supports(Kind kind, std::size_t lanes)
    : Memory(kind.averaging ? largest * 0x1p-63 : largest, 0, kind.distances), kind_(kind) {
  widen(lanes);
}

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
  before_ = {*this, weight_bound_, {}, room_};
  // A custom kernel may give another value if it is called again, or raise.
  if (kind_.kernel.kind == Kernel::custom) before_.values = values_;
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
  for (const std::int64_t age : before_.numbers.ages) vectors.push_back(found_vector(age));
  static_cast<SupportNumbers&>(*this) = std::move(before_.numbers);
  weight_bound_ = before_.weight_bound;
  const bool known = kind_.kernel.kind == Kernel::custom;
  if (known) {
    values_ = std::move(before_.values);
    room_ = before_.room;
  }
  hold(vectors, known);
  sum_up_shares();
  if (budget) budget->rollback();
  commit();
}

inline void Supports::check_restored(double bound, const std::vector<SparseVector>& vectors) {
  weight_bound_ = std::max(bound, largest_weight());
  itself_.assign(count(), 0);
  squares_.assign(count(), 0);
  hold(vectors, false);
  sum_up_shares();
  const auto finite = [](double square) { return std::isfinite(square); };
  const bool fits = std::all_of(squares_.begin(), squares_.end(), finite);
  if (!fits || !(weight_bound_ <= limit_)) throw InputError("the supports are larger than the model can hold");
}

inline std::vector<double> Supports::spread(const std::vector<double>& narrow, std::size_t stride) const {
  if (stride_ == 0) return {};
  std::vector<double> wide(narrow.size() / stride_ * stride);
  for (std::size_t i = 0; i < narrow.size() / stride_; ++i)
    std::copy_n(narrow.data() + i * stride_, stride_, wide.data() + i * stride);
  return wide;
}

inline SparseVector Supports::found_vector(std::int64_t age) const {
  for (const auto& [its_age, vector] : buried_)
    if (its_age == age) return vector;
  return vector(static_cast<std::size_t>(std::find(ages.begin(), ages.end(), age) - ages.begin()));
}

}  // namespace hinge
