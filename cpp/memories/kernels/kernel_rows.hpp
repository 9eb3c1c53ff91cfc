// What supports keep besides their vectors: coefficients, and kernel values of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vectors.hpp"

namespace hinge {

// So many rows are looked at together.
inline constexpr std::size_t together = 64;

// Kernel values of rows, one row after the other.
struct KernelRows {
  std::size_t count = 0, stride = 0;
  std::vector<double> with_supports;  // count x stride: K(x_row, support)
  std::vector<double> with_rows;      // count x count: K(x_row, x_other); only if a row becomes a support
  bool knows_rows = false;            // whether they are there
  std::vector<double> itself;         // K(x, x)
  std::vector<double> squares;        // |x|^2
  std::vector<std::size_t> numbers;   // in passes over the same rows: which of them these are
  std::vector<char> in_order;         // else it is rejected when its turn comes

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

// Everything but the arrays.
struct SupportScalars {
  double scale = 1;
  double alpha = 0;
  double norm2 = 0;        // |w|^2, for distances
  double sum_norm2 = 0;    // |A|^2 of the sum of the tallied w, for distances
  double sum_product = 0;  // A.w
  double origin = 1;       // uniclass: the share of the origin in w; the other shares are the coefficients
  std::int64_t tallied = 0, insertions = 0, removals = 0;
};

// The numbers of the supports, one after the other. A rollback restores a copy of them; a model file has them.
class SupportNumbers {
 public:
  std::vector<std::int64_t> numbers;  // of the examples
  std::vector<std::int64_t> ages;     // the order of insertion
  std::vector<double> v;              // count x stride: the coefficients, over the scale
  std::vector<double> u;              // the same for the average
  std::vector<double> given;          // ordinal: what each support gave to each threshold
  std::vector<double> biases, bias_sums;
  SupportScalars now;
  bool sparse = false;  // whether the first support came as a sparse row

 protected:
  std::vector<double> itself_, squares_;  // K(x, x) and |x|^2 of each
};

// A custom kernel: a function of two sets of vectors.
class CustomKernel {
 public:
  virtual ~CustomKernel() = default;
  // values[i * stride + j] = K(x_i, z_j). `sparse`: how the model's instances came; `version` changes with the others.
  virtual void values(const std::vector<SparseVector>& rows, const std::vector<SparseVector>& others, std::size_t width,
                      bool sparse, double* values, std::size_t stride) = 0;
};

}  // namespace hinge
