// Many instances: a dense array with any strides, or a CSR matrix with int32 or int64 indices.
//
// The arrays are not trusted: the columns of a row are checked while they are read (see sums.hpp). An unsorted row is
// read directly if its columns are distinct (distinct.hpp) and the memory takes any order; otherwise it is read from a
// sorted copy, with repeated columns added up, as CSR defines them. Columns outside the matrix are rejected.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "instance.hpp"

namespace hinge {

// Builds an instance from features in any order.
class Scratch {
 public:
  void clear() {
    size_ = 0;
    last_ = -1;
    ascending_ = true;
  }
  HINGE_INLINE void add(std::size_t column, double value) {
    if (size_ == columns_.size()) [[unlikely]] grow();
    const auto at = static_cast<std::int64_t>(column);
    ascending_ = ascending_ && last_ < at;
    last_ = at;
    columns_[size_] = at;
    values_[size_] = value;
    size_ += 1;
  }
  Instance ordered() {
    if (!ascending_) put_in_order();
    Instance x;
    x.values = values_.data();
    x.columns = columns_.data();
    x.size = size_;
    x.layout = Layout::sparse64;
    x.transient = true;
    return x;
  }

 private:
  HINGE_APART void grow() {
    const std::size_t room = std::max<std::size_t>(32, 2 * size_);
    values_.resize(room);
    columns_.resize(room);
  }

  // Adds up repeated columns, the smallest value first, independent of the input order.
  void put_in_order() {
    pairs_.clear();
    for (std::size_t j = 0; j < size_; ++j) pairs_.emplace_back(columns_[j], values_[j]);
    if (pairs_.size() < radix_from)
      std::sort(pairs_.begin(), pairs_.end());
    else
      sort_by_digits();
    size_ = 0;
    for (const auto& [column, value] : pairs_) {
      if (size_ > 0 && columns_[size_ - 1] == column) {
        values_[size_ - 1] += value;
      } else {
        columns_[size_] = column;
        values_[size_] = value;
        size_ += 1;
      }
    }
    ascending_ = true;
  }

  // A radix sort by column, least significant digit first; then the values of repeated columns are sorted. The result
  // is that of std::sort, which mispredicts 200 branches for 82 columns.
  void sort_by_digits() {
    const auto bits = static_cast<std::size_t>(
        std::bit_width(static_cast<std::uint64_t>(std::max_element(pairs_.begin(), pairs_.end())->first)));
    const std::size_t passes = (bits + 7) / 8, digit = passes == 0 ? 1 : (bits + passes - 1) / passes;
    sorted_.resize(pairs_.size());
    for (std::size_t pass = 0; pass < passes; ++pass) {
      const auto digit_of = [&](const Pair& pair) {
        return (static_cast<std::uint64_t>(pair.first) >> (pass * digit)) & ((std::uint64_t{1} << digit) - 1);
      };
      std::array<std::size_t, 257> places{};
      for (const Pair& pair : pairs_) places[digit_of(pair) + 1] += 1;
      for (std::size_t d = 0; d + 1 < (std::size_t{1} << digit); ++d) places[d + 1] += places[d];
      for (const Pair& pair : pairs_) sorted_[places[digit_of(pair)]++] = pair;
      pairs_.swap(sorted_);
    }
    for (std::size_t j = 1; j < pairs_.size(); ++j) {
      if (pairs_[j - 1].first != pairs_[j].first) [[likely]] continue;
      const std::size_t from = j - 1;
      while (j < pairs_.size() && pairs_[j].first == pairs_[from].first) ++j;
      std::sort(pairs_.begin() + static_cast<std::ptrdiff_t>(from), pairs_.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
  static constexpr std::size_t radix_from = 32;  // pairs

  std::vector<std::int64_t> columns_;  // the first size_ entries are used; the same for values_
  std::vector<double> values_;
  std::size_t size_ = 0;
  std::int64_t last_ = -1;
  using Pair = std::pair<std::int64_t, double>;
  std::vector<Pair> pairs_, sorted_;
  bool ascending_ = true;
};

class Rows {
 public:
  static Rows dense(const void* values, Precision precision, std::size_t count, std::size_t width,
                    std::ptrdiff_t row_stride, std::ptrdiff_t column_stride) {
    Rows rows(values, precision, count, width);
    rows.layout_ = column_stride == 1 ? Layout::dense : Layout::strided;
    rows.row_bytes_ = row_stride * rows.value_size();
    rows.column_stride_ = column_stride;
    return rows;
  }

  // `starts` has count + 1 entries, int32 or int64 independent of `columns`. `stored` is the number of stored values.
  static Rows sparse(const void* values, Precision precision, const void* columns,
                     bool wide_columns, const void* starts, bool wide_starts, std::size_t count,
                     std::size_t width, std::size_t stored) {
    Rows rows(values, precision, count, width);
    rows.layout_ = wide_columns ? Layout::sparse64 : Layout::sparse32;
    rows.columns_ = columns;
    rows.starts_ = starts;
    rows.wide_starts_ = wide_starts;
    rows.stored_ = stored;
    return rows;
  }

  // Adds, for each row, the squared norm of its features that have no column.
  Rows with_unseen(const double* squares) const {
    Rows rows = *this;
    rows.unseen_ = squares;
    return rows;
  }

  std::size_t count() const { return count_; }
  std::size_t width() const { return width_; }
  bool is_sparse() const { return starts_ != nullptr; }
  // The number of values of the rows, at most those stored. (Invalid row starts are rejected when they are read.)
  std::size_t stored() const {
    if (!is_sparse()) return count_ * width_;
    return std::min(stored_, static_cast<std::size_t>(start(count_)) - static_cast<std::size_t>(start(0)));
  }

  // An instance with the fields that all rows share; `take` fills in those of one row.
  Instance blank() const {
    Instance x;
    x.layout = layout_;
    x.precision = precision_;
    x.stride = column_stride_;
    x.size = is_sparse() ? 0 : width_;
    x.limit = width_;
    x.soon = soon;
    x.later = later;
    return x;
  }

  // Points x, which came from `blank`, to row i.
  HINGE_INLINE void take(std::size_t i, Instance& x) const {
    const auto* bytes = static_cast<const char*>(values_);
    if (!is_sparse()) {
      x.values = bytes + static_cast<std::ptrdiff_t>(i) * row_bytes_;
      return;
    }
    const std::int64_t from = start(i), to = start(i + 1);
    if (from < 0 || to < from || static_cast<std::uint64_t>(to) > stored_) reject_start(i, from, to);
    x.size = static_cast<std::size_t>(to - from);
    x.beyond = stored_ - static_cast<std::size_t>(to);
    x.values = bytes + from * value_size();
    x.columns = layout_ == Layout::sparse32
                    ? static_cast<const void*>(static_cast<const std::int32_t*>(columns_) + from)
                    : static_cast<const void*>(static_cast<const std::int64_t*>(columns_) + from);
    if (unseen_ != nullptr) x.unseen = unseen_[i];
  }

  // Prefetches for rows visited out of order: x is row order[0], and `count` entries of `order` remain. Row numbers and
  // starts are checked only when the rows are read: here they may be invalid.
  HINGE_INLINE void prefetch(const std::int64_t* order, std::size_t count, Instance& x, const double* targets) const {
    if (!is_sparse()) return prefetch_dense(order, count, targets);
    const auto place = [this](std::uint64_t row) { return static_cast<std::uint64_t>(start(row)); };
    const auto distance = [&](std::size_t k) {
      const std::uint64_t row = k < count ? static_cast<std::uint64_t>(order[k]) : none;
      return row < count_ ? static_cast<std::ptrdiff_t>(place(row) - place(static_cast<std::uint64_t>(order[0]))) : 0;
    };
    x.soon = distance(1);
    x.later = distance(4);
    x.beyond = 0;
    if (x.size <= short_row && count > 4 && static_cast<std::uint64_t>(order[4]) < count_) prefetch_row(place(order[4]), x);
  }

  // For a short row, as long as x: the sums over x end before they could prefetch the next rows completely. Any address
  // may be prefetched, even an invalid one, so it is an integer here and not a pointer.
  HINGE_INLINE void prefetch_row(std::uint64_t from, const Instance& x) const {
    constexpr std::size_t line = 64;
    // Inlined: otherwise g++ takes it for a function without effects and drops it.
    const auto lines = [&](const void* array, std::size_t size) HINGE_INLINE_LAMBDA {
      const auto address = reinterpret_cast<std::uintptr_t>(array) + from * size;
      for (std::size_t at = 0; at < x.size * size + line; at += line)
        HINGE_PREFETCH(reinterpret_cast<const char*>(address + at));
    };
    lines(values_, static_cast<std::size_t>(value_size()));
    lines(columns_, layout_ == Layout::sparse32 ? sizeof(std::int32_t) : sizeof(std::int64_t));
  }

  // Prefetches the values and the target of a row that is visited soon: the hardware cannot predict a shuffled order.
  HINGE_INLINE void prefetch_dense(const std::int64_t* order, std::size_t count, const double* targets) const {
    constexpr std::size_t ahead = 8, line = 64, most = 8 * line;
    if (count <= ahead || layout_ != Layout::dense || static_cast<std::uint64_t>(order[ahead]) >= count_) return;
    if (targets != nullptr) HINGE_PREFETCH(targets + order[ahead]);
    const char* const row = static_cast<const char*>(values_) + order[ahead] * row_bytes_;
    const std::size_t bytes = std::min(most, width_ * static_cast<std::size_t>(value_size()));
    for (std::size_t at = 0; at < bytes; at += line) HINGE_PREFETCH(row + at);
    if (bytes > 0) HINGE_PREFETCH(row + bytes - 1);
  }

  // Dense rows in Fortran order, such as those of a DataFrame: the values of a column are contiguous, those of a row
  // are not.
  bool by_columns() const {
    return layout_ == Layout::strided && std::abs(row_bytes_) < std::abs(column_stride_ * value_size());
  }
  // Copies `count` dense rows, starting at `first`, to contiguous memory.
  template <class Value>
  void copy(std::size_t first, std::size_t count, Value* to) const {
    const auto* from = reinterpret_cast<const Value*>(static_cast<const char*>(values_) +
                                                      static_cast<std::ptrdiff_t>(first) * row_bytes_);
    const std::ptrdiff_t step = row_bytes_ / static_cast<std::ptrdiff_t>(sizeof(Value));
    for (std::size_t j = 0; j < width_; ++j) {
      const Value* const column = from + static_cast<std::ptrdiff_t>(j) * column_stride_;
      // Prefetches the column for the next rows: each column is in another page, where the hardware prefetcher stops.
      const auto next = reinterpret_cast<std::uintptr_t>(column) + static_cast<std::uintptr_t>(
                            static_cast<std::ptrdiff_t>(count) * row_bytes_);
      for (std::size_t at = 0; at < count * sizeof(Value); at += 64)
        HINGE_PREFETCH(reinterpret_cast<const char*>(next + at));
      for (std::size_t i = 0; i < count; ++i) to[i * width_ + j] = column[static_cast<std::ptrdiff_t>(i) * step];
    }
  }
  // Whether these are the same arrays.
  bool same_as(const Rows& other) const {
    return values_ == other.values_ && columns_ == other.columns_ && starts_ == other.starts_ &&
           count_ == other.count_ && width_ == other.width_ && row_bytes_ == other.row_bytes_ &&
           column_stride_ == other.column_stride_ && precision_ == other.precision_ && layout_ == other.layout_;
  }

  // A copy of the row in `scratch`, with its columns in order.
  HINGE_APART Instance in_order(Instance x, std::size_t row, Scratch& scratch) const {
    scratch.clear();
    visit(x, [&](auto features) {
      for (std::size_t j = 0; j < x.size; ++j) {
        const auto column = static_cast<std::int64_t>(features.column(j));
        if (column < 0 || static_cast<std::uint64_t>(column) >= width_)
          throw InputError("column index " + std::to_string(column) + " is outside of the " +
                            std::to_string(width_) + " columns",
                        row);
        // The sum of repeated columns could hide an invalid value, and NaN cannot be sorted.
        reject_unless_finite(features.value(j), row, static_cast<std::size_t>(column));
        scratch.add(static_cast<std::size_t>(column), features.value(j));
      }
    });
    return scratch.ordered();
  }

 private:
  Rows(const void* values, Precision precision, std::size_t count, std::size_t width)
      : values_(values), precision_(precision), count_(count), width_(width) {}

  std::int64_t start(std::size_t i) const {
    return wide_starts_ ? static_cast<const std::int64_t*>(starts_)[i]
                        : static_cast<const std::int32_t*>(starts_)[i];
  }

  std::ptrdiff_t value_size() const { return precision_ == Precision::single_ ? sizeof(float) : sizeof(double); }

  [[noreturn]] void reject_start(std::size_t row, std::int64_t from, std::int64_t to) const {
    throw InputError("indptr is broken: the row would go from " + std::to_string(from) + " to " +
                      std::to_string(to) + " of " + std::to_string(stored_) + " stored values",
                  row);
  }

  // The prefetch distance for values and columns, if rows are taken in order (measured: W1).
  static constexpr std::ptrdiff_t soon = 128, later = 512;
  static constexpr std::size_t short_row = 32;  // values

  const void* values_;
  const void* columns_ = nullptr;
  const void* starts_ = nullptr;
  const double* unseen_ = nullptr;
  Precision precision_;
  Layout layout_ = Layout::dense;
  bool wide_starts_ = false;
  std::size_t count_;
  std::size_t width_;
  std::size_t stored_ = 0;
  std::ptrdiff_t row_bytes_ = 0;
  std::ptrdiff_t column_stride_ = 1;
};

// Reads rows in sequence. Rows in Fortran order are copied in blocks to make them contiguous: reading a single row
// would load one cache line per value.
class RowReader {
 public:
  explicit RowReader(const Rows& rows) : rows_(rows), copies_(rows.by_columns() && rows.width() > 0) {
    if (copies_) together_ = std::clamp<std::size_t>(values_together / rows.width(), 8, 64);
  }
  Instance blank() const {
    Instance x = rows_.blank();
    if (copies_) x.layout = Layout::dense, x.stride = 1;
    return x;
  }
  void take(std::size_t i, Instance& x) {
    if (!copies_) return rows_.take(i, x);
    if (i < first_ || i >= first_ + held_) copy_from(i);
    const std::size_t at = (i - first_) * rows_.width();
    x.values = x.precision == Precision::single_ ? static_cast<const void*>(singles_.data() + at) : doubles_.data() + at;
  }

 private:
  void copy_from(std::size_t i) {
    first_ = i;
    held_ = std::min(together_, rows_.count() - i);
    if (rows_.blank().precision == Precision::single_)
      singles_.resize(together_ * rows_.width()), rows_.copy(first_, held_, singles_.data());
    else
      doubles_.resize(together_ * rows_.width()), rows_.copy(first_, held_, doubles_.data());
  }

  static constexpr std::size_t values_together = 4096;  // a block that fits into the L1 cache
  const Rows& rows_;
  bool copies_;
  std::size_t together_ = 1, first_ = 0, held_ = 0;
  std::vector<float> singles_;
  std::vector<double> doubles_;
};

}  // namespace hinge
