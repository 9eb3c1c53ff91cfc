// Sets of vectors, held for their inner products with others.
//
// Every product is summed up in the order of the columns, one partial sum: so it is the same to the bit whether the two
// vectors are dense or sparse (zeros add nothing), alone or among thousands, and whichever of the two is held. What is
// summed at once are products of different pairs: several rows with a panel of vectors whose values in a column lie
// together, in vector registers. That is a matrix product at the speed of BLAS, but for fused operations.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "vectors/lists.hpp"
#include "vectors/panels.hpp"
#include "vectors/query_rows.hpp"

namespace hinge {

// Vectors held one way or the other, whichever suits those that have come: the products are the same.
template <class Real>
class Vectors {
 public:
  std::size_t count() const { return count_; }

  // How many bytes it takes with one more vector.
  std::size_t bytes(const QueryRows<Real>& rows, std::size_t row) const {
    const std::size_t width = width_of(rows, row);
    if (will_be_dense(rows, row, width)) return panels_.bytes(count_ + 1, std::max(width, widest_));
    return lists_.bytes_of(stored_) + 4 * sizeof(double) * rows.stored(row);
  }
  // Before `add`: room for the vector. Nothing changes that can be seen.
  void reserve(const QueryRows<Real>& rows, std::size_t row) {
    const std::size_t width = width_of(rows, row);
    choose(rows, row, width);
    if (dense_)
      panels_.reserve(count_, width);
    else
      lists_.reserve(rows, row);
  }
  void add(const QueryRows<Real>& rows, std::size_t row) {
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
  void products(const QueryRows<Real>& rows, std::size_t from, double* products, std::size_t stride) const {
    dense_ ? panels_.products(rows, from, count_, products, stride)
           : lists_.products(rows, from, count_, products, stride);
  }

 private:
  static std::size_t width_of(const QueryRows<Real>& rows, std::size_t row) {
    if (!rows.sparse()) return rows.width();
    std::size_t width = 0;
    rows.each(row, [&](std::size_t column, Real) { width = column + 1; });
    return width;
  }
  // Lists take about 8 times as long for each value that is not 0. Asked for whenever the number of vectors doubles, or
  // panels would get twice as wide.
  bool will_be_dense(const QueryRows<Real>& rows, std::size_t row, std::size_t width) const {
    if (!std::has_single_bit(count_ + 1) && !(dense_ && width / 2 > widest_)) return dense_;
    std::size_t stored = stored_;
    rows.each(row, [&](std::size_t, Real) { stored += 1; });
    return stored * 8 >= (count_ + 1) * std::max(width, widest_);
  }
  void choose(const QueryRows<Real>& rows, std::size_t row, std::size_t width) {
    const bool dense = will_be_dense(rows, row, width);
    if (dense == dense_) return;
    Vectors other;
    other.dense_ = dense;
    QueryRows<Real> one;
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
