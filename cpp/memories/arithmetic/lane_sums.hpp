// The scores of many lanes in one pass over the features. The weights of a feature lie together, lane by lane, in
// groups of 32 bytes, and are summed in their own type: four doubles or eight floats at a time. Each lane's sum is made
// in the order of the features, so that the result is the same to the bit however many lanes a vector register holds.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sums.hpp"

namespace hinge {

#if defined(__GNUC__) || defined(__clang__)
using Quad = double __attribute__((vector_size(32)));
using Oct = float __attribute__((vector_size(32)));
#else
template <class Real, std::size_t count>
struct Several {
  Real of[count];
  Real operator[](std::size_t i) const { return of[i]; }
  friend Several operator*(Several x, Several y) {
    for (std::size_t i = 0; i < count; ++i) x.of[i] *= y.of[i];
    return x;
  }
  friend Several operator*(Several x, Real y) {
    for (std::size_t i = 0; i < count; ++i) x.of[i] *= y;
    return x;
  }
  friend Several operator+(Several x, Several y) {
    for (std::size_t i = 0; i < count; ++i) x.of[i] += y.of[i];
    return x;
  }
};
using Quad = Several<double, 4>;
using Oct = Several<float, 8>;
#endif

// As many lanes as are summed together.
template <class Real>
using Group = std::conditional_t<std::is_same_v<Real, double>, Quad, Oct>;
template <class Real>
inline constexpr std::size_t lane_group = sizeof(Group<Real>) / sizeof(Real);
template <class Real>
inline constexpr std::size_t padded(std::size_t lanes) {
  return (lanes + lane_group<Real> - 1) / lane_group<Real> * lane_group<Real>;
}

template <class Real>
HINGE_INLINE void load_lanes(const Real* from, Group<Real>& group) {
  std::memcpy(&group, from, sizeof group);
}
HINGE_INLINE void repeat(double value, Quad& quad) { quad = Quad{value, value, value, value}; }
HINGE_INLINE void repeat(double value, Oct& oct) {
  const float v = static_cast<float>(value);
  oct = Oct{v, v, v, v, v, v, v, v};
}

// One bit for each of the 64 values from the j-th on, or of as many as there are, set if it is not 0.
template <class Features>
HINGE_INLINE std::uint64_t find_nonzeros(const Features& x, std::size_t j) {
  std::uint64_t marks = 0;
  const std::size_t end = std::min(x.size, j + 64);
  std::size_t i = j;
#if defined(__SSE2__)
  if constexpr (std::is_same_v<Features, DenseFeatures<double>>)
    for (; i + 2 <= end; i += 2) {
      const __m128d two = _mm_cmpneq_pd(_mm_loadu_pd(x.values + i), _mm_setzero_pd());
      marks |= static_cast<std::uint64_t>(_mm_movemask_pd(two)) << (i - j);
    }
  if constexpr (std::is_same_v<Features, DenseFeatures<float>>)
    for (; i + 4 <= end; i += 4) {
      const __m128 four = _mm_cmpneq_ps(_mm_loadu_ps(x.values + i), _mm_setzero_ps());
      marks |= static_cast<std::uint64_t>(_mm_movemask_ps(four)) << (i - j);
    }
#endif
  for (; i < end; ++i) marks |= static_cast<std::uint64_t>(x.value(i) != 0) << (i - j);
  return marks;
}

// function(j) for each feature that adds something, in their order: a dense instance may be mostly zeros. They are found
// 64 at a time, because no branch can guess which comes next.
template <class Features, class Function>
HINGE_INLINE void for_each_nonzero(const Features& x, const Function& function) {
  if constexpr (requires { x.columns; }) {
    for (std::size_t j = 0; j < x.size; ++j) function(j);
  } else {
    for (std::size_t j = 0; j < x.size; j += 64)
      for (std::uint64_t marks = find_nonzeros(x, j); marks != 0; marks &= marks - 1)
        function(j + static_cast<std::size_t>(std::countr_zero(marks)));
  }
}

// The sums of `Groups` groups of lanes, from `lanes` on: they stay in registers.
template <int Groups, class Real, class Features>
HINGE_INLINE void sum_groups(const Real* lanes, std::size_t stride, const Features& x, Real* scores) {
  Group<Real> sums[Groups] = {};
  for_each_nonzero(x, [&](std::size_t j) HINGE_INLINE_LAMBDA {
    const Real* weights = lanes + x.column(j) * stride;
    Group<Real> values{}, group{};
    repeat(x.value(j), values);
    for (int g = 0; g < Groups; ++g) {
      load_lanes(weights + lane_group<Real> * g, group);
      sums[g] = sums[g] + group * values;
    }
  });
  std::memcpy(scores, sums, sizeof sums);
}

// Where the weights of feature j of a sparse instance lie, to be prefetched. It may be beyond the instance and was not
// checked, so it is a number, not a pointer.
template <class Real, class Features>
HINGE_INLINE std::uintptr_t weights_ahead(const Real* lanes, std::size_t stride, const Features& x, std::size_t j) {
  const std::size_t last = x.size + x.beyond - 1;
  return reinterpret_cast<std::uintptr_t>(lanes) + x.column(std::min(j, last)) * stride * sizeof(Real);
}

// Too many lanes for the registers: the sums stay in memory, and several features are added at a time. Those of the next
// features are prefetched. The weights of a sparse instance lie far apart: those of features further on (measured: 24 to
// 106 are about the same) are prefetched into the second cache. (For a dense instance that takes a third longer.)
template <std::size_t Together, class Real, class Features>
HINGE_INLINE void sum_features(const Real* lanes, std::size_t stride, const Features& x, std::size_t j, Real* scores) {
  constexpr bool sparse = requires { x.columns; };
  constexpr std::size_t line = 64 / sizeof(Real), far = 32;
  const Real* weights[Together];
  Group<Real> values[Together];
  for (std::size_t f = 0; f < Together; ++f) {
    weights[f] = lanes + x.column(j + f) * stride;
    repeat(x.value(j + f), values[f]);
  }
  std::conditional_t<sparse, std::uintptr_t, const Real*> next[Together], later[Together];
  for (std::size_t f = 0; f < Together; ++f) {
    if constexpr (sparse) {
      next[f] = weights_ahead(lanes, stride, x, j + Together + f);
      later[f] = weights_ahead(lanes, stride, x, j + far + f);
    } else {
      next[f] = lanes + x.column(std::min(j + Together + f, x.size - 1)) * stride;
    }
  }
  for (std::size_t g = 0; g < stride; g += lane_group<Real>) {
    for (std::size_t f = 0; g % line == 0 && f < Together; ++f) {
      if constexpr (sparse) {
        HINGE_PREFETCH(reinterpret_cast<const char*>(next[f] + g * sizeof(Real)));
        HINGE_PREFETCH_LATER(reinterpret_cast<const char*>(later[f] + g * sizeof(Real)));
      } else {
        HINGE_PREFETCH(next[f] + g);
      }
    }
    Group<Real> sum{}, group{};
    load_lanes(scores + g, sum);
    for (std::size_t f = 0; f < Together; ++f) {
      load_lanes(weights[f] + g, group);
      sum = sum + group * values[f];
    }
    std::memcpy(scores + g, &sum, sizeof sum);
  }
}

template <class Real, class Features>
HINGE_INLINE void sum_all_groups(const Real* lanes, std::size_t stride, const Features& x, Real* scores) {
  switch (stride / lane_group<Real>) {
    case 1: return sum_groups<1>(lanes, stride, x, scores);
    case 2: return sum_groups<2>(lanes, stride, x, scores);
    case 3: return sum_groups<3>(lanes, stride, x, scores);
    case 4: return sum_groups<4>(lanes, stride, x, scores);
    case 5: return sum_groups<5>(lanes, stride, x, scores);
    case 6: return sum_groups<6>(lanes, stride, x, scores);
    case 7: return sum_groups<7>(lanes, stride, x, scores);
    case 8: return sum_groups<8>(lanes, stride, x, scores);
    default: break;
  }
  std::fill_n(scores, stride, Real{0});
  std::size_t j = 0;
  for (; j + 8 <= x.size; j += 8) sum_features<8>(lanes, stride, x, j, scores);
  for (; j < x.size; ++j) sum_features<1>(lanes, stride, x, j, scores);
}

#if defined(__x86_64__) && defined(__GNUC__)
template <class Real, class Features>
HINGE_AVX2 void lane_sums_avx2(const Real* lanes, std::size_t stride, const Features& x, Real* scores) {
  sum_all_groups(lanes, stride, x, scores);
}
#endif

// scores[r] = sum_j x_j v[column_j * stride + r]. The columns are checked already.
template <class Real, class Features>
inline void lane_sums(const Real* lanes, std::size_t stride, const Features& x, Real* scores) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (has_avx2) return lane_sums_avx2(lanes, stride, x, scores);
#endif
  sum_all_groups(lanes, stride, x, scores);
}

}  // namespace hinge
