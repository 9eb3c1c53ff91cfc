// Many examples: the rows, their truths and their weights, and how they are to be gone through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "rows.hpp"

namespace hinge {

struct Batch {
  const Rows* rows = nullptr;
  const double* targets = nullptr;      // none: 0 (uniclass), or labels
  const std::int64_t* labels = nullptr;  // the relevant labels of row i: from label_starts[i] to [i + 1]
  const std::int64_t* label_starts = nullptr;
  const double* weights = nullptr;      // none: 1
  const std::int64_t* order = nullptr;  // none: as they lie
  std::size_t count = 0;                // how many, of the rows or of `order`
  double tolerance = -1;                // present only examples with a larger squared loss (S21)
  std::int64_t max_updates = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = -1;              // supports: the number of the first row; less than 0: as they have come
  bool repeats = false;                 // one of several passes over the same rows; supports know them by their numbers
  const std::size_t* dimensions = nullptr;  // named features: how many columns there are once a row is met
  double* scores = nullptr;  // where the scores of each visit go, lane by lane, as they are before its round; none: nowhere
  bool averaged = false;     // whether these are the scores of the average
  std::size_t known = 0;     // for these: how many columns there were before the batch
};

}  // namespace hinge
