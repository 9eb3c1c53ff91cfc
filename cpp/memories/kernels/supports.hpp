// w as a combination of instances, w = sum_i c_i x_i, in the space of a kernel (S8): scores are sums of kernel values.
//
// Learning looks ahead: the kernel values of a block of upcoming rows, with the supports and with each other, are
// computed as matrix products. The rounds then run one by one on these numbers. When a row becomes a support, or a
// support is removed, one number changes in each upcoming row. Kernel values are bit-identical however they are
// computed, and scores are sums in the order of the supports, so blocks and single examples give the same bits.
//
// One lane: c = scale * v (uniclass decays all of them). Many lanes: one row of coefficients per support. Ordinal
// regression has one w for all lanes (the sum of the amounts) and thresholds b; each support records its contribution
// to the thresholds. The average is lazy, as in Weights: A = alpha * v + u, the sum of the tallied c.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../data/batch.hpp"
#include "kernel.hpp"
#include "kernel_rows.hpp"
#include "../arithmetic/lane_sums.hpp"
#include "../memory.hpp"
#include "row_products.hpp"
#include "vectors.hpp"

namespace hinge {

class Budget;

class Supports : public Memory, public SupportNumbers {
 public:
  struct Kind {
    Kernel kernel;
    bool shared = false;     // ordinal: one w for all lanes, and thresholds
    bool sorted = false;     // the thresholds are sorted after each move
    bool distances = false;  // uniclass
    double start = 0;        // uniclass: the start of the coordinate for a learned radius (S7)
    bool averaging = false;
    bool keeps_values = false;  // keep the kernel values among the supports, for a budget
    double max_bytes = 0;
  };

  ~Supports() override;
  std::size_t count() const { return numbers.size(); }
  const Kind& kind() const { return kind_; }
  std::size_t lanes() const override { return biases.size(); }
  // The number of coefficients per support.
  std::size_t held() const { return kind_.shared ? 1 : lanes(); }
  std::size_t dimension() const override { return columns_; }
  void resize(std::size_t dimension) override { columns_ = dimension; }
  void set_constant(double constant) override {
    Memory::set_constant(constant);
    kind_.kernel.constant = constant2_;
  }

  // New lanes start at 0; dropped lanes must never have moved.
  void widen(std::size_t lanes);
  // Converts two classes with one w to two lanes: half of w for one, half against the other.
  void split();
  // w <- -w: swaps the two classes.
  void negate();

  // ---- reading ------------------------------------------------------------------------------------------------------

  // Computes the kernel values of `count` rows of batch.order, starting at `from`.
  virtual void look_ahead(const Batch& batch, std::size_t from, std::size_t count) = 0;
  virtual void look_ahead(const Instance& x) = 0;
  void forget_rows() override { passes_.clear(); }
  // How many kernel values a step computes in addition.
  std::size_t values_per_step() const { return passes_.count(); }
  // Reads row `row` of the block that was looked ahead.
  Reading look(std::size_t row, Reads reads, double* scores);
  double itself() const { return ahead_.itself[current_]; }
  // The scores of the current row without support i. `own` is w.x_i (uniclass).
  void look_without(std::size_t i, double own, double* scores);
  // w.x of the current row, one per lane.
  const double* products() const { return products_.data(); }
  // K(support, x).
  double kernel(std::size_t i) const { return ahead_.of(current_)[i]; }

  // Kernel values of several rows without learning, and whether each row is in order.
  virtual void look_at(const Rows& rows, std::size_t from, std::size_t count, KernelRows& into) const = 0;
  virtual void look_at(const Instance& x, KernelRows& into) const = 0;
  Reading read_row(const KernelRows& rows, std::size_t row, bool averaged, const std::vector<double>& coefficients,
                   Reads reads, double* scores) const;
  // The coefficients behind the scores: v, or the sums of the average.
  std::vector<double> coefficients(bool averaged) const;
  Reading read(const Instance& x, Reads reads, double* scores) const override {
    return read_one(x, false, reads, scores);
  }
  Reading read_average(const Instance& x, Reads reads, double* scores) const override {
    return read_one(x, true, reads, scores);
  }

  // The scores of support i without its own contribution; `products` are w.x_i.
  void scores_without(std::size_t i, const double* products, double* scores) const;

  // Uniclass: w is a mixture of the supports and the origin. Without support i it is (w - c_i x_i)/(1 - c_i), or
  // w - c_i x_i if nothing is left. If support i dominates, the difference would cancel, so the others are summed
  // instead.
  bool is_most(std::size_t i) const { return coefficient(i, 0) > shares_ / 2; }
  double rest_without(std::size_t i) const {
    const double rest = all_without(i);
    return rest < nothing_left ? 1 : rest;
  }
  double coefficient(std::size_t i, std::size_t lane) const { return now.scale * v[i * stride_ + lane]; }
  double averaged_coefficient(std::size_t i, std::size_t lane) const {
    const std::size_t at = i * stride_ + lane;
    return now.tallied == 0 ? coefficient(i, lane) : (now.alpha * v[at] + u[at]) / static_cast<double>(now.tallied);
  }
  double itself_of(std::size_t i) const { return itself_[i]; }
  // K(support i, support j).
  const double* values_of(std::size_t i) const { return values_.data() + i * room_; }
  virtual SparseVector vector(std::size_t i) const = 0;
  virtual double value(std::size_t i, std::size_t column) const = 0;
  void check_room(std::size_t /*dimension*/) const override {}  // `max_cache` limits the supports instead

  // ---- moving -------------------------------------------------------------------------------------------------------

  // The number of the example to learn, and whether it may already be a support (several passes).
  void number(std::int64_t number, bool may_be_known);
  std::size_t known() const { return known_; }

  // Reserves memory for the current row as a support, so that `move` does not allocate. `replacing`: a support is
  // removed first.
  void admit(double amount, double decay, double /*square*/) override { make_room(amount, decay, false); }
  void make_room(double amount, double decay, bool replacing);

  void move(const double* amounts, double decay, const Instance& /*x*/) override;
  void move_along(const double*, const Instance&, double) override { throw InputError("a kernel has no directions"); }

  // Removes support i; the last one takes its place. `own` is w.x_i (uniclass).
  void remove(std::size_t i, double own);

  void tally() override;

  // ---- all or nothing -----------------------------------------------------------------------------------------------

  // The numbers are copied; of the vectors, only removed ones.
  void begin(std::size_t stored) override;
  void commit() override;
  void rollback() override;

  // Replaces the vectors, and recomputes what depends on them: kernel values, unless these are `known`.
  virtual void hold(const std::vector<SparseVector>& vectors, bool known) = 0;

  // sum_i c_i x_i in a column: w, for a linear kernel.
  double weight(std::size_t column, std::size_t lane, bool averaged) const override {
    double sum = 0;
    for (std::size_t i = 0; i < count(); ++i) {
      const std::size_t its = kind_.shared ? 0 : lane;
      sum += (averaged ? averaged_coefficient(i, its) : coefficient(i, its)) * value(i, column);
    }
    return sum;
  }
  bool touched(std::size_t column) const override {
    for (std::size_t i = 0; i < count(); ++i)
      if (value(i, column) != 0) return true;
    return false;
  }
  bool lane_moved(std::size_t lane) const override {
    for (std::size_t i = 0; i < count(); ++i)
      if (coefficient(i, lane) != 0) return true;
    return false;
  }
  // The weight of the constant feature: a threshold, the coordinate of a learned radius, or the intercept.
  double bias(std::size_t lane, bool averaged) const override {
    averaged = averaged && now.tallied > 0;
    if (kind_.shared || kind_.distances)
      return averaged ? bias_sums[lane] / static_cast<double>(now.tallied) : biases[lane];
    double sum = 0;
    for (std::size_t i = 0; i < count(); ++i)
      sum += averaged ? averaged_coefficient(i, lane) : coefficient(i, lane);
    return constant_ * sum;
  }
  void start_at(const double*, std::size_t, const double*) override {
    throw InputError("a kernel has no weights to start at");
  }

  std::unique_ptr<Budget> budget;  // nullptr: all supports are kept

  std::size_t stride() const { return stride_; }
  double weight_bound() const { return weight_bound_; }
  double largest_weight() const override {
    double largest = 0;
    for (const double c : v) largest = std::max(largest, std::abs(now.scale * c));
    for (const double bias : biases) largest = std::max(largest, std::abs(bias));
    return largest;
  }
  // Call this after the arrays are restored.
  void check_restored(double bound, const std::vector<SparseVector>& vectors);

 protected:
  Supports(Kind kind, std::size_t lanes);
  virtual void reserve_vector(std::size_t row) = 0;  // one of the rows ahead
  virtual void add_vector(std::size_t row) = 0;
  virtual void remove_vector(std::size_t i) = 0;
  virtual void compare_rows_ahead() = 0;  // computes the kernel values among the rows ahead, unless they are known
  virtual double bytes_with(std::size_t row) const = 0;
  // In passes over the same rows: the kernel values of the current row with all of them.
  virtual RowProducts::Kernels kernels_with_rows() = 0;

  void grow(std::size_t count);

  Kind kind_;
  std::size_t columns_ = 0;
  KernelRows ahead_;
  std::size_t current_ = 0;
  RowProducts passes_;
  std::int64_t number_ = 0;  // of the current example
  std::size_t known_ = none;  // the index of the current example, if it is already a support
  std::vector<double> values_;            // room x room: the kernel values among the supports
  std::size_t room_ = 0;

 private:
  static constexpr double largest = 1e300;
  static constexpr double smallest_scale = 0x1p-256;

  bool averaging() const { return kind_.averaging; }

  // sums[r] = sum_i kernels[i] c[i][r], in the order of the supports.
  void sum_up(const std::vector<double>& c, const double* kernels, double* sums) const {
    std::fill_n(sums, stride_, 0.0);
    if (count() > 0) lane_sums(c.data(), stride_, DenseFeatures<double>{kernels, count()}, sums);
  }

  // Computes what the rule reads from w.x.
  Reading finish(const double* products, const std::vector<double>& its_biases, double norm2, double itself,
                 double square, Reads reads, double* scores) const;

  Reading read_one(const Instance& x, bool averaged, Reads reads, double* scores) const;

  // The scores at x without support i: `products` are those of the others with x, `own` is w.x_i (uniclass).
  void scores_of_others(std::size_t i, double own, const double* products, double itself, double* scores) const;

  // A.x of the current row; A is the sum of the tallied w.
  double sum_of_average() const;

  // Appends the current row as a support, with coefficients 0.
  std::size_t append();

  static constexpr double nothing_left = 1e-9;
  double all_without(std::size_t i) const;
  void sum_up_shares();
  double norm2_without(std::size_t i, double own) const;

  void shrink(double decay) {
    now.scale *= decay;
    fold_if_needed();
  }
  // v = c/scale must stay in range, and alpha * v and u of the average must not cancel.
  void fold_if_needed();

  std::vector<double> spread(const std::vector<double>& narrow, std::size_t stride) const;
  template <class Number>
  static void reserve(std::vector<Number>& numbers, std::size_t count) {
    if (count > numbers.capacity()) numbers.reserve(std::max(count, 2 * numbers.capacity()));
  }
  template <class Number>
  static void take_last(std::vector<Number>& numbers, std::size_t i, std::size_t each) {
    if (each == 0) return;
    std::copy_n(numbers.data() + numbers.size() - each, each, numbers.data() + i * each);
    numbers.resize(numbers.size() - each);
  }
  SparseVector found_vector(std::int64_t age) const;

  std::size_t stride_ = 0;
  std::vector<double> products_;  // w.x of the current row
  RowProducts::Kernels kernels_;  // in passes over the same rows: those of the current row with all rows
  double shares_ = 1;  // uniclass: the sum over the origin and all supports; 1 up to rounding

  struct Before {
    SupportNumbers numbers;
    double weight_bound = 0;
    std::vector<double> values;  // custom kernels only
    std::size_t room = 0;
  };
  Before before_;
  struct Buried {
    std::int64_t age;
    SparseVector vector;
  };
  std::vector<Buried> buried_;  // supports that existed when the batch began, and were removed
  bool journaling_ = false;
};

}  // namespace hinge

#include "supports/moving.hpp"
#include "supports/reading.hpp"
