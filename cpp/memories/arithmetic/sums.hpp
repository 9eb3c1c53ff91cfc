// The sums over one instance, in a fixed order of arithmetic: eight partial sums on every machine, so that results are
// bit-identical everywhere. The sums are held in pairs, the vector registers of the x86-64 and arm64 baselines. With
// AVX2, dense instances and sparse ones with 32-bit columns are summed four at a time, in the same order (and without
// fused operations, which round differently).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "../../data/instance.hpp"

namespace hinge {

#if defined(__GNUC__) || defined(__clang__)
using Pair = double __attribute__((vector_size(16)));
#else
struct Pair {
  double a, b;
  double operator[](int i) const { return i == 0 ? a : b; }
  friend Pair operator*(Pair x, Pair y) { return {x.a * y.a, x.b * y.b}; }
  friend Pair operator+(Pair x, Pair y) { return {x.a + y.a, x.b + y.b}; }
};
#endif

// Two adjacent values.
template <class Value>
inline Pair load(const Value* from) {
  if constexpr (std::is_same_v<Value, double>) {
    Pair pair;
    std::memcpy(&pair, from, sizeof pair);
    return pair;
  } else {
    return Pair{static_cast<double>(from[0]), static_cast<double>(from[1])};
  }
}

template <class Features>
inline Pair two_values(const Features& x, std::size_t j) {
  if constexpr (requires { x.stride; })
    return Pair{x.value(j), x.value(j + 1)};
  else
    return load(x.values + j);
}

// Weights in an array. (Averages have their own reader, one weight at a time.)
template <class Real>
struct InArray {
  const Real* weights;
  double operator()(std::size_t i) const { return static_cast<double>(weights[i]); }
};

// No weights: computes the norm alone, with the check of the columns.
struct Nothing {
  double operator()(std::size_t /*column*/) const { return 0; }
};
template <class WeightAt>
inline constexpr bool weighs = !std::is_same_v<WeightAt, Nothing>;

template <class WeightAt, class Features>
inline Pair two_weights(const WeightAt& weight, const Features& x, std::size_t j) {
  if constexpr (requires { weight.weights; } && !requires { x.columns; })
    return load(weight.weights + j);
  else
    return Pair{weight(x.column(j)), weight(x.column(j + 1))};
}

// w.x and |x|^2. Two doubles are returned in registers.
struct Sums {
  double product = 0, square = 0;
  static Sums out_of_order() { return {0, -1}; }
  bool in_order() const { return square != -1; }
};

// Whether the columns are strictly ascending and inside the matrix, or exempt (`any_order`). There is no branch per
// column: many are compared at a time.
template <class Features>
HINGE_INLINE bool in_order(const Features& x) {
  if constexpr (requires { x.columns; }) {
    if (x.size == 0 || x.any_order) return true;
    using Index = std::remove_cvref_t<decltype(x.columns[0])>;
    Index falls = x.columns[0] < 0;
    for (std::size_t j = 1; j < x.size; ++j) falls |= Index{x.columns[j] <= x.columns[j - 1]};
    return falls == 0 && static_cast<std::uint64_t>(x.columns[x.size - 1]) < x.limit;
  }
  return true;
}

// Prefetches what is read soon, relative to place j: hardware prefetchers do not look far enough ahead, and stop at the
// end of each page. Any address may be prefetched, even an invalid one, so it is an integer here and not a pointer.
template <class Features>
HINGE_INLINE void prefetch(const Features& x, std::size_t j) {
  const auto place = [j](const auto* from, std::ptrdiff_t on) HINGE_INLINE_LAMBDA {
    return reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(from) +
                                         (j + static_cast<std::size_t>(on)) * sizeof *from);
  };
  HINGE_PREFETCH(place(x.values, x.soon));
  HINGE_PREFETCH(place(x.columns, x.soon));
  HINGE_PREFETCH_LATER(place(x.values, x.later));
  HINGE_PREFETCH_LATER(place(x.columns, x.later));
}

// The sums over the last features, at most three, unrolled so that nothing waits for the end of a loop.
template <class WeightAt, class Features>
HINGE_INLINE Sums last_sums(const WeightAt& weight, const Features& x, std::size_t j) {
  const auto product = [&](std::size_t i) { return weight(x.column(i)) * x.value(i); };
  const auto square = [&](std::size_t i) { return x.value(i) * x.value(i); };
  switch (x.size - j) {
    case 1: return {product(j), square(j)};
    case 2: return {product(j) + product(j + 1), square(j) + square(j + 1)};
    case 3: return {product(j) + product(j + 1) + product(j + 2), square(j) + square(j + 1) + square(j + 2)};
    default: return {};
  }
}

// The columns are checked before a weight is fetched.
template <class WeightAt, class Features>
inline Sums sums(const WeightAt& weight, const Features& x) {
  constexpr bool sparse = requires { x.columns; };
  Pair p0{}, p1{}, p2{}, p3{}, s0{}, s1{}, s2{}, s3{};
  std::size_t j = 0;
  if (!in_order(x)) return Sums::out_of_order();
  const auto take_eight = [&]() HINGE_INLINE_LAMBDA {
    const Pair x0 = two_values(x, j), x1 = two_values(x, j + 2), x2 = two_values(x, j + 4),
               x3 = two_values(x, j + 6);
    if constexpr (weighs<WeightAt>) {
      p0 = p0 + two_weights(weight, x, j) * x0;
      p1 = p1 + two_weights(weight, x, j + 2) * x1;
      p2 = p2 + two_weights(weight, x, j + 4) * x2;
      p3 = p3 + two_weights(weight, x, j + 6) * x3;
    }
    s0 = s0 + x0 * x0;
    s1 = s1 + x1 * x1;
    s2 = s2 + x2 * x2;
    s3 = s3 + x3 * x3;
    j += 8;
  };
  while (j + 8 <= x.size) {
    if constexpr (sparse) prefetch(x, j);
    take_eight();
  }
  if (j + 4 <= x.size) {
    const Pair x0 = two_values(x, j), x1 = two_values(x, j + 2);
    if constexpr (weighs<WeightAt>) {
      p0 = p0 + two_weights(weight, x, j) * x0;
      p1 = p1 + two_weights(weight, x, j + 2) * x1;
    }
    s0 = s0 + x0 * x0;
    s1 = s1 + x1 * x1;
    j += 4;
  }
  const Pair p = (p0 + p2) + (p1 + p3), s = (s0 + s2) + (s1 + s3);
  const Sums rest = last_sums(weight, x, j);
  return {(p[0] + p[1]) + rest.product, (s[0] + s[1]) + rest.square};
}

// v <- v + step * x, for weights without further bookkeeping.
template <class Real, class Features>
inline void add(Real* weights, const Features& x, double step) {
  for (std::size_t j = 0; j < x.size; ++j) {
    Real& weight = weights[x.column(j)];
    weight = static_cast<Real>(static_cast<double>(weight) + step * x.value(j));
  }
}

// The same. The previous weights go to `noted`, contiguously.
template <class Real, class Features>
inline void note_and_add(Real* noted, Real* weights, const Features& x, double step) {
  for (std::size_t j = 0; j < x.size; ++j) {
    Real& weight = weights[x.column(j)];
    const Real before = weight;
    noted[j] = before;
    weight = static_cast<Real>(static_cast<double>(before) + step * x.value(j));
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
inline const bool has_avx2 = __builtin_cpu_supports("avx2") > 0;

#define HINGE_AVX2 __attribute__((target("avx2")))
HINGE_AVX2 inline __m256d load_quad(const double* from) { return _mm256_loadu_pd(from); }
HINGE_AVX2 inline __m256d load_quad(const float* from) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }
HINGE_AVX2 inline double total(__m256d q) {
  const __m128d halves = _mm_add_pd(_mm256_castpd256_pd128(q), _mm256_extractf128_pd(q, 1));
  return _mm_cvtsd_f64(halves) + _mm_cvtsd_f64(_mm_unpackhi_pd(halves, halves));
}

// Four weights starting at place j, or those of four columns. They are loaded one by one: gather instructions are
// slower on many processors.
template <class Real>
HINGE_AVX2 inline __m256d four_weights(const InArray<Real>& w, std::size_t j) { return load_quad(w.weights + j); }
template <class Real>
HINGE_AVX2 inline __m256d four_weights(const InArray<Real>& w, const std::int32_t* columns) {
  return _mm256_set_pd(w(static_cast<std::size_t>(columns[3])), w(static_cast<std::size_t>(columns[2])),
                       w(static_cast<std::size_t>(columns[1])), w(static_cast<std::size_t>(columns[0])));
}
template <class Place>
HINGE_AVX2 inline __m256d four_weights(const Nothing& /*w*/, Place /*at*/) { return _mm256_setzero_pd(); }

template <class WeightAt, class Place>
HINGE_AVX2 inline void add_product(__m256d& sum, const WeightAt& weight, Place at, __m256d values) {
  if constexpr (weighs<WeightAt>) sum = _mm256_add_pd(sum, _mm256_mul_pd(four_weights(weight, at), values));
}

// Like `sums`: partial sum k is lane k % 4 of quad k / 4.
template <class WeightAt, class Value>
HINGE_AVX2 inline Sums dense_sums_avx2(const WeightAt weight, const Value* x, std::size_t n) {
  __m256d p0 = _mm256_setzero_pd(), p1 = p0, s0 = p0, s1 = p0;
  std::size_t j = 0;
  for (; j + 8 <= n; j += 8) {
    const __m256d x0 = load_quad(x + j), x1 = load_quad(x + j + 4);
    add_product(p0, weight, j, x0);
    add_product(p1, weight, j + 4, x1);
    s0 = _mm256_add_pd(s0, _mm256_mul_pd(x0, x0));
    s1 = _mm256_add_pd(s1, _mm256_mul_pd(x1, x1));
  }
  if (j + 4 <= n) {
    const __m256d x0 = load_quad(x + j);
    add_product(p0, weight, j, x0);
    s0 = _mm256_add_pd(s0, _mm256_mul_pd(x0, x0));
    j += 4;
  }
  const Sums rest = last_sums(weight, DenseFeatures<Value>{x, n}, j);
  return {total(_mm256_add_pd(p0, p1)) + rest.product, total(_mm256_add_pd(s0, s1)) + rest.square};
}

// Like `sums` of sparse features, with the same checks.
template <class WeightAt, class Value>
HINGE_AVX2 inline Sums sparse_sums_avx2(const WeightAt weight, const SparseFeatures<Value, std::int32_t>& x) {
  const std::int32_t* const columns = x.columns;
  const std::size_t n = x.size;
  if (!in_order(x)) return Sums::out_of_order();
  __m256d p0 = _mm256_setzero_pd(), p1 = p0, s0 = p0, s1 = p0;
  std::size_t j = 0;
  const auto take_eight = [&]() HINGE_INLINE_LAMBDA HINGE_AVX2 {
    const __m256d x0 = load_quad(x.values + j), x1 = load_quad(x.values + j + 4);
    add_product(p0, weight, columns + j, x0);
    add_product(p1, weight, columns + j + 4, x1);
    s0 = _mm256_add_pd(s0, _mm256_mul_pd(x0, x0));
    s1 = _mm256_add_pd(s1, _mm256_mul_pd(x1, x1));
    j += 8;
  };
  while (j + 8 <= n) {
    prefetch(x, j);
    take_eight();
  }
  if (j + 4 <= n) {
    const __m256d x0 = load_quad(x.values + j);
    add_product(p0, weight, columns + j, x0);
    s0 = _mm256_add_pd(s0, _mm256_mul_pd(x0, x0));
    j += 4;
  }
  const Sums rest = last_sums(weight, x, j);
  return {total(_mm256_add_pd(p0, p1)) + rest.product, total(_mm256_add_pd(s0, s1)) + rest.square};
}

HINGE_AVX2 inline void store_quad(double* to, __m256d quad) { _mm256_storeu_pd(to, quad); }
HINGE_AVX2 inline void store_quad(float* to, __m256d quad) { _mm_storeu_ps(to, _mm256_cvtpd_ps(quad)); }

// Like `add`, with the quads in which `dense_sums_avx2` reads the weights next.
template <class Real, class Value>
HINGE_AVX2 inline void dense_add_avx2(Real* weights, const Value* x, std::size_t n, double step) {
  const __m256d steps = _mm256_set1_pd(step);
  std::size_t j = 0;
  for (; j + 8 <= n; j += 8) {
    const __m256d a = _mm256_add_pd(load_quad(weights + j), _mm256_mul_pd(steps, load_quad(x + j)));
    const __m256d b = _mm256_add_pd(load_quad(weights + j + 4), _mm256_mul_pd(steps, load_quad(x + j + 4)));
    store_quad(weights + j, a);
    store_quad(weights + j + 4, b);
  }
  if (j + 4 <= n) {
    store_quad(weights + j, _mm256_add_pd(load_quad(weights + j), _mm256_mul_pd(steps, load_quad(x + j))));
    j += 4;
  }
  for (std::size_t k = 0; k < 3 && j < n; ++j, ++k)
    weights[j] = static_cast<Real>(static_cast<double>(weights[j]) + step * static_cast<double>(x[j]));
}

template <class WeightAt>
concept ArrayOrNothing = !weighs<WeightAt> || requires(WeightAt w) { w.weights; };

template <ArrayOrNothing WeightAt, class Value>
inline Sums sums(const WeightAt& weight, const DenseFeatures<Value>& x) {
  if (has_avx2) [[likely]] return dense_sums_avx2(weight, x.values, x.size);
  return sums<WeightAt, DenseFeatures<Value>>(weight, x);
}

template <ArrayOrNothing WeightAt, class Value>
inline Sums sums(const WeightAt& weight, const SparseFeatures<Value, std::int32_t>& x) {
  if (has_avx2) [[likely]] return sparse_sums_avx2(weight, x);
  return sums<WeightAt, SparseFeatures<Value, std::int32_t>>(weight, x);
}

template <class Real, class Value>
inline void add(Real* weights, const DenseFeatures<Value>& x, double step) {
  if (has_avx2) [[likely]] return dense_add_avx2(weights, x.values, x.size, step);
  add<Real, DenseFeatures<Value>>(weights, x, step);
}
#endif

}  // namespace hinge
