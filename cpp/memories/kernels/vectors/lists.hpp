// Sparse vectors in lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../arithmetic/buffer.hpp"
#include "query_rows.hpp"

namespace hinge {

// Vectors by their columns: for each column a list of those that are not 0 there.
template <class Real>
class Lists {
 public:
  std::size_t bytes() const { return bytes_of(held_) + place_.size() * sizeof(std::uint32_t); }
  // Without the places of the columns, of which most are never touched: they take no memory.
  std::size_t bytes_of(std::size_t stored) const { return (stored + widest_) * 2 * sizeof(Entry); }
  void reserve(const QueryRows<Real>& rows, std::size_t row) {
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
  void put(std::size_t i, const QueryRows<Real>& rows, std::size_t row) {
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

  void products(const QueryRows<Real>& rows, std::size_t from, std::size_t count, double* products,
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

}  // namespace hinge
