// For several passes over the same rows (`Batch::repeats`): w.x of every row is cached and updated at every step, as
// solvers for support vector machines do.
//
// A step that changes a coefficient c_i by d changes w.x_r by d K(x_i, x_r) in every row r. So a step costs O(rows),
// and a round without a step O(1); a sum over all supports would cost O(supports). The kernel values of a support with
// all rows are computed at its first step, and cached while there is room.
//
// These sums agree with those over the supports up to rounding, but not bit for bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "../../data/rows.hpp"
#include "../arithmetic/buffer.hpp"
#include "../arithmetic/sums.hpp"

namespace hinge {

class RowProducts {
 public:
  // Starts passes over `rows`, at w = 0. `most`: the limit of `kept_bytes`.
  void begin(const Rows& rows, std::size_t lanes, double most) {
    clear();
    count_ = rows.count();
    most_ = most;
    sums_.assign(lanes * count_, 0.0);
    supports_.assign(count_, none);
    arrays_ = rows;
  }
  void clear() { *this = RowProducts(); }

  bool on() const { return arrays_.has_value(); }
  bool are_of(const Rows& rows) const { return on() && arrays_->same_as(rows); }
  // The number of cached rows; 0 if the cache is off.
  std::size_t count() const { return count_; }
  // The size of the kernel values in bytes.
  std::size_t kept_bytes() const {
    std::size_t bytes = 0;
    for (const Buffer<double>& block : blocks_) bytes += block.bytes();
    return bytes;
  }
  static double bytes(std::size_t rows, std::size_t lanes) {
    return static_cast<double>(rows) * static_cast<double>(8 * (lanes + 2));
  }

  // sum_i v_i K(x_i, x_row) in a lane.
  double sum(std::size_t row, std::size_t lane) const { return sums_[lane * count_ + row]; }
  // The support that a row has become, or `none`.
  std::size_t support_of(std::size_t row) const { return supports_[row]; }
  void became(std::size_t row, std::size_t support) { supports_[row] = support; }

  // The kernel values of a support with all rows, and the largest absolute value among them.
  struct Kernels {
    const double* values = nullptr;
    double largest = 0;
  };
  // The values of a support, or nullptr if they are not cached.
  Kernels kernels_of(std::size_t support) const { return support < kept_.size() ? kept_[support] : Kernels(); }
  // Caches a copy, if there is room.
  Kernels keep(std::size_t support, const double* values) {
    Kernels kernels{values, largest_of(values)};
    const double bytes = 8 * static_cast<double>(count_);
    if (bytes > most_) return kernels;
    if (support >= kept_.size()) kept_.resize(std::max(support + 1, 2 * kept_.size()));
    double* const place = room();
    std::copy_n(values, count_, place);
    kernels.values = place;
    most_ -= bytes;
    return kept_[support] = kernels;
  }

  // Updates the sums after the coefficient of a support has changed by `step` in a lane.
  void add(std::size_t lane, double step, const double* kernels) {
    if (step != 0) hinge::add(sums_.data() + lane * count_, DenseFeatures<double>{kernels, count_}, step);
  }
  void scale(double factor) {
    for (double& sum : sums_) sum *= factor;
  }

 private:
  // The largest absolute value; four at a time, because each comparison waits for the previous one.
  double largest_of(const double* values) const {
    double largest[4] = {};
    for (std::size_t i = 0; i < count_; ++i) largest[i % 4] = std::max(largest[i % 4], std::abs(values[i]));
    return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
  }
  // Rows of kernel values share large blocks, which take few pages. A block has no more rows than may be kept; there is
  // room for at least one.
  double* room() {
    if (blocks_.empty() || used_ == rows_of_block_) {
      const double bytes = 8 * static_cast<double>(count_);
      rows_of_block_ = static_cast<std::size_t>(std::max(1.0, std::min(block_bytes, most_) / bytes));
      blocks_.emplace_back();
      blocks_.back().resize(rows_of_block_ * count_);
      blocks_.back().expect_use();
      used_ = 0;
    }
    return blocks_.back().data() + count_ * used_++;
  }

  static constexpr double block_bytes = 8 << 20;
  std::optional<Rows> arrays_;
  std::size_t count_ = 0;
  double most_ = 0;  // bytes that may still be used for kernel values
  std::vector<double> sums_;                // one array per lane, each with all rows
  std::vector<std::size_t> supports_;       // one per row
  std::vector<Kernels> kept_;               // one per support, in `blocks_`
  std::vector<Buffer<double>> blocks_;
  std::size_t rows_of_block_ = 0, used_ = 0;  // in the last block
};

}  // namespace hinge
