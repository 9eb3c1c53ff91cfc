// Sparse rows whose columns are not sorted. Sums over such a row are made in the order given, if its columns are distinct:
// w.x would be right even if a column were repeated, but |x|^2 would not.
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

// Whether all columns are columns of the matrix. No branch per column: the compiler compares several at a time.
template <class Features>
HINGE_INLINE bool columns_inside(const Features& x) {
  if constexpr (requires { x.columns; }) {
    using Index = std::remove_cvref_t<decltype(x.columns[0])>;
    if (x.size == 0) return true;
    if (x.limit == 0) return false;
    const auto most = static_cast<Index>(
        std::min(x.limit - 1, static_cast<std::size_t>(std::numeric_limits<Index>::max())));
    Index outside = 0;  // negative once a column, or what remains between it and the largest one, is negative
    for (std::size_t j = 0; j < x.size; ++j) {
      const Index column = x.columns[j];
      outside |= column | static_cast<Index>(static_cast<std::make_unsigned_t<Index>>(most) -
                                             static_cast<std::make_unsigned_t<Index>>(column));
    }
    return outside >= 0;
  }
  return true;
}

// Whether one of the first few columns is not larger than the one before it: the row is certainly not sorted.
template <class Features>
HINGE_INLINE bool falls_early(const Features& x) {
  if constexpr (requires { x.columns; }) {
    const std::size_t few = std::min<std::size_t>(x.size, 5);
    bool falls = false;  // no branch per column: it could not be predicted
    for (std::size_t j = 1; j < few; ++j) falls |= x.columns[j] <= x.columns[j - 1];
    return falls;
  }
  return false;
}

// Tells whether the columns of a row are distinct, in O(size) and without memory that grows with the model.
//
// Each column marks a slot of a small table. Columns that find their slot marked are few; each of these is compared with
// the whole row. Marks carry the number of the row (1 to 255), so that the table is cleared once in 255 rows.
class Distinct {
 public:
  // Also checks that the columns lie inside of the matrix. False for a row with repeated columns, or too long to
  // decide: the caller sorts it then.
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

  // The tables of this thread, made when they are first needed.
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
    std::array<Index, most_shared> sharing;  // columns that found their slot marked: by the same column, or by another one
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
  // Small tables leave the nearest cache to the weights, and few columns of a row share a slot.
  Table<11> short_rows_;
  Table<13> middle_rows_;
  Table<15> long_rows_;
  Table<18> longest_rows_;
};

// These are called rarely, and get copies: what a loop works with has no address then, and stays in registers.

// Whether all columns of a row lie inside of the matrix.
inline HINGE_APART bool are_columns_inside(Instance x) {
  return visit(x, [](const auto& features) { return columns_inside(features); });
}
// Whether they are distinct, too.
inline HINGE_APART bool has_distinct_columns(Instance x) {
  return visit(x, [](const auto& features) { return Distinct::of_this_thread().check(features); });
}
// Whether the row is certainly not sorted, and its columns are distinct: `known` from an earlier pass, or found out.
inline HINGE_APART bool is_distinct(Instance x, Distinct& distinct, char* known) {
  return visit(x, [&](const auto& features) {
    if (known != nullptr && *known != 0) return columns_inside(features);
    const bool found = falls_early(features) && distinct.check(features);
    if (known != nullptr) *known = found;
    return found;
  });
}

// Which of the rows that are visited in several passes (`Batch::repeats`) have distinct columns without being sorted.
class VisitedRows {
 public:
  // A mark per row, or none. Marks are kept while the passes are over the same arrays.
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
