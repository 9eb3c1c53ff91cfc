// Sparse rows whose columns are not sorted. If the columns are distinct, the sums over such a row are computed in the
// given order. (A repeated column would leave w.x correct, but not |x|^2.)
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "batch.hpp"
#include "instance.hpp"

namespace hinge {

// Whether all columns are inside the matrix. There is no branch per column: the compiler compares several at a time.
template <class Features>
HINGE_INLINE bool columns_inside(const Features& x) {
  if constexpr (requires { x.columns; }) {
    using Index = std::remove_cvref_t<decltype(x.columns[0])>;
    if (x.size == 0) return true;
    if (x.limit == 0) return false;
    const auto most = static_cast<Index>(
        std::min(x.limit - 1, static_cast<std::size_t>(std::numeric_limits<Index>::max())));
    Index outside = 0;  // negative once a column, or `most` minus the column, is negative
    for (std::size_t j = 0; j < x.size; ++j) {
      const Index column = x.columns[j];
      outside |= column | static_cast<Index>(static_cast<std::make_unsigned_t<Index>>(most) -
                                             static_cast<std::make_unsigned_t<Index>>(column));
    }
    return outside >= 0;
  }
  return true;
}

// Whether one of the first few columns is not larger than the previous one: then the row is certainly not sorted.
template <class Features>
HINGE_INLINE bool falls_early(const Features& x) {
  if constexpr (requires { x.columns; }) {
    const std::size_t few = std::min<std::size_t>(x.size, 5);
    bool falls = false;  // no branch per column: it would be unpredictable
    for (std::size_t j = 1; j < few; ++j) falls |= x.columns[j] <= x.columns[j - 1];
    return falls;
  }
  return false;
}

// Checks whether the columns of a row are distinct, in O(size) and with memory that does not grow with the model.
//
// Each column marks a slot of a small table. The few columns whose slot is already marked are compared with the whole
// row. A mark is the number of the row (1 to 255), so the table is cleared once in 255 rows.
class Distinct {
 public:
  // Also checks that the columns are inside the matrix. Returns false for repeated columns and for rows that are too
  // long to decide: the caller then sorts the row.
  template <class Features>
  bool check(const Features& x) {
    if constexpr (requires { x.columns; }) {
      if (descends(x)) return true;
      if (x.size <= 32) return check_in(short_rows_, x);
      if (x.size <= 128) return check_in(middle_rows_, x);
      return x.size <= 512 ? check_in(long_rows_, x) : check_in(longest_rows_, x);
    }
    return false;
  }

  // The tables of this thread, allocated on first use.
  static Distinct& of_this_thread() {
    static thread_local Distinct distinct;
    return distinct;
  }

 private:
  template <std::size_t bits>
  struct Table {
    static constexpr std::size_t slots = std::size_t{1} << bits;
    std::vector<std::uint8_t> marks;
    std::uint8_t row = 0;

    std::uint8_t next_row() {
      row = static_cast<std::uint8_t>(row + 1);
      if (marks.empty() || row == 0) {
        marks.assign(slots, 0);
        row = 1;
      }
      return row;
    }
  };

  // Products with diagonal matrices leave the columns of sorted rows in reverse order.
  template <class Features>
  static bool descends(const Features& x) {
    using Index = std::remove_cvref_t<decltype(x.columns[0])>;
    if (x.size < 2 || x.columns[0] <= x.columns[1]) return false;
    Index rises = x.columns[x.size - 1] < 0;
    for (std::size_t j = 1; j < x.size; ++j) rises |= Index{x.columns[j] >= x.columns[j - 1]};
    return rises == 0 && static_cast<std::uint64_t>(x.columns[0]) < x.limit;
  }

  template <class AnyTable, class Features>
  static bool check_in(AnyTable& table, const Features& x) {
    using Index = std::remove_cvref_t<decltype(x.columns[0])>;
    std::array<Index, most_shared> sharing;  // columns whose slot was marked: by the same column, or by another
    std::size_t shared = 0;
    const std::uint8_t row = table.next_row();
    std::uint8_t* const marks = table.marks.data();
    for (std::size_t j = 0; j < x.size; ++j) {
      const Index column = x.columns[j];
      if (static_cast<std::uint64_t>(column) >= x.limit) return false;
      std::uint8_t& mark = marks[static_cast<std::size_t>(column) & (AnyTable::slots - 1)];
      if (mark == row) [[unlikely]] {
        if (shared == most_shared) return false;
        sharing[shared++] = column;
      }
      mark = row;
    }
    for (std::size_t k = 0; k < shared; ++k) {
      Index times = 0;
      for (std::size_t j = 0; j < x.size; ++j) times += Index{x.columns[j] == sharing[k]};
      if (times != 1) return false;
    }
    return true;
  }

  static constexpr std::size_t most_shared = 64;
  // Tables are small: they leave the L1 cache to the weights, and few columns of a row share a slot.
  Table<11> short_rows_;
  Table<13> middle_rows_;
  Table<15> long_rows_;
  Table<18> longest_rows_;
};

// These are called rarely, and take copies: the variables of the loop then have no address and stay in registers.

// Whether all columns of a row are inside the matrix.
inline HINGE_APART bool are_columns_inside(Instance x) {
  return visit(x, [](const auto& features) { return columns_inside(features); });
}
// The same, and whether they are distinct.
inline HINGE_APART bool has_distinct_columns(Instance x) {
  return visit(x, [](const auto& features) { return Distinct::of_this_thread().check(features); });
}
// Whether the row is certainly unsorted and has distinct columns. `known`: the result of an earlier pass.
inline HINGE_APART bool is_distinct(Instance x, Distinct& distinct, char* known) {
  return visit(x, [&](const auto& features) {
    if (known != nullptr && *known != 0) return columns_inside(features);
    const bool found = falls_early(features) && distinct.check(features);
    if (known != nullptr) *known = found;
    return found;
  });
}

// In several passes over the same rows (`Batch::repeats`): which rows are unsorted and have distinct columns.
class VisitedRows {
 public:
  // One mark per row, or nullptr. The marks are kept while the passes are over the same arrays.
  char* begin_pass(const Batch& batch) {
    if (!batch.repeats || !batch.rows->is_sparse()) return nullptr;
    if (!arrays_ || !arrays_->same_as(*batch.rows)) {
      arrays_ = *batch.rows;
      distinct_.assign(batch.rows->count(), 0);
    }
    return distinct_.data();
  }

 private:
  std::optional<Rows> arrays_;
  std::vector<char> distinct_;
};

}  // namespace hinge
