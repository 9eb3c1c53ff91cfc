// Scaling online: each value is divided by the root mean square of the values other than 0 that its column has had so
// far. Zeros stay zeros. The learner sees a stream of scaled instances, so every theorem holds for that stream.
//
// A round meets an instance: its scaled values include the present ones in the scales, and nothing changes. Once the
// round has passed all checks, `keep` makes these scales those of the columns. Predictions use the scales as they are.
//
// All instances given must have their columns in order (`in_order` in arithmetic/sums.hpp), or distinct (`any_order`).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "../data/instance.hpp"
#include "arithmetic/buffer.hpp"
#include "arithmetic/lane_sums.hpp"
#include "arithmetic/sums.hpp"
#include "arithmetic/undo.hpp"

namespace hinge {

class Scaling {
 public:
  using Values = std::vector<double>;  // room for the values of a scaled instance; each thread has its own

  Scaling() = default;
  Scaling(const Scaling&) = delete;  // its undo log points to it
  Scaling& operator=(const Scaling&) = delete;

  std::size_t columns() const { return sums_.size() / 2; }
  // New columns have had no values; dropped columns must have had none.
  void resize(std::size_t columns) { sums_.resize(2 * columns); }
  std::size_t bytes() const { return sums_.bytes(); }

  // By what the values of a column are divided: 1 if it has had none, or if their mean square underflows.
  double scale(std::size_t column) const {
    return column < columns() ? scale_of(sums_[2 * column], sums_[2 * column + 1]) : 1;
  }

  bool has_values(std::size_t column) const { return column < columns() && sums_[2 * column] > 0; }

  // x with the scales as they are. The result is valid as long as x and `values` are. Columns may be new.
  Instance scaled(const Instance& x, Values& values) const {
    values.resize(x.size);
    visit(x, [&](const auto& features) {
      for (std::size_t j = 0; j < features.size; ++j) values[j] = features.value(j) / scale(features.column(j));
    });
    return with_values(x, values);
  }

  // x with scales that include its own values. The result is valid until the next call, as long as x is. Every column
  // must be below `columns`. Throws if a value or the sum of the squares of a column is not finite.
  Instance meet(const Instance& x) {
    values_.resize(x.size);
    met_ = x;
    bool finite = true;
    visit(x, [&](const auto& features) {
      std::size_t j = 0;
      for (; j + 2 <= features.size; j += 2) {  // two at a time: roots and divisions take most of the time
        prefetch_sums(features, j), prefetch_sums(features, j + 1);
        const double *const a = at(features, j), *const b = at(features, j + 1);
        const Pair value = two_values(features, j), there{double(value[0] != 0), double(value[1] != 0)};
        const Pair count = Pair{a[0], b[0]} + there, sum = Pair{a[1], b[1]} + value * value;
        finite &= sum[0] <= largest && sum[1] <= largest;
        divide(value, count, sum, values_.data() + j);
      }
      for (; j < features.size; ++j) {
        const double value = features.value(j), sum = at(features, j)[1] + value * value;
        finite &= sum <= largest;
        values_[j] = value / scale_of(at(features, j)[0] + (value != 0), sum);
      }
    });
    if (!finite) [[unlikely]] reject(x);
    return with_values(x, values_);
  }

  // The values of the instance that was met last count from now on. While a batch is journaled this may throw
  // (out of memory); then nothing has changed.
  void keep() {
    visit(met_, [&](const auto& features) {
      undo_.note(2 * features.size, [&](const auto& note) {
        for (std::size_t j = 0; j < features.size; ++j) note(2 * features.column(j)), note(2 * features.column(j) + 1);
      });
      for (std::size_t j = 0; j < features.size; ++j) {
        const double value = features.value(j);
        double* const sums = sums_.data() + 2 * features.column(j);
        sums[0] += value != 0;
        sums[1] += value * value;
      }
    });
  }

  // Changes after `begin` can be rolled back.
  void begin() { undo_.begin(); }
  void commit() { undo_.commit(); }
  void rollback() { undo_.rollback(); }

  // Two numbers per column: how many values other than 0 it has had, and the sum of their squares.
  std::vector<double> save() const { return std::vector<double>(sums_.data(), sums_.data() + sums_.size()); }
  void restore(const double* state, std::size_t size) {
    if (size % 2 != 0) throw InputError("the scales of the columns do not come in pairs");
    for (std::size_t i = 0; i < size; i += 2)
      if (!is_valid(state[i], state[i + 1])) throw InputError("the scale of a column is invalid");
    sums_ = Buffer<double>();
    sums_.resize(size);
    std::copy_n(state, size, sums_.data());
  }

 private:
  static constexpr double least = std::numeric_limits<double>::min(), largest = std::numeric_limits<double>::max();
  static double scale_of(double count, double sum) {
    const double mean = sum / count;  // NaN for a column without values
    return mean >= least ? std::sqrt(mean) : 1;
  }
  template <class Features>
  const double* at(const Features& features, std::size_t j) const {
    return sums_.data() + 2 * features.column(j);
  }
  // Those of the next instance: the columns of sparse instances are far apart.
  template <class Features>
  void prefetch_sums(const Features& x, std::size_t j) const {
    if constexpr (requires { x.columns; })
      HINGE_PREFETCH(reinterpret_cast<const char*>(weights_ahead(sums_.data(), 2, x, j + x.size)));
  }
  // Two values, each by its scale.
  static void divide(const Pair& value, const Pair& count, const Pair& sum, double* to) {
#if defined(__SSE2__)
    const Pair mean = sum / count;
    if (mean[0] >= least && mean[1] >= least) [[likely]] {
      const Pair scaled = value / Pair(_mm_sqrt_pd(mean));
      std::memcpy(to, &scaled, sizeof scaled);
      return;
    }
#endif
    for (int i = 0; i < 2; ++i) to[i] = value[i] / scale_of(count[i], sum[i]);
  }
  static bool is_valid(double count, double sum) {
    const bool whole = count >= 0 && count <= 0x1p53 && count == std::floor(count);
    return whole && sum >= 0 && std::isfinite(sum) && (count > 0 || sum == 0);
  }

  static Instance with_values(Instance x, const Values& values) {
    x.values = values.data();
    x.precision = Precision::double_;
    x.stride = 1;
    if (x.layout == Layout::strided) x.layout = Layout::dense;
    return x;
  }

  HINGE_APART void reject(const Instance& x) const {
    reject_bad_values(x, none);
    visit(x, [&](const auto& features) {
      for (std::size_t j = 0; j < features.size; ++j) {
        const double value = features.value(j);
        if (std::isinf(sums_[2 * features.column(j) + 1] + value * value))
          throw InputError("the value is too large: the sum of the squares of its column overflows float64", none,
                           features.column(j));
      }
    });
  }

  Buffer<double> sums_;  // of column i: 2i the number of its values other than 0, 2i + 1 the sum of their squares
  Undo<double> undo_{sums_};
  Values values_;  // of the instance that was met last, scaled
  Instance met_;   // the same, as given
};

}  // namespace hinge
