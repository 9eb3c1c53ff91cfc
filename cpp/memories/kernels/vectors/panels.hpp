// Dense vectors in panels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "../../arithmetic/buffer.hpp"
#include "../../arithmetic/lane_sums.hpp"
#include "query_rows.hpp"

namespace hinge {

// The products of `Rows` rows with the vectors of one panel.
template <class Real>
inline constexpr std::size_t panel_size = 2 * lane_group<Real>;

template <int Rows, class Real>
HINGE_INLINE void panel_products(const Real* panel, const Real* const* rows, std::size_t width, Real* products) {
  Group<Real> sums[Rows][2] = {};
  for (std::size_t j = 0; j < width; ++j) {
    Group<Real> first{}, second{};
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
  void put(std::size_t i, const QueryRows<Real>& rows, std::size_t row) {
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
  void products(const QueryRows<Real>& rows, std::size_t from, std::size_t count, double* products,
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
  void sparse_products(const QueryRows<Real>& rows, std::size_t row, const Real* panel, Real* sums) const {
    std::fill_n(sums, size, Real{0});
    rows.each(row, [&](std::size_t column, Real value) HINGE_INLINE_LAMBDA {
      if (column >= width_) return;
      for (std::size_t lane = 0; lane < size; ++lane) sums[lane] += panel[column * size + lane] * value;
    });
  }

  std::size_t width_ = 0;
  std::vector<Buffer<Real>> panels_;
};

}  // namespace hinge
