// Many examples: rows, truths, weights, and the order in which they are learned.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "rows.hpp"
#include "truth.hpp"

namespace hinge {

struct Batch {
  const Rows* rows = nullptr;
  const double* targets = nullptr;      // nullptr: 0 (uniclass), or `labels`
  const std::int64_t* labels = nullptr;  // the relevant labels of row i: from label_starts[i] to [i + 1]
  const std::int64_t* label_starts = nullptr;
  const double* weights = nullptr;      // nullptr: 1
  const std::int64_t* order = nullptr;  // nullptr: row order
  std::size_t count = 0;                // the number of rows, or the length of `order`
  double tolerance = -1;                // present only examples with a larger squared loss (S21)
  std::int64_t max_updates = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = -1;              // supports: the number of the first row; negative: the examples so far
  bool repeats = false;                 // one of several passes over the same rows; supports identify rows by number
  const std::size_t* dimensions = nullptr;  // named features: the number of columns at each row
  double* scores = nullptr;  // receives the scores of each visit before its round, one per lane; nullptr: not wanted
  bool averaged = false;     // whether `scores` are those of the average
  std::size_t known = 0;     // for `scores`: the number of columns before the batch

  // The i-th row to visit, out of `rows_count`.
  HINGE_INLINE std::size_t row(std::size_t i, std::size_t rows_count) const {
    return order == nullptr ? i : checked(order[i], rows_count);
  }
  HINGE_INLINE double weight(std::size_t row) const { return weights == nullptr ? 1 : weights[row]; }
  HINGE_INLINE Truth truth(std::size_t row) const {
    if (targets != nullptr) return {targets[row]};
    if (labels == nullptr) return {};
    const std::int64_t from = label_starts[row];
    return {0, labels + from, static_cast<std::size_t>(label_starts[row + 1] - from)};
  }
  // The number of updates at which the batch ends, given the number before it.
  std::int64_t last_update(std::int64_t updates) const {
    return std::min(max_updates, std::int64_t{1} << 62) + updates;
  }

 private:
  static std::size_t checked(std::int64_t row, std::size_t count) {
    if (row < 0 || static_cast<std::uint64_t>(row) >= count)
      throw InputError("order names row " + std::to_string(row) + " of " + std::to_string(count));
    return static_cast<std::size_t>(row);
  }
};

}  // namespace hinge
