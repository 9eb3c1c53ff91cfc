// Sets of vectors, held for their inner products with others.
//
// Every product is summed up in the order of the columns, one partial sum: so it is the same to the bit whether the two
// vectors are dense or sparse (zeros add nothing), alone or among thousands, and whichever of the two is held. What is
// summed at once are products of different pairs: several rows with a panel of vectors whose values in a column lie
// together, in vector registers. That is a matrix product at the speed of BLAS, but for fused operations.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../../data/instance.hpp"
#include "../arithmetic/buffer.hpp"
#include "../arithmetic/lane_sums.hpp"

namespace hinge {

// One vector by its values that are not 0, or all of them; the columns ascend.
struct SparseVector {
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

// Several rows as they are asked about: all dense, or all sparse.
template <class Real>
class AskedRows {
 public:
  // `sparse`: by their columns; else `width` values a row. `came_sparse`: whether they came so.
  void clear(bool sparse, std::size_t width, bool came_sparse) {
    sparse_ = sparse;
    came_sparse_ = came_sparse;
    width_ = sparse ? 0 : width;
    starts_.assign(1, 0);
    columns_.clear();
    values_.clear();
    squares_.clear();
    unseen_.clear();
  }
  // False if the columns are not in order.
  bool add(const Instance& x) {
    const std::size_t from = values_.size();
    if (!sparse_) values_.resize(from + width_);
    const bool in_order = visit(x, [&](const auto& features) { return copy(features, from); });
    starts_.push_back(values_.size());
    Real square = 0;
    for (std::size_t j = from; j < values_.size(); ++j) square += values_[j] * values_[j];
    squares_.push_back(static_cast<double>(square) + x.unseen);
    unseen_.push_back(x.unseen);
    return in_order;
  }

  // Nothing yet, but of the same kind as others.
  void clear_as(const AskedRows& others) { clear(others.sparse_, others.width_, others.came_sparse_); }
  void add_from(const AskedRows& others, std::size_t i) {
    const auto from = static_cast<std::ptrdiff_t>(others.starts_[i]), to = static_cast<std::ptrdiff_t>(others.starts_[i + 1]);
    values_.insert(values_.end(), others.values_.begin() + from, others.values_.begin() + to);
    if (sparse_) columns_.insert(columns_.end(), others.columns_.begin() + from, others.columns_.begin() + to);
    starts_.push_back(values_.size());
    squares_.push_back(others.squares_[i]);
    unseen_.push_back(others.unseen_[i]);
  }

  void drop_last() {
    starts_.pop_back();
    squares_.pop_back();
    unseen_.pop_back();
    values_.resize(starts_.back());
    if (sparse_) columns_.resize(starts_.back());
  }

  std::size_t count() const { return squares_.size(); }
  bool sparse() const { return sparse_; }
  bool came_sparse() const { return came_sparse_; }
  std::size_t width() const { return width_; }  // of dense rows
  double square(std::size_t i) const { return squares_[i]; }  // |x|^2, with the features that have no column
  // |x - z|^2, summed up in the order of the columns.
  double distance(std::size_t i, const SparseVector& z) const {
    double sum = 0;
    std::size_t k = 0;
    const auto up_to = [&](std::size_t column) {  // what z has where x has nothing
      for (; k < z.columns.size() && static_cast<std::size_t>(z.columns[k]) < column; ++k)
        sum += z.values[k] * z.values[k];
    };
    each(i, [&](std::size_t column, Real value) {
      up_to(column);
      double difference = static_cast<double>(value);
      if (k < z.columns.size() && static_cast<std::size_t>(z.columns[k]) == column) difference -= z.values[k++];
      sum += difference * difference;
    });
    up_to(none);
    return sum + unseen_[i];
  }
  const Real* dense(std::size_t i) const { return values_.data() + i * width_; }
  std::size_t stored(std::size_t i) const { return starts_[i + 1] - starts_[i]; }
  // Calls function(column, value) for the values of row i that are not 0, in the order of the columns.
  template <class Function>
  HINGE_INLINE void each(std::size_t i, Function&& function) const {
    for (std::size_t j = starts_[i]; j < starts_[i + 1]; ++j)
      if (values_[j] != 0) function(sparse_ ? static_cast<std::size_t>(columns_[j]) : j - starts_[i], values_[j]);
  }

 private:
  template <class Features>
  bool copy(const Features& x, std::size_t from) {
    std::int64_t last = -1;
    for (std::size_t j = 0; j < x.size; ++j) {
      const auto column = static_cast<std::int64_t>(x.column(j));
      if constexpr (requires { x.columns; })
        if (column <= last || static_cast<std::size_t>(column) >= x.limit) return false;
      last = column;
      if (sparse_) {
        columns_.push_back(column);
        values_.push_back(static_cast<Real>(x.value(j)));
      } else if (static_cast<std::size_t>(column) < width_) {
        values_[from + static_cast<std::size_t>(column)] = static_cast<Real>(x.value(j));
      }
    }
    return true;
  }

  bool sparse_ = false, came_sparse_ = false;
  std::size_t width_ = 0;
  std::vector<std::size_t> starts_{0};
  std::vector<std::int64_t> columns_;
  std::vector<Real> values_;
  std::vector<double> squares_, unseen_;
};

// ---- dense vectors: panels ------------------------------------------------------------------------------------------

// The products of `Rows` rows with the vectors of one panel.
template <class Real>
inline constexpr std::size_t panel_size = 2 * lane_group<Real>;

template <int Rows, class Real>
HINGE_INLINE void panel_products(const Real* panel, const Real* const* rows, std::size_t width, Real* products) {
  Group<Real> sums[Rows][2] = {};
  for (std::size_t j = 0; j < width; ++j) {
    Group<Real> first, second;
    load_lanes(panel + j * panel_size<Real>, first);
    load_lanes(panel + j * panel_size<Real> + lane_group<Real>, second);
    for (int r = 0; r < Rows; ++r) {
      const Real value = rows[r][j];
      sums[r][0] = sums[r][0] + first * value;
      sums[r][1] = sums[r][1] + second * value;
    }
  }
  std::memcpy(products, sums, sizeof sums);
}
template <class Real>
HINGE_INLINE void panel_products_of(int count, const Real* panel, const Real* const* rows, std::size_t width,
                                    Real* products) {
  switch (count) {
    case 1: return panel_products<1>(panel, rows, width, products);
    case 2: return panel_products<2>(panel, rows, width, products);
    case 3: return panel_products<3>(panel, rows, width, products);
    default: return panel_products<4>(panel, rows, width, products);
  }
}
#if defined(__x86_64__) && defined(__GNUC__)
template <class Real>
HINGE_AVX2 void panel_products_avx2(int count, const Real* panel, const Real* const* rows, std::size_t width,
                                    Real* products) {
  panel_products_of(count, panel, rows, width, products);
}
#endif
template <class Real>
inline void panel_products_any(int count, const Real* panel, const Real* const* rows, std::size_t width, Real* products) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (has_avx2) return panel_products_avx2(count, panel, rows, width, products);
#endif
  panel_products_of(count, panel, rows, width, products);
}

// Vectors in panels: value j of the vectors of a panel lies together.
template <class Real>
class Panels {
 public:
  static constexpr std::size_t size = panel_size<Real>;

  std::size_t bytes(std::size_t count, std::size_t width) const {
    return (count + size - 1) / size * size * std::max(width, width_) * sizeof(Real);
  }
  // Room for a vector of that width in place `i`, which is the first free one.
  void reserve(std::size_t i, std::size_t width) {
    if (width > width_) {
      for (auto& panel : panels_) panel.resize(width * size);
      width_ = width;
    }
    if (i / size >= panels_.size()) {
      Buffer<Real> panel;
      panel.resize(width_ * size);
      panels_.push_back(std::move(panel));
    }
  }
  void put(std::size_t i, const AskedRows<Real>& rows, std::size_t row) {
    Real* const lane = panels_[i / size].data() + i % size;
    rows.each(row, [&](std::size_t column, Real value) { lane[column * size] = value; });
  }
  // The last one takes the place of vector i.
  void remove(std::size_t i, std::size_t last) {
    Real* const to = panels_[i / size].data() + i % size;
    Real* const from = panels_[last / size].data() + last % size;
    for (std::size_t j = 0; j < width_; ++j) {
      to[j * size] = from[j * size];
      from[j * size] = 0;
    }
    if (last % size == 0 && panels_.size() > last / size + 1) panels_.pop_back();  // one empty panel may stay
  }
  std::size_t stored(std::size_t i) const {
    const Real* const lane = panels_[i / size].data() + i % size;
    std::size_t stored = 0;
    for (std::size_t j = 0; j < width_; ++j) stored += lane[j * size] != 0;
    return stored;
  }
  double value(std::size_t i, std::size_t column) const {
    return column < width_ ? static_cast<double>(panels_[i / size].data()[column * size + i % size]) : 0;
  }
  SparseVector get(std::size_t i) const {
    const Real* const lane = panels_[i / size].data() + i % size;
    SparseVector vector;
    for (std::size_t j = 0; j < width_; ++j)
      if (lane[j * size] != 0) {
        vector.columns.push_back(static_cast<std::int64_t>(j));
        vector.values.push_back(static_cast<double>(lane[j * size]));
      }
    return vector;
  }

  // products[row * stride + i] for all rows and the vectors i from `from`, or somewhat before it, up to `count`. Panel by
  // panel, which stays in the cache.
  void products(const AskedRows<Real>& rows, std::size_t from, std::size_t count, double* products,
                std::size_t stride) const {
    constexpr std::size_t together = 4;
    Real sums[together * size];
    const Real* values[together] = {};
    for (std::size_t first = from / size * size; first < count; first += size) {
      const Real* const panel = panels_[first / size].data();
      const std::size_t here = std::min(size, count - first);
      for (std::size_t row = 0; row < rows.count(); row += rows.sparse() ? 1 : together) {
        std::size_t taken = 1;
        if (rows.sparse()) {
          sparse_products(rows, row, panel, sums);
        } else {
          taken = std::min(together, rows.count() - row);
          for (std::size_t r = 0; r < taken; ++r) values[r] = rows.dense(row + r);
          panel_products_any(static_cast<int>(taken), panel, values, std::min(width_, rows.width()), sums);
        }
        for (std::size_t r = 0; r < taken; ++r)
          std::copy_n(sums + r * size, here, products + (row + r) * stride + first);
      }
    }
  }

 private:
  void sparse_products(const AskedRows<Real>& rows, std::size_t row, const Real* panel, Real* sums) const {
    std::fill_n(sums, size, Real{0});
    rows.each(row, [&](std::size_t column, Real value) HINGE_INLINE_LAMBDA {
      if (column >= width_) return;
      for (std::size_t lane = 0; lane < size; ++lane) sums[lane] += panel[column * size + lane] * value;
    });
  }

  std::size_t width_ = 0;
  std::vector<Buffer<Real>> panels_;
};

// ---- sparse vectors: lists ------------------------------------------------------------------------------------------

// Vectors by their columns: for each column a list of those that are not 0 there.
template <class Real>
class Lists {
 public:
  std::size_t bytes() const { return bytes_of(held_) + place_.size() * sizeof(std::uint32_t); }
  // Without the places of the columns, of which most are never touched: they take no memory.
  std::size_t bytes_of(std::size_t stored) const { return (stored + widest_) * 2 * sizeof(Entry); }
  void reserve(const AskedRows<Real>& rows, std::size_t row) {
    std::size_t width = 0, stored = 0, fresh = 0;
    rows.each(row, [&](std::size_t column, Real) { width = column + 1, stored += 1; });
    widest_ = std::max(widest_, stored);
    if (width > place_.size()) place_.resize(width);
    grow(own_, own_.size() + 1);
    rows.each(row, [&](std::size_t column, Real) {
      if (place_[column] == 0)
        fresh += 1;
      else
        grow(lists_[place_[column] - 1], lists_[place_[column] - 1].size() + 1);
    });
    grow(lists_, lists_.size() + fresh);
    grow(fresh_, fresh);
    while (fresh_.size() < fresh) fresh_.emplace_back().reserve(4);
    spare_.columns.reserve(stored);
    spare_.values.reserve(stored);
  }
  // After `reserve`; nothing is allocated.
  void put(std::size_t i, const AskedRows<Real>& rows, std::size_t row) {
    own_.emplace_back();
    own_.back().columns.swap(spare_.columns);
    own_.back().values.swap(spare_.values);
    SparseVector& own = own_.back();
    rows.each(row, [&](std::size_t column, Real value) {
      own.columns.push_back(static_cast<std::int64_t>(column));
      own.values.push_back(static_cast<double>(value));
      if (place_[column] == 0) {
        lists_.push_back(std::move(fresh_.back()));
        fresh_.pop_back();
        place_[column] = static_cast<std::uint32_t>(lists_.size());
      }
      lists_[place_[column] - 1].push_back({static_cast<std::uint32_t>(i), value});
    });
    held_ += own.columns.size();
  }
  void remove(std::size_t i, std::size_t last) {
    for (const std::int64_t column : own_[i].columns) {
      auto& list = list_of(column);
      *entry_of(list, i) = list.back();
      list.pop_back();
    }
    held_ -= own_[i].columns.size();
    if (i != last) {
      for (const std::int64_t column : own_[last].columns)
        entry_of(list_of(column), last)->vector = static_cast<std::uint32_t>(i);
      std::swap(own_[i], own_[last]);
    }
    own_.pop_back();
  }
  const SparseVector& get(std::size_t i) const { return own_[i]; }
  std::size_t stored(std::size_t i) const { return own_[i].columns.size(); }
  double value(std::size_t i, std::size_t column) const {
    const std::vector<std::int64_t>& columns = own_[i].columns;
    const auto at = std::lower_bound(columns.begin(), columns.end(), static_cast<std::int64_t>(column));
    if (at == columns.end() || *at != static_cast<std::int64_t>(column)) return 0;
    return own_[i].values[static_cast<std::size_t>(at - columns.begin())];
  }

  void products(const AskedRows<Real>& rows, std::size_t from, std::size_t count, double* products,
                std::size_t stride) const {
    if (from == count) return;
    std::vector<Real> sums(count);
    for (std::size_t row = 0; row < rows.count(); ++row) {
      std::fill(sums.begin(), sums.end(), Real{0});
      rows.each(row, [&](std::size_t column, Real value) HINGE_INLINE_LAMBDA {
        if (column >= place_.size() || place_[column] == 0) return;
        for (const Entry& entry : lists_[place_[column] - 1]) sums[entry.vector] += entry.value * value;
      });
      std::copy_n(sums.data() + from, count - from, products + row * stride + from);
    }
  }

 private:
  struct Entry {
    std::uint32_t vector;
    Real value;
  };
  using List = std::vector<Entry>;
  List& list_of(std::int64_t column) { return lists_[place_[static_cast<std::size_t>(column)] - 1]; }
  static Entry* entry_of(List& list, std::size_t i) {
    return &*std::find_if(list.begin(), list.end(), [i](const Entry& entry) { return entry.vector == i; });
  }
  template <class Item>
  static void grow(std::vector<Item>& items, std::size_t size) {
    if (size > items.capacity()) items.reserve(std::max(size, 2 * items.capacity()));
  }

  Buffer<std::uint32_t> place_;  // where the list of a column is, from 1; 0: there is none
  std::vector<List> lists_;
  std::vector<SparseVector> own_;
  std::size_t held_ = 0, widest_ = 0;
  std::vector<List> fresh_;  // what `reserve` has made for `put`
  SparseVector spare_;
};

// ---- either ---------------------------------------------------------------------------------------------------------

// Vectors held one way or the other, whichever suits those that have come: the products are the same.
template <class Real>
class Vectors {
 public:
  std::size_t count() const { return count_; }

  // How many bytes it takes with one more vector.
  std::size_t bytes(const AskedRows<Real>& rows, std::size_t row) const {
    const std::size_t width = width_of(rows, row);
    if (will_be_dense(rows, row, width)) return panels_.bytes(count_ + 1, std::max(width, widest_));
    return lists_.bytes_of(stored_) + 4 * sizeof(double) * rows.stored(row);
  }
  // Before `add`: room for the vector. Nothing changes that can be seen.
  void reserve(const AskedRows<Real>& rows, std::size_t row) {
    const std::size_t width = width_of(rows, row);
    choose(rows, row, width);
    if (dense_)
      panels_.reserve(count_, width);
    else
      lists_.reserve(rows, row);
  }
  void add(const AskedRows<Real>& rows, std::size_t row) {
    dense_ ? panels_.put(count_, rows, row) : lists_.put(count_, rows, row);
    rows.each(row, [&](std::size_t, Real) { stored_ += 1; });
    widest_ = std::max(widest_, width_of(rows, row));
    count_ += 1;
  }
  // The last one takes its place.
  void remove(std::size_t i) {
    stored_ -= dense_ ? panels_.stored(i) : lists_.stored(i);
    dense_ ? panels_.remove(i, count_ - 1) : lists_.remove(i, count_ - 1);
    count_ -= 1;
  }
  SparseVector get(std::size_t i) const { return dense_ ? panels_.get(i) : lists_.get(i); }
  std::size_t bytes() const { return dense_ ? panels_.bytes(count_, 0) : lists_.bytes(); }
  double value(std::size_t i, std::size_t column) const {
    return dense_ ? panels_.value(i, column) : lists_.value(i, column);
  }
  // products[row * stride + i] for all rows and the vectors i from `from` on. (What lies before is not to be used.)
  void products(const AskedRows<Real>& rows, std::size_t from, double* products, std::size_t stride) const {
    dense_ ? panels_.products(rows, from, count_, products, stride)
           : lists_.products(rows, from, count_, products, stride);
  }

 private:
  static std::size_t width_of(const AskedRows<Real>& rows, std::size_t row) {
    if (!rows.sparse()) return rows.width();
    std::size_t width = 0;
    rows.each(row, [&](std::size_t column, Real) { width = column + 1; });
    return width;
  }
  // Lists take about 8 times as long for each value that is not 0. Asked for whenever the number of vectors doubles, or
  // panels would get twice as wide.
  bool will_be_dense(const AskedRows<Real>& rows, std::size_t row, std::size_t width) const {
    if (!std::has_single_bit(count_ + 1) && !(dense_ && width / 2 > widest_)) return dense_;
    std::size_t stored = stored_;
    rows.each(row, [&](std::size_t, Real) { stored += 1; });
    return stored * 8 >= (count_ + 1) * std::max(width, widest_);
  }
  void choose(const AskedRows<Real>& rows, std::size_t row, std::size_t width) {
    const bool dense = will_be_dense(rows, row, width);
    if (dense == dense_) return;
    Vectors other;
    other.dense_ = dense;
    AskedRows<Real> one;
    for (std::size_t i = 0; i < count_; ++i) {
      const SparseVector vector = get(i);
      one.clear(true, 0, true);
      one.add(instance_of(vector));
      dense ? other.panels_.reserve(i, widest_) : other.lists_.reserve(one, 0);
      other.add(one, 0);
    }
    std::swap(*this, other);
  }

 public:
  static Instance instance_of(const SparseVector& vector) {
    Instance x;
    x.values = vector.values.data();
    x.columns = vector.columns.data();
    x.size = vector.columns.size();
    x.layout = Layout::sparse64;
    return x;
  }

 private:
  std::size_t count_ = 0, stored_ = 0, widest_ = 0;
  bool dense_ = true;
  Panels<Real> panels_;
  Lists<Real> lists_;
};

}  // namespace hinge
