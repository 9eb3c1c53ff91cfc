// What supports hold besides their vectors: coefficients, and kernel values of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vectors.hpp"

namespace hinge {

// The number of rows that are processed together.
inline constexpr std::size_t together = 64;

// Kernel values of rows, one row after the other.
struct KernelRows {
  std::size_t count = 0, stride = 0;
  std::vector<double> with_supports;  // count x stride: K(x_row, support)
  std::vector<double> with_rows;      // count x count: K(x_row, x_other); computed only if a row becomes a support
  bool knows_rows = false;            // whether with_rows is computed
  std::vector<double> itself;         // K(x, x)
  std::vector<double> squares;        // |x|^2
  std::vector<std::size_t> numbers;   // in passes over the same rows: their row numbers
  std::vector<char> in_order;         // whether the row is valid; an invalid one is rejected in its round

  void make_room(std::size_t rows, std::size_t supports) {
    count = rows;
    stride = supports;
    with_supports.resize(rows * supports);
    knows_rows = false;
    itself.assign(rows, 0);
    squares.resize(rows);
    in_order.resize(rows);
  }
  double* of(std::size_t row) { return with_supports.data() + row * stride; }
  const double* of(std::size_t row) const { return with_supports.data() + row * stride; }
};

// All scalars of the supports.
struct SupportScalars {
  double scale = 1;
  double alpha = 0;
  double norm2 = 0;        // |w|^2, for distances
  double sum_norm2 = 0;    // |A|^2 of the sum of the tallied w, for distances
  double sum_product = 0;  // A.w
  double origin = 1;       // uniclass: the share of the origin in w; the other shares are the coefficients
  std::int64_t tallied = 0, insertions = 0, removals = 0;
};

// The numbers of the supports, in parallel arrays. A rollback restores a copy of them; they are part of a model file.
class SupportNumbers {
 public:
  std::vector<std::int64_t> numbers;  // of the examples
  std::vector<std::int64_t> ages;     // the order of insertion
  std::vector<double> v;              // count x stride: the coefficients, divided by the scale
  std::vector<double> u;              // the same for the average
  std::vector<double> given;          // ordinal: the contribution of each support to each threshold
  std::vector<double> biases, bias_sums;
  SupportScalars now;
  bool sparse = false;  // whether the first support was a sparse row

 protected:
  std::vector<double> itself_, squares_;  // K(x, x) and |x|^2 of each
};

// A custom kernel: a function of two sets of vectors.
class CustomKernel {
 public:
  virtual ~CustomKernel() = default;
  // values[i * stride + j] = K(x_i, z_j). `sparse`: whether the model's instances are sparse rows.
  virtual void values(const std::vector<SparseVector>& rows, const std::vector<SparseVector>& others, std::size_t width,
                      bool sparse, double* values, std::size_t stride) = 0;
};

}  // namespace hinge
