// Several passes over the same rows (`Batch::repeats`): w.x of every row is kept and changes with every step, as solvers of
// support vector machines do.
//
// A step that changes a coefficient c_i by d changes w.x_r by d K(x_i, x_r) in every row r. So a step costs O(rows), and a
// row that needs none costs O(1), where a sum over all supports would cost O(supports). The kernel values of a support with
// all rows are computed at its first step, and kept as long as there is room for them.
//
// These sums agree with those over the supports to rounding, not to the bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "../rows.hpp"
#include "sums.hpp"

namespace hinge {

class RowProducts {
 public:
  // Passes over `rows` begin, at w = 0. `most`: how many bytes of kernel values may be kept.
  void begin(const Rows& rows, std::size_t lanes, double most) {
    clear();
    count_ = rows.count();
    most_ = most;
    sums_.assign(lanes * count_, 0.0);
    supports_.assign(count_, none);
    computed_.resize(count_);
    arrays_ = rows;
  }
  void clear() { *this = RowProducts(); }

  bool on() const { return arrays_.has_value(); }
  bool are_of(const Rows& rows) const { return on() && arrays_->same_as(rows); }
  // How many rows are followed; 0 if none are.
  std::size_t count() const { return count_; }
  static double bytes(std::size_t rows, std::size_t lanes) {
    return static_cast<double>(rows) * static_cast<double>(8 * (lanes + 2));
  }

  // sum_i v_i K(x_i, x_row) of a lane.
  double sum(std::size_t row, std::size_t lane) const { return sums_[lane * count_ + row]; }
  // The support that a row has become, or none.
  std::size_t support_of(std::size_t row) const { return supports_[row]; }
  void became(std::size_t row, std::size_t support) { supports_[row] = support; }

  // Where the kernel values of a support with all rows lie, or belong if there are none yet. They are kept if there is room.
  struct Place {
    double* values;
    bool known;
  };
  Place kernels_of(std::size_t support) {
    if (support < kept_.size() && !kept_[support].empty()) return {kept_[support].data(), true};
    const double bytes = 8 * static_cast<double>(count_);
    if (bytes > most_) return {computed_.data(), false};
    if (support >= kept_.size()) kept_.resize(std::max(support + 1, 2 * kept_.size()));
    kept_[support].resize(count_);
    most_ -= bytes;
    return {kept_[support].data(), false};
  }

  // The coefficient of a support has changed by `step` in a lane.
  void add(std::size_t lane, double step, const double* kernels) {
    if (step != 0) hinge::add(sums_.data() + lane * count_, DenseFeatures<double>{kernels, count_}, step);
  }
  void scale(double factor) {
    for (double& sum : sums_) sum *= factor;
  }

 private:
  std::optional<Rows> arrays_;
  std::size_t count_ = 0;
  double most_ = 0;
  std::vector<double> sums_;                // lane by lane, each with all rows
  std::vector<std::size_t> supports_;       // of each row
  std::vector<std::vector<double>> kept_;   // of each support
  std::vector<double> computed_;            // kernel values that are not kept
};

}  // namespace hinge
