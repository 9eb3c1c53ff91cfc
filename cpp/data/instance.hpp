// One example's features, seen where they lie: a view, never a copy.
//
// An instance is dense (value j belongs to column j) or sparse (value j belongs to columns[j]), in
// float32 or float64. `visit` turns the run-time layout into a type, so that the loops over features
// are compiled once for each layout and contain no branches.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "errors.hpp"

namespace hinge {

enum class Layout : std::uint8_t { dense, strided, sparse32, sparse64 };
enum class Precision : std::uint8_t { single_, double_ };

struct Instance {
  const void* values = nullptr;
  const void* columns = nullptr;  // sparse layouts only; checked when they are first read
  std::size_t limit = none;       // sparse layouts only: every column must be below this
  std::size_t size = 0;           // how many values are stored
  std::ptrdiff_t stride = 1;      // from one value to the next, in values; 1 unless `strided`
  Layout layout = Layout::dense;
  Precision precision = Precision::double_;
  bool transient = false;  // the arrays last only until the next instance is made
  bool any_order = false;  // sparse layouts only: the columns are checked already, and need not be sorted
  double unseen = 0;  // the squares of features that have no column (new names when predicting)
  // Sparse layouts only: how many values ahead lies what is read soon, and later. It is prefetched.
  std::ptrdiff_t soon = 0, later = 0;
  // Sparse layouts only: how many columns follow those of this instance, of the next ones. They may be read, but are not
  // checked.
  std::size_t beyond = 0;
};

template <class Value>
struct DenseFeatures {
  const Value* values;
  std::size_t size;
  static DenseFeatures of(const Instance& x) { return {static_cast<const Value*>(x.values), x.size}; }
  double value(std::size_t j) const { return static_cast<double>(values[j]); }
  std::size_t column(std::size_t j) const { return j; }
};

template <class Value>
struct StridedFeatures {
  const Value* values;
  std::size_t size;
  std::ptrdiff_t stride;
  static StridedFeatures of(const Instance& x) { return {static_cast<const Value*>(x.values), x.size, x.stride}; }
  double value(std::size_t j) const {
    return static_cast<double>(values[static_cast<std::ptrdiff_t>(j) * stride]);
  }
  std::size_t column(std::size_t j) const { return j; }
};

template <class Value, class Index>
struct SparseFeatures {
  const Value* values;
  std::size_t size;
  const Index* columns;
  std::size_t limit;
  std::ptrdiff_t soon = 0, later = 0;
  std::size_t beyond = 0;
  bool any_order = false;
  static SparseFeatures of(const Instance& x) {
    return {static_cast<const Value*>(x.values), x.size, static_cast<const Index*>(x.columns), x.limit,
            x.soon, x.later, x.beyond, x.any_order};
  }
  double value(std::size_t j) const { return static_cast<double>(values[j]); }
  std::size_t column(std::size_t j) const { return static_cast<std::size_t>(columns[j]); }
};

#if defined(__GNUC__)
#define HINGE_INLINE __attribute__((always_inline)) inline
#define HINGE_INLINE_LAMBDA __attribute__((always_inline))
#define HINGE_APART __attribute__((noinline))
#define HINGE_APART_LAMBDA __attribute__((noinline))
#define HINGE_PREFETCH(address) __builtin_prefetch(address)              // into the nearest cache
#define HINGE_PREFETCH_LATER(address) __builtin_prefetch(address, 0, 2)  // into the one behind it
#else
#define HINGE_INLINE inline
#define HINGE_INLINE_LAMBDA
#define HINGE_APART
#define HINGE_APART_LAMBDA
#define HINGE_PREFETCH(address)
#define HINGE_PREFETCH_LATER(address)
#endif

template <class Value, class Function>
HINGE_INLINE decltype(auto) visit_as(const Instance& x, Function&& function) {
  switch (x.layout) {
    case Layout::strided: return function(StridedFeatures<Value>::of(x));
    case Layout::sparse32: return function(SparseFeatures<Value, std::int32_t>::of(x));
    case Layout::sparse64: return function(SparseFeatures<Value, std::int64_t>::of(x));
    case Layout::dense: break;
  }
  return function(DenseFeatures<Value>::of(x));
}

template <class Function>
HINGE_INLINE decltype(auto) visit(const Instance& x, Function&& function) {
  return x.precision == Precision::single_ ? visit_as<float>(x, function)
                                           : visit_as<double>(x, function);
}

inline void reject_unless_finite(double value, std::size_t row, std::size_t column) {
  if (std::isnan(value)) throw InputError("the value is NaN", row, column);
  if (std::isinf(value)) throw InputError("the value is infinity (inf)", row, column);
}

// Throws if a value, or its square, is not finite. Called only if a sum over them is not.
inline void reject_bad_values(const Instance& x, std::size_t row) {
  visit(x, [&](auto features) {
    for (std::size_t j = 0; j < features.size; ++j)
      reject_unless_finite(features.value(j), row, features.column(j));
    for (std::size_t j = 0; j < features.size; ++j) {
      const double value = features.value(j);
      if (std::isinf(value * value))
        throw InputError("the value is too large: its square overflows float64", row,
                      features.column(j));
    }
  });
}

}  // namespace hinge
