// The vectors of the supports, in float32 or float64, and the kernel values of rows with them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "budget.hpp"
#include "supports.hpp"

namespace hinge {

template <class Real>
class SupportsOf final : public Supports {
 public:
  SupportsOf(Kind kind, std::size_t lanes, std::shared_ptr<CustomKernel> custom, std::unique_ptr<Budget> its_budget)
      : Supports(kind, lanes), custom_(std::move(custom)) {
    budget = std::move(its_budget);
  }

  void look_ahead(const Batch& batch, std::size_t from, std::size_t count) override {
    take(*batch.rows, batch.order, from, count, rows_, ahead_.in_order);
    const auto row_of = [&](std::size_t i) {
      return batch.order == nullptr ? from + i : static_cast<std::size_t>(batch.order[from + i]);
    };
    if (from == 0 && !(batch.repeats && passes_.are_of(*batch.rows))) begin_passes(batch);
    if (passes_.on()) {
      make_room_for(rows_, ahead_, 0);
      ahead_.numbers.resize(count);
      for (std::size_t i = 0; i < count; ++i) ahead_.numbers[i] = ahead_.in_order[i] ? row_of(i) : 0;
      count_new_supports(count);
    } else {
      with_row(row_of, [&] { compare(rows_, ahead_, true); });
    }
    current_ = 0;
  }
  void look_ahead(const Instance& x) override {
    forget_rows();
    take(x, rows_, ahead_.in_order);
    with_row([](std::size_t) { return none; }, [&] { compare(rows_, ahead_, true); });
    current_ = 0;
  }
  void look_at(const Rows& rows, std::size_t from, std::size_t count, KernelRows& into) const override {
    thread_local QueryRows<Real> block;
    take(rows, nullptr, from, count, block, into.in_order);
    with_row([&](std::size_t i) { return from + i; }, [&] { compare(block, into, false); });
  }
  void look_at(const Instance& x, KernelRows& into) const override {
    thread_local QueryRows<Real> block;
    take(x, block, into.in_order);
    with_row([](std::size_t) { return none; }, [&] { compare(block, into, false); });
  }

  SparseVector vector(std::size_t i) const override { return vectors_.get(i); }
  double value(std::size_t i, std::size_t column) const override { return vectors_.value(i, column); }
  std::size_t bytes() const override {
    const std::size_t others = v.capacity() + u.capacity() + given.capacity() + 4 * numbers.capacity();
    return vectors_.bytes() + 8 * (others + values_.capacity());
  }

  void forget_rows() override {
    passes_.clear();
    all_ = Vectors<Real>();
    all_squares_ = {};
    prepared_ = {};
    prepared_rows_.clear();
    new_rows_ = supports_before_ = 0;
  }

  void hold(const std::vector<SparseVector>& vectors, bool known) override {
    forget_rows();
    vectors_ = Vectors<Real>();
    QueryRows<Real> block;
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      take(Vectors<Real>::instance_of(vectors[i]), block, ahead_.in_order);
      vectors_.reserve(block, 0);
      vectors_.add(block, 0);
      squares_[i] = block.square(0);
      if (!known) itself_[i] = kind_.kernel.itself(squares_[i]);
    }
    ahead_.count = 0;
    grow(vectors.size());
    KernelRows found;
    for (std::size_t from = 0; kind_.keeps_values && !known && from < vectors.size(); from += together) {
      const std::size_t count = std::min(together, vectors.size() - from);
      block.clear(true, 0, true);
      for (std::size_t i = 0; i < count; ++i) block.add(Vectors<Real>::instance_of(vectors[from + i]));
      found.in_order.assign(count, 1);
      compare(block, found, false);
      for (std::size_t i = 0; i < count; ++i) {
        itself_[from + i] = found.of(i)[from + i];
        std::copy_n(found.of(i), vectors.size(), values_.data() + (from + i) * room_);
      }
    }
  }

 private:
  void reserve_vector(std::size_t row) override { vectors_.reserve(rows_, row); }
  void add_vector(std::size_t row) override {
    if (vectors_.count() == 0) sparse = rows_.came_sparse();
    vectors_.add(rows_, row);
  }
  void remove_vector(std::size_t i) override { vectors_.remove(i); }
  void compare_rows_ahead() override {
    if (ahead_.knows_rows || ahead_.count < 2) return;
    const std::size_t count = ahead_.count;
    Vectors<Real> among;
    for (std::size_t i = 0; i < count; ++i) {
      among.reserve(rows_, i);
      among.add(rows_, i);
    }
    ahead_.with_rows.resize(count * count);
    among.products(rows_, 0, ahead_.with_rows.data(), count);
    for (std::size_t i = 0; i < count; ++i)
      apply(rows_, i, among, ahead_.squares.data(), 0, ahead_.with_rows.data() + i * count);
    ahead_.knows_rows = true;
  }
  double bytes_with(std::size_t row) const override { return static_cast<double>(vectors_.bytes(rows_, row)); }

  // An error names a row of the block; place(i) is its number in the batch.
  template <class Place, class Function>
  static void with_row(Place&& place, Function&& function) {
    try {
      function();
    } catch (InputError& error) {
      if (error.row != none) error.row = place(error.row);
      throw;
    }
  }
  // Rows of `order`, or as they lie. Invalid ones are rejected when their turn comes.
  void take(const Rows& rows, const std::int64_t* order, std::size_t from, std::size_t count, QueryRows<Real>& block,
            std::vector<char>& in_order) const {
    Instance x = rows.blank();
    const auto taken = [&](std::size_t i) {
      const std::int64_t row = order == nullptr ? static_cast<std::int64_t>(from + i) : order[from + i];
      if (row < 0 || static_cast<std::size_t>(row) >= rows.count()) return false;
      try {
        rows.take(static_cast<std::size_t>(row), x);
      } catch (const InputError&) {
        return false;
      }
      return true;
    };
    const bool is_sparse = x.layout == Layout::sparse32 || x.layout == Layout::sparse64;
    std::size_t stored = 0;
    for (std::size_t i = 0; is_sparse && i < count; ++i) stored += taken(i) ? x.size : 0;
    // Rows that are nearly full are treated as dense ones.
    block.clear(is_sparse && stored * 4 < count * rows.width(), rows.width(), is_sparse);
    in_order.resize(count);
    Scratch scratch;
    for (std::size_t i = 0; i < count; ++i) {
      in_order[i] = taken(i) && add(x, rows, block, scratch);
      if (!in_order[i]) block.add(Instance());
    }
  }
  // With its columns in order. False, and nothing is added, if it cannot be.
  static bool add(const Instance& x, const Rows& rows, QueryRows<Real>& block, Scratch& scratch) {
    if (block.add(x)) return true;
    block.drop_last();
    try {
      return block.add(rows.in_order(x, none, scratch));
    } catch (const InputError&) {
      return false;
    }
  }
  void take(const Instance& x, QueryRows<Real>& block, std::vector<char>& in_order) const {
    const bool is_sparse = x.layout == Layout::sparse32 || x.layout == Layout::sparse64;
    block.clear(is_sparse, x.size, is_sparse);
    in_order.assign(1, block.add(x));
  }

  void compare(const QueryRows<Real>& rows, KernelRows& into, bool learning) const {
    make_room_for(rows, into, vectors_.count() + (learning ? rows.count() : 0));
    if (kind_.kernel.kind == Kernel::custom) return ask_custom(rows, into, learning);
    vectors_.products(rows, 0, into.with_supports.data(), into.stride);
    for (std::size_t i = 0; i < rows.count(); ++i) apply(rows, i, vectors_, squares_.data(), 0, into.of(i));
  }
  void make_room_for(const QueryRows<Real>& rows, KernelRows& into, std::size_t supports) const {
    into.make_room(rows.count(), supports);
    for (std::size_t i = 0; i < rows.count(); ++i) into.squares[i] = rows.square(i);
    for (std::size_t i = 0; kind_.kernel.kind != Kernel::custom && i < rows.count(); ++i)
      into.itself[i] = kind_.kernel.itself(into.squares[i]);
  }

  // Whether w.x of all rows can be followed: supports are only appended, and there is room for the vectors of all rows.
  void begin_passes(const Batch& batch) {
    forget_rows();
    const bool removes = kind_.keeps_values, sums_averages = kind_.distances && kind_.averaging;
    if (!batch.repeats || vectors_.count() > 0 || removes || sums_averages || kind_.kernel.kind == Kernel::custom) return;
    const Rows& rows = *batch.rows;
    const double least = RowProducts::bytes(rows.count(), held()) + 8.0 * static_cast<double>(rows.stored());
    if (least > kind_.max_bytes) return;
    QueryRows<Real> block;
    std::vector<char> in_order;
    for (std::size_t from = 0; from < rows.count(); from += together) {
      take(rows, nullptr, from, std::min(together, rows.count() - from), block, in_order);
      for (std::size_t i = 0; i < block.count(); ++i) {
        all_.reserve(block, i);
        all_.add(block, i);
        all_squares_.push_back(block.square(i));
      }
    }
    const double held_bytes = RowProducts::bytes(rows.count(), held()) + static_cast<double>(all_.bytes());
    if (held_bytes > kind_.max_bytes) return forget_rows();
    passes_.begin(rows, held(), kind_.max_bytes - held_bytes);
  }
  RowProducts::Kernels kernels_with_rows() override {
    const std::size_t support = known_ == none ? count() : known_;
    const RowProducts::Kernels kept = passes_.kernels_of(support);
    if (kept.values != nullptr) return kept;
    auto found = std::find(prepared_rows_.begin(), prepared_rows_.end(), current_);
    if (found == prepared_rows_.end()) {
      prepare(supports_are_frequent_ ? most_prepared : 1);
      found = prepared_rows_.begin();
    }
    const auto place = static_cast<std::size_t>(found - prepared_rows_.begin());
    return passes_.keep(support, prepared_.data() + place * passes_.count());
  }
  // The kernel values of the present row with all rows, and of those that come next and are not supports, up to `most` of
  // them: several rows at once take much less time than one by one.
  void prepare(std::size_t most) {
    asked_.clear_as(rows_);
    prepared_rows_.clear();
    for (std::size_t i = current_; i < rows_.count() && prepared_rows_.size() < most; ++i) {
      const bool is_new = ahead_.in_order[i] && passes_.support_of(ahead_.numbers[i]) == none;
      if (i != current_ && !is_new) continue;
      asked_.add_from(rows_, i);
      prepared_rows_.push_back(i);
    }
    prepared_.resize(asked_.count() * passes_.count());
    all_.products(asked_, 0, prepared_.data(), passes_.count());
    for (std::size_t i = 0; i < asked_.count(); ++i)
      apply(asked_, i, all_, all_squares_.data(), 0, prepared_.data() + i * passes_.count());
  }
  // How many of the rows of the last block were new, and became supports.
  void count_new_supports(std::size_t count) {
    prepared_rows_.clear();
    supports_are_frequent_ = 2 * (vectors_.count() - supports_before_) >= new_rows_;
    supports_before_ = vectors_.count();
    new_rows_ = 0;
    for (std::size_t i = 0; i < count; ++i) new_rows_ += passes_.support_of(ahead_.numbers[i]) == none;
  }

  // Products of a row with vectors to kernel values. |x|^2 + |z|^2 - 2 x.z loses its digits where it is small relative
  // to its terms: there |x - z|^2 is summed up. Of the vectors from `from` on.
  void apply(const QueryRows<Real>& rows, std::size_t row, const Vectors<Real>& with, const double* squares,
             std::size_t from, double* values) const {
    const double square = rows.square(row);
    if (kind_.kernel.kind == Kernel::rbf && std::isfinite(square)) {
      constexpr double small = sizeof(Real) == 4 ? 1e-2 : 1e-6;
      for (std::size_t j = from; j < with.count(); ++j) values[j] = (square + squares[j]) - 2 * values[j];
      for (std::size_t j = from; j < with.count(); ++j)
        if (!(values[j] > small * (square + squares[j]))) values[j] = rows.distance(row, with.get(j));
    }
    kind_.kernel.apply(with.count() - from, values + from);
  }

  void ask_custom(const QueryRows<Real>& rows, KernelRows& into, bool learning) const {
    const std::size_t count = rows.count();
    std::vector<SparseVector> asked(count), held;
    for (std::size_t i = 0; i < count; ++i)
      rows.each(i, [&](std::size_t column, Real value) {
        if (!std::isfinite(rows.square(i))) return;  // will be rejected
        asked[i].columns.push_back(static_cast<std::int64_t>(column));
        asked[i].values.push_back(static_cast<double>(value));
      });
    for (std::size_t i = 0; i < vectors_.count(); ++i) held.push_back(vectors_.get(i));
    std::size_t width = columns_;  // rows ahead may have columns that are new
    for (const SparseVector& row : asked)
      if (!row.columns.empty()) width = std::max(width, static_cast<std::size_t>(row.columns.back()) + 1);
    const bool as_sparse = held.empty() ? rows.came_sparse() : sparse;
    const double constant = kind_.kernel.constant;
    if (!held.empty()) custom_->values(asked, held, width, as_sparse, into.with_supports.data(), into.stride);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < held.size(); ++j) into.of(i)[j] += constant;
    if (!learning && !kind_.distances) return;
    std::vector<double> values(count * count);
    custom_->values(asked, asked, width, as_sparse, values.data(), count);
    for (double& value : values) value += constant;
    for (std::size_t i = 0; i < count; ++i) {
      into.itself[i] = values[i * count + i];
      if (into.itself[i] < 0) throw InputError("the kernel's value of an instance with itself is negative", i);
    }
    if (learning) into.with_rows = std::move(values), into.knows_rows = true;
  }

  Vectors<Real> vectors_;
  QueryRows<Real> rows_;  // that are to come
  Vectors<Real> all_;  // in passes over the same rows: all of them
  std::vector<double> all_squares_;
  // Kernel values with all of them that were computed together, of some rows of `rows_`, ahead of their turn.
  static constexpr std::size_t most_prepared = 8;
  QueryRows<Real> asked_;
  std::vector<std::size_t> prepared_rows_;
  std::vector<double> prepared_;
  bool supports_are_frequent_ = false;
  std::size_t supports_before_ = 0, new_rows_ = 0;  // when the last block of rows began
  std::shared_ptr<CustomKernel> custom_;
};

}  // namespace hinge
