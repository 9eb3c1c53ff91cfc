// w as a combination of instances, w = sum_i c_i x_i, in the space of a kernel (S8): scores are sums of kernel values.
//
// Learning looks ahead: the kernel values of a block of coming rows, with the supports and with each other, are matrix
// products. Rounds then run one by one on these numbers; a row that becomes a support, or a support that goes, changes
// a number in each row that is still to come. Every kernel value is the same to the bit however it was asked for, and the
// scores are sums in the order of the supports: so are the results.
//
// One lane: c is held as scale * v (uniclass decays all of them). Many lanes: a row of coefficients each. Ordinal
// regression has one w for all lanes, the sum of the amounts, and thresholds b; each support keeps what it gave to them.
// The average is lazy as in Weights: A = alpha * v + u, the sum of the tallied c.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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

class Supports : public Memory {
 public:
  struct Kind {
    Kernel kernel;
    bool shared = false;     // ordinal: one w for all lanes, and thresholds
    bool sorted = false;     // the thresholds are put in order after each move
    bool distances = false;  // uniclass
    double start = 0;        // uniclass: of the coordinate that makes a learned radius (S7)
    bool averaging = false;
    bool keeps_values = false;  // the kernel values among the supports (a budget asks for them)
    double max_bytes = 0;
  };

  std::size_t count() const { return numbers.size(); }
  const Kind& kind() const { return kind_; }
  std::size_t lanes() const override { return extras.size(); }
  // How many coefficients a support has.
  std::size_t held() const { return kind_.shared ? 1 : lanes(); }
  std::size_t dimension() const override { return columns_; }
  void resize(std::size_t dimension) override { columns_ = dimension; }

  // New lanes start at 0; lanes that are given up must never have moved.
  void widen(std::size_t lanes) {
    const std::size_t stride = padded<double>(kind_.shared ? 1 : lanes);
    if (stride > stride_) {
      v = spread(v, stride);
      u = spread(u, stride);
      stride_ = stride;
    }
    passes_.clear();
    products_.resize(stride_);
    extra_sums.resize(lanes, 0.0);
    extras.resize(lanes, kind_.start);
  }
  // Two classes with one w become lanes: half of w for the one, half against the other.
  void split() {
    widen(2);
    for (std::vector<double>* c : {&v, &u})
      for (std::size_t i = 0; i < c->size(); i += stride_) {
        (*c)[i + 1] = (*c)[i] / 2;
        (*c)[i] = 0 - (*c)[i + 1];
      }
  }
  // w <- -w: the two classes change places.
  void negate() {
    passes_.clear();
    for (double& c : v) c = 0 - c;
    for (double& c : u) c = 0 - c;
  }

  // ---- reading ------------------------------------------------------------------------------------------------------

  // Gets the kernel values of rows that are to be learned one after the other: of batch.order, from `from` on.
  virtual void look_ahead(const Batch& batch, std::size_t from, std::size_t count) = 0;
  virtual void look_ahead(const Instance& x) = 0;
  // After several passes over the same rows: what was kept of them goes.
  virtual void forget_rows() { passes_.clear(); }
  // How many kernel values a step computes beyond those that were looked ahead for.
  std::size_t values_per_step() const { return passes_.count(); }
  // The reading of row `row` of what was looked at.
  Reading look(std::size_t row, Reads reads, double* scores) {
    current_ = row;
    if (!ahead_.in_order[row]) return Reading{0, 0, 0, 0, false};
    double* const products = products_.data();
    if (passes_.on())
      for (std::size_t r = 0; r < held(); ++r) products[r] = passes_.sum(ahead_.numbers[row], r);
    else
      sum_up(v, ahead_.of(row), products);
    for (std::size_t r = 0; r < held(); ++r) products[r] *= now.scale;
    return finish(products, extras, now.norm2, ahead_.itself[row], ahead_.squares[row], reads, scores);
  }
  double itself() const { return ahead_.itself[current_]; }
  // The scores of the present row, if support i were gone. `own` is w.x_i (uniclass).
  void look_without(std::size_t i, double own, double* scores) {
    double& kernel = ahead_.of(current_)[i];
    const double its_kernel = std::exchange(kernel, 0);
    std::vector<double> products(stride_);
    sum_up(v, ahead_.of(current_), products.data());  // not a difference: what is equal then is equal
    for (std::size_t r = 0; r < held(); ++r) products[r] *= now.scale;
    kernel = its_kernel;
    scores_of_others(i, own, products.data(), itself(), scores);
  }
  // w.x of the present row, a lane each.
  const double* products() const { return products_.data(); }
  // K(support, x).
  double kernel(std::size_t i) const { return ahead_.of(current_)[i]; }

  // Without learning: several rows at once. Their scores, and whether each is in order.
  virtual void look_at(const Rows& rows, std::size_t from, std::size_t count, KernelRows& into) const = 0;
  virtual void look_at(const Instance& x, KernelRows& into) const = 0;
  Reading read_row(const KernelRows& rows, std::size_t row, bool averaged, const std::vector<double>& coefficients,
                   Reads reads, double* scores) const {
    if (!rows.in_order[row]) return Reading{0, 0, 0, 0, false};
    averaged = averaged && now.tallied > 0;
    const double share = averaged ? 1.0 / static_cast<double>(now.tallied) : now.scale;
    std::vector<double> products(stride_);
    sum_up(coefficients, rows.of(row), products.data());
    for (std::size_t r = 0; r < held(); ++r) products[r] *= share;
    if (!averaged)
      return finish(products.data(), extras, now.norm2, rows.itself[row], rows.squares[row], reads, scores);
    std::vector<double> mean(extra_sums);
    for (double& extra : mean) extra *= share;
    const double norm2 = now.sum_norm2 * share * share;
    return finish(products.data(), mean, norm2, rows.itself[row], rows.squares[row], reads, scores);
  }
  // The coefficients that score: v, or the sums of the average.
  std::vector<double> coefficients(bool averaged) const {
    std::vector<double> all(v);
    for (std::size_t i = 0; averaged && now.tallied > 0 && i < all.size(); ++i) all[i] = now.alpha * v[i] + u[i];
    return all;
  }
  Reading read(const Instance& x, Reads reads, double* scores) const override {
    return read_one(x, false, reads, scores);
  }
  Reading read_average(const Instance& x, Reads reads, double* scores) const override {
    return read_one(x, true, reads, scores);
  }

  // The scores of support i without itself; `products` are w.x_i.
  void scores_without(std::size_t i, const double* products, double* scores) const {
    const double* const c = v.data() + i * stride_;
    const double itself = itself_[i];
    if (kind_.distances || kind_.shared) {
      const double others = products[0] - coefficient(i, 0) * itself;
      return scores_of_others(i, products[0], &others, itself, scores);
    }
    for (std::size_t r = 0; r < lanes(); ++r) scores[r] = products[r] - c[r] * itself;  // the scale is 1
  }

  // Uniclass: w is a mixture of the supports and the origin. Without support i it is (w - c_i x_i)/(1 - c_i), that of
  // the others. (If nothing is left: w - c_i x_i.) If support i is most of it, a difference would lose its digits: then
  // what the others have is summed up.
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
  // Of all supports, in the precision in which they are held.
  void check_room(std::size_t /*dimension*/) const override {}  // `max_cache` limits them

  // ---- moving -------------------------------------------------------------------------------------------------------

  // The number of the example that is learned; whether it may be among the supports already (several passes).
  void number(std::int64_t number, bool may_be_known) {
    number_ = number;
    known_ = passes_.on() ? passes_.support_of(ahead_.numbers[current_]) : none;
    if (!may_be_known || passes_.on()) return;
    const auto found = std::find(numbers.begin(), numbers.end(), number);
    if (found != numbers.end()) known_ = static_cast<std::size_t>(found - numbers.begin());
  }
  std::size_t known() const { return known_; }

  // Room for the present row as a support, so that `move` allocates nothing; `replacing` one that will go first.
  void admit(double amount, double decay, double /*square*/) override { make_room(amount, decay, false); }
  void make_room(double amount, double decay, bool replacing) {
    double largest = itself();
    if (passes_.on()) {
      kernels_ = kernels_with_rows();
      largest = std::max(largest, kernels_.largest);
    } else {
      const double* const kernels = ahead_.of(current_);
      for (std::size_t i = 0; i < count(); ++i) largest = std::max(largest, std::abs(kernels[i]));
    }
    const double step = amount * std::max(1.0, largest);
    double bound = decay * reach_ + step;
    if (!(bound <= limit_)) bound = decay * look_for_reach() + step;  // the bound may have become loose
    if (!(bound <= limit_)) throw InputError("the step would make a coefficient larger than the model can hold");
    if (known_ == none) {
      const std::size_t more = replacing ? count() : count() + 1;
      const double square = kind_.keeps_values ? 8.0 * static_cast<double>(more) * static_cast<double>(more) : 0;
      const double each = 8.0 * static_cast<double>(stride_ * (kind_.averaging ? 2 : 1) + 6);
      if (bytes_with(current_) + square + each * static_cast<double>(more) > kind_.max_bytes)
        throw InputError("the supports would take more than " +
                      std::to_string(static_cast<std::int64_t>(kind_.max_bytes)) +
                      " bytes (max_cache): give a budget, or a larger max_cache");
      reserve_vector(current_);
      grow(more);
      if (!passes_.on()) compare_rows_ahead();
    }
    reach_ = bound;
  }

  void move(const double* amounts, double decay, const Instance& /*x*/) override {
    const double amount = amounts[0];
    if (kind_.distances) {
      const double product = products_[0], along = averaging() ? sum_of_average() : 0;
      now.norm2 = std::max(0.0, decay * decay * now.norm2 + 2 * amount * decay * product + amount * amount * itself());
      now.sum_product = decay * now.sum_product + amount * along;
      for (double& extra : extras) extra *= decay;
      now.origin *= decay;
      shrink(decay);
    }
    const std::size_t i = known_ == none ? append() : known_;
    double* const c = v.data() + i * stride_;
    double* const sums = averaging() ? u.data() + i * stride_ : nullptr;
    double total = 0;
    for (std::size_t r = 0; kind_.shared && r < lanes(); ++r) {
      given[i * lanes() + r] += amounts[r];
      extras[r] -= amounts[r];
      total += amounts[r];
    }
    for (std::size_t r = 0; r < held(); ++r) {
      const double step = kind_.shared ? total : amounts[r] / now.scale, before = c[r];
      c[r] += step;
      if (sums != nullptr) sums[r] -= now.alpha * (c[r] - before);
      if (passes_.on()) passes_.add(r, c[r] - before, kernels_.values);
    }
    if (kind_.shared && kind_.sorted) std::sort(extras.begin(), extras.end());
    sum_up_shares();
  }
  void move_along(const double*, const Instance&, double) override { throw InputError("a kernel has no directions"); }

  // Takes support i out; the last one takes its place. `own` is w.x_i (uniclass).
  void remove(std::size_t i, double own) {
    const std::size_t last = count() - 1;
    if (journaling_ && ages[i] < before_.insertions) buried_.push_back({ages[i], vector(i)});
    const double rest = kind_.distances ? rest_without(i) : 1;
    const double kernel = ahead_.count == 0 ? 0 : this->kernel(i);
    for (std::size_t r = 0; r < held(); ++r) products_[r] -= coefficient(i, r) * kernel;
    if (kind_.distances) {
      const bool left = all_without(i) >= nothing_left;
      now.norm2 = norm2_without(i, own);
      now.origin = left ? now.origin / rest : now.origin + coefficient(i, 0);
      now.scale /= rest;
      reach_ = std::max(reach_, reach_ / rest);
      fold_if_needed();
    }
    for (std::size_t r = 0; kind_.shared && r < lanes(); ++r) extras[r] += given[i * lanes() + r];
    if (kind_.shared && kind_.sorted) std::sort(extras.begin(), extras.end());
    remove_vector(i);
    for (std::size_t row = current_; row < ahead_.count; ++row) ahead_.of(row)[i] = ahead_.of(row)[last];
    if (kind_.keeps_values) {
      for (std::size_t j = 0; j <= last; ++j) values_[i * room_ + j] = values_[last * room_ + j];
      for (std::size_t j = 0; j <= last; ++j) values_[j * room_ + i] = values_[j * room_ + last];
    }
    take_last(numbers, i, 1);
    take_last(ages, i, 1);
    take_last(itself_, i, 1);
    take_last(squares_, i, 1);
    take_last(v, i, stride_);
    take_last(u, i, averaging() ? stride_ : 0);
    take_last(given, i, kind_.shared ? lanes() : 0);
    if (kind_.distances && ahead_.count > 0) {
      sum_up(v, ahead_.of(current_), products_.data());
      products_[0] *= now.scale;
    }
    known_ = none;
    now.removals += 1;
    sum_up_shares();
  }

  void tally() override {
    if (kind_.distances) {
      now.sum_norm2 += 2 * now.sum_product + now.norm2;
      now.sum_product += now.norm2;
    }
    now.alpha += now.scale;
    now.tallied += 1;
    for (std::size_t r = 0; r < lanes(); ++r) extra_sums[r] += extras[r];
  }

  // ---- all or nothing -----------------------------------------------------------------------------------------------

  // The numbers are copied; of the vectors, those that go.
  void begin(std::size_t /*stored*/) override {
    before_ = Before{numbers, ages, itself_, squares_, v, u, given, extras, extra_sums,
                     now, reach_, sparse, now.insertions, {}, room_};
    // Who asks a function again may get another answer, or none.
    if (kind_.kernel.kind == Kernel::outside) before_.values = values_;
    buried_.clear();
    journaling_ = true;
  }
  void commit() override {
    journaling_ = false;
    buried_ = {};
    before_ = {};
    ahead_.count = 0;
  }
  void rollback() override {
    journaling_ = false;
    std::vector<SparseVector> vectors;
    for (const std::int64_t age : before_.ages) vectors.push_back(found_vector(age));
    numbers = std::move(before_.numbers);
    ages = std::move(before_.ages);
    itself_ = std::move(before_.itself);
    squares_ = std::move(before_.squares);
    v = std::move(before_.v);
    u = std::move(before_.u);
    given = std::move(before_.given);
    extras = std::move(before_.extras);
    extra_sums = std::move(before_.extra_sums);
    now = before_.now;
    reach_ = before_.reach;
    sparse = before_.sparse;
    const bool known = kind_.kernel.kind == Kernel::outside;
    if (known) {
      values_ = std::move(before_.values);
      room_ = before_.room;
    }
    hold(vectors, known);
    sum_up_shares();
    commit();
  }

  // Holds these vectors, and what follows from them: kernel values, unless these are `known`.
  virtual void hold(const std::vector<SparseVector>& vectors, bool known) = 0;

  // sum_i c_i x_i in a column: w if the kernel is linear.
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
  // A threshold, the coordinate of a learned radius, or the intercept: what the constant feature has.
  double extra(std::size_t lane, bool averaged) const override {
    averaged = averaged && now.tallied > 0;
    if (kind_.shared || kind_.distances)
      return averaged ? extra_sums[lane] / static_cast<double>(now.tallied) : extras[lane];
    double sum = 0;
    for (std::size_t i = 0; i < count(); ++i)
      sum += averaged ? averaged_coefficient(i, lane) : coefficient(i, lane);
    return kind_.kernel.constant * sum;
  }
  void start_at(const double*, std::size_t, const double*) override {
    throw InputError("a kernel has no weights to start at");
  }

  // The state, open to be saved and restored: numbers of examples, the order of insertion, coefficients.
  std::vector<std::int64_t> numbers, ages;
  std::vector<double> v, u;  // count x stride
  std::vector<double> given;  // ordinal: what each support gave to each threshold
  std::vector<double> extras, extra_sums;
  SupportScalars now;
  std::size_t stride() const { return stride_; }
  double reach() const { return reach_; }
  bool sparse = false;  // whether the first support came as a sparse row
  // After the arrays were restored.
  void check_restored(double reach, const std::vector<SparseVector>& vectors) {
    reach_ = std::max(reach, look_for_reach());
    itself_.assign(count(), 0);
    squares_.assign(count(), 0);
    hold(vectors, false);
    sum_up_shares();
    const auto finite = [](double square) { return std::isfinite(square); };
    const bool fits = std::all_of(squares_.begin(), squares_.end(), finite);
    if (!fits || !(reach_ <= limit_)) throw InputError("the supports are larger than the model can hold");
  }

 protected:
  // An average is a sum over rounds, of which there are fewer than 2^62. (Weights need no such limit: their sums of squares
  // are in the progress of the statistics, which is finite.)
  Supports(Kind kind, std::size_t lanes)
      : Memory(kind.averaging ? largest * 0x1p-63 : largest, 0, kind.distances), kind_(kind) {
    widen(lanes);
  }
  virtual void reserve_vector(std::size_t row) = 0;  // of what was looked at
  virtual void add_vector(std::size_t row) = 0;
  virtual void remove_vector(std::size_t i) = 0;
  virtual void compare_rows_ahead() = 0;  // the rows that were looked at with each other, if that is not done
  virtual double bytes_with(std::size_t row) const = 0;
  // In passes over the same rows: the kernel values of the present row with all of them.
  virtual RowProducts::Kernels kernels_with_rows() = 0;

  void grow(std::size_t count) {
    for (std::vector<double>* all : {&itself_, &squares_}) reserve(*all, count);
    reserve(numbers, count);
    reserve(ages, count);
    reserve(v, count * stride_);
    if (averaging()) reserve(u, count * stride_);
    if (kind_.shared) reserve(given, count * lanes());
    if (kind_.keeps_values && count > room_) {
      const std::size_t room = std::max({count, room_ + room_ / 2, std::size_t{8}});
      std::vector<double> values(room * room);
      const std::size_t kept = std::min(this->count(), room_);  // none, if they are only being restored
      for (std::size_t i = 0; i < kept; ++i) std::copy_n(values_.data() + i * room_, kept, values.data() + i * room);
      values_.swap(values);
      room_ = room;
    }
  }

  Kind kind_;
  std::size_t columns_ = 0;
  KernelRows ahead_;
  std::size_t current_ = 0;
  RowProducts passes_;
  std::int64_t number_ = 0;  // of the present example
  std::size_t known_ = none;  // the support that it is already
  std::vector<double> itself_, squares_;  // of the supports
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

  // From w.x to what the rule reads.
  Reading finish(const double* products, const std::vector<double>& beside, double norm2, double itself, double square,
                 Reads reads, double* scores) const {
    if (!std::isfinite(square)) return Reading{square, square, square, square};  // to be refused
    if (reads == Reads::distance) {
      const double plain = std::max(0.0, norm2 - 2 * products[0] + itself);
      return Reading{plain + beside[0] * beside[0], plain, 1.0, square};
    }
    if (lanes() == 1 && !kind_.shared) return Reading{products[0], products[0], itself, square};
    double all = 0;
    for (std::size_t r = 0; r < lanes(); ++r) {
      scores[r] = kind_.shared ? products[0] - beside[r] : products[r];
      all += scores[r];
    }
    return Reading{all, all, itself, square};
  }

  Reading read_one(const Instance& x, bool averaged, Reads reads, double* scores) const {
    KernelRows own;
    thread_local KernelRows kept;
    KernelRows& one = kind_.kernel.kind == Kernel::outside ? own : kept;  // a function may ask another learner
    look_at(x, one);
    return read_row(one, 0, averaged, coefficients(averaged), reads, scores);
  }

  // The scores at a point x without support i: `products` are those of the others with x, `own` is w.x_i (uniclass).
  void scores_of_others(std::size_t i, double own, const double* products, double itself, double* scores) const {
    if (kind_.distances) {
      const double squared = norm2_without(i, own) - 2 * (products[0] / rest_without(i)) + itself;
      scores[0] = std::max(0.0, squared) + extras[0] * extras[0];
    } else if (kind_.shared) {
      std::vector<double> thresholds(extras);
      for (std::size_t r = 0; r < lanes(); ++r) thresholds[r] += given[i * lanes() + r];
      if (kind_.sorted) std::sort(thresholds.begin(), thresholds.end());
      for (std::size_t r = 0; r < lanes(); ++r) scores[r] = products[0] - thresholds[r];
    } else {
      std::copy_n(products, lanes(), scores);
    }
  }

  // A.x of the present row, A the sum of the tallied w.
  double sum_of_average() const {
    const double* const kernels = ahead_.of(current_);
    double sum = 0;
    for (std::size_t i = 0; i < count(); ++i) sum += kernels[i] * (now.alpha * v[i * stride_] + u[i * stride_]);
    return sum;
  }

  // The present row becomes the last support, with coefficients 0.
  std::size_t append() {
    const std::size_t i = count();
    const double* const kernels = ahead_.of(current_);
    add_vector(current_);
    numbers.push_back(number_);
    ages.push_back(now.insertions++);
    itself_.push_back(itself());
    squares_.push_back(ahead_.squares[current_]);
    v.resize(v.size() + stride_);
    if (averaging()) u.resize(u.size() + stride_);
    if (kind_.shared) given.resize(given.size() + lanes());
    if (kind_.keeps_values) {
      for (std::size_t j = 0; j < i; ++j) values_[i * room_ + j] = values_[j * room_ + i] = kernels[j];
      values_[i * room_ + i] = itself();
    }
    if (passes_.on()) {
      passes_.became(ahead_.numbers[current_], i);
      return i;
    }
    for (std::size_t row = current_ + 1; row < ahead_.count; ++row)
      ahead_.of(row)[i] = ahead_.with_rows[row * ahead_.count + current_];
    if (ahead_.stride > i) ahead_.of(current_)[i] = itself();
    return i;
  }

  static constexpr double nothing_left = 1e-9;
  double all_without(std::size_t i) const {
    if (!is_most(i)) return shares_ - coefficient(i, 0);
    double sum = now.origin;
    for (std::size_t j = 0; j < count(); ++j) sum += j == i ? 0 : coefficient(j, 0);
    return sum;
  }
  void sum_up_shares() {
    shares_ = now.origin;
    for (std::size_t j = 0; kind_.distances && j < count(); ++j) shares_ += coefficient(j, 0);
  }
  double norm2_without(std::size_t i, double own) const {
    const double c = coefficient(i, 0), rest = rest_without(i);
    double norm2 = now.norm2 - 2 * c * own + c * c * itself_[i];
    if (is_most(i)) {
      norm2 = 0;
      for (std::size_t j = 0; j < count(); ++j)
        for (std::size_t k = 0; j != i && k < count(); ++k)
          norm2 += k == i ? 0 : coefficient(j, 0) * coefficient(k, 0) * values_of(j)[k];
    }
    return std::max(0.0, norm2 / (rest * rest));
  }

  void shrink(double decay) {
    now.scale *= decay;
    fold_if_needed();
  }
  // v = c/scale must stay in range, and alpha * v and u of the average must not cancel.
  void fold_if_needed() {
    const bool cancels = averaging() && now.alpha > 64 * now.scale * static_cast<double>(now.tallied);
    if (now.scale >= smallest_scale && now.scale <= 1 / smallest_scale && !cancels) return;
    for (std::size_t k = 0; k < v.size(); ++k) {
      if (averaging()) u[k] = now.alpha * v[k] + u[k];
      v[k] *= now.scale;
    }
    passes_.scale(now.scale);
    now.alpha = 0;
    now.scale = 1;
  }

  std::vector<double> spread(const std::vector<double>& narrow, std::size_t stride) const {
    if (stride_ == 0) return {};
    std::vector<double> wide(narrow.size() / stride_ * stride);
    for (std::size_t i = 0; i < narrow.size() / stride_; ++i)
      std::copy_n(narrow.data() + i * stride_, stride_, wide.data() + i * stride);
    return wide;
  }
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
  SparseVector found_vector(std::int64_t age) const {
    for (const auto& [its_age, vector] : buried_)
      if (its_age == age) return vector;
    return vector(static_cast<std::size_t>(std::find(ages.begin(), ages.end(), age) - ages.begin()));
  }

  double look_for_reach() const override {
    double reach = 0;
    for (const double c : v) reach = std::max(reach, std::abs(now.scale * c));
    for (const double extra : extras) reach = std::max(reach, std::abs(extra));
    return reach;
  }

  std::size_t stride_ = 0;
  std::vector<double> products_;  // w.x of the present row
  RowProducts::Kernels kernels_;  // in passes over the same rows: of the present one with all of them
  double shares_ = 1;  // uniclass: of the origin and all supports; 1, but for rounding

  struct Before {
    std::vector<std::int64_t> numbers, ages;
    std::vector<double> itself, squares, v, u, given, extras, extra_sums;
    SupportScalars now;
    double reach = 0;
    bool sparse = false;
    std::int64_t insertions = 0;
    std::vector<double> values;  // of a kernel from outside
    std::size_t room = 0;
  };
  Before before_;
  struct Buried {
    std::int64_t age;
    SparseVector vector;
  };
  std::vector<Buried> buried_;  // supports that were there when the batch began, and went
  bool journaling_ = false;
};

}  // namespace hinge
