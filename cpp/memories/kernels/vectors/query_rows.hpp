// Rows whose inner products with the held vectors are wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../../data/instance.hpp"

namespace hinge {

// One vector by its values that are not 0, or all of them; the columns ascend.
struct SparseVector {
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

// Several rows, all dense or all sparse.
template <class Real>
class QueryRows {
 public:
  // `sparse`: by their columns; else `width` values per row. `came_sparse`: how they came.
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
  void clear_as(const QueryRows& others) { clear(others.sparse_, others.width_, others.came_sparse_); }
  void add_from(const QueryRows& others, std::size_t i) {
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

}  // namespace hinge
