// Kernel values of rows with the supports, kept from one pass over the same rows to the next (`Batch::repeats`).
//
// Supports without a budget are only appended, so what a row knows stays right: a pass computes its kernel values with the
// supports that have come since its last visit. The values are those that would be computed again, to the bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "../batch.hpp"

namespace hinge {

class KernelCache {
 public:
  // A pass begins. Values are kept from the second one over the same arrays on: in the first one, there are few supports
  // when most of the rows come.
  void begin_pass(const Batch& batch) {
    const bool again = batch.repeats && arrays_ && arrays_->same_as(*batch.rows);
    if (!again) clear();
    if (!again && batch.repeats) arrays_ = *batch.rows;
    if (again && !full_) rows_.resize(batch.rows->count());
  }
  void clear() {
    arrays_.reset();
    rows_ = {};
    bytes_ = 0;
    full_ = false;
  }

  bool keeps() const { return !rows_.empty(); }
  // The kernel values of a row with the first supports.
  const std::vector<double>& of(std::size_t row) const { return rows_[row]; }

  // Beyond `most` bytes nothing is kept: rows are visited in another order in each pass, so that some would not help.
  void keep(std::size_t row, const double* values, std::size_t count, double most) {
    if (!keeps() || rows_[row].size() >= count) return;
    bytes_ += static_cast<double>((count - rows_[row].size()) * sizeof(double));
    if (bytes_ > most) {
      rows_ = {};
      full_ = true;
      return;
    }
    rows_[row].reserve(count);
    rows_[row].assign(values, values + count);
  }

 private:
  std::optional<Rows> arrays_;
  std::vector<std::vector<double>> rows_;
  double bytes_ = 0;
  bool full_ = false;
};

}  // namespace hinge
