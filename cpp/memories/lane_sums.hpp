// The scores of many lanes in one pass over the features. The weights of a feature lie together, lane by lane,
// in groups of four. Each lane's sum is made in the order of the features, so that the result is the same to the
// bit however many lanes a vector register holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "sums.hpp"

namespace hinge {

inline constexpr std::size_t lane_group = 4;
inline constexpr std::size_t padded(std::size_t lanes) { return (lanes + lane_group - 1) / lane_group * lane_group; }

#if defined(__GNUC__) || defined(__clang__)
using Quad = double __attribute__((vector_size(32)));
using QuadOfFloats = float __attribute__((vector_size(16)));
#define HINGE_PREFETCH(address) __builtin_prefetch(address)
#else
struct Quad {
  double of[4];
  double operator[](int i) const { return of[i]; }
  friend Quad operator*(Quad x, Quad y) {
    for (int i = 0; i < 4; ++i) x.of[i] *= y.of[i];
    return x;
  }
  friend Quad operator+(Quad x, Quad y) {
    for (int i = 0; i < 4; ++i) x.of[i] += y.of[i];
    return x;
  }
};
#define HINGE_PREFETCH(address)
#endif

HINGE_INLINE void load_lanes(const double* from, Quad& quad) { std::memcpy(&quad, from, sizeof quad); }
HINGE_INLINE void load_lanes(const float* from, Quad& quad) {
#if defined(__GNUC__) || defined(__clang__)
  QuadOfFloats floats;
  std::memcpy(&floats, from, sizeof floats);
  quad = __builtin_convertvector(floats, Quad);
#else
  quad = Quad{{from[0], from[1], from[2], from[3]}};
#endif
}

// The sums of `Groups` groups of lanes, from `lanes` on: they stay in registers.
template <int Groups, class Real, class Features>
HINGE_INLINE void sum_groups(const Real* lanes, std::size_t stride, const Features& x, double* scores) {
  Quad sums[Groups] = {};
  for (std::size_t j = 0; j < x.size; ++j) {
    const double value = x.value(j);
    if constexpr (!requires { x.columns; })
      if (value == 0) continue;  // adds nothing
    const Real* weights = lanes + x.column(j) * stride;
    const Quad values{value, value, value, value};
    for (int g = 0; g < Groups; ++g) {
      Quad quad;
      load_lanes(weights + lane_group * g, quad);
      sums[g] = sums[g] + quad * values;
    }
  }
  std::memcpy(scores, sums, sizeof sums);
}

// Too many lanes for the registers: the sums stay in memory, and several features are added at a time. Their
// weights lie far apart: those of the next features are asked for ahead.
template <std::size_t Together, class Real, class Features>
HINGE_INLINE void sum_features(const Real* lanes, std::size_t stride, const Features& x, std::size_t j, double* scores) {
  constexpr std::size_t line = 64 / sizeof(Real);
  const Real* weights[Together];
  Quad values[Together];
  for (std::size_t f = 0; f < Together; ++f) {
    weights[f] = lanes + x.column(j + f) * stride;
    const double value = x.value(j + f);
    values[f] = Quad{value, value, value, value};
  }
  for (std::size_t f = j + Together; f < std::min(j + 2 * Together, x.size); ++f)
    for (std::size_t k = 0; k < stride; k += line) HINGE_PREFETCH(lanes + x.column(f) * stride + k);
  for (std::size_t g = 0; g < stride; g += lane_group) {
    Quad sum, quad;
    load_lanes(scores + g, sum);
    for (std::size_t f = 0; f < Together; ++f) {
      load_lanes(weights[f] + g, quad);
      sum = sum + quad * values[f];
    }
    std::memcpy(scores + g, &sum, sizeof sum);
  }
}

template <class Real, class Features>
HINGE_INLINE void sum_all_groups(const Real* lanes, std::size_t stride, const Features& x, double* scores) {
  switch (stride / lane_group) {
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
  std::fill_n(scores, stride, 0.0);
  std::size_t j = 0;
  for (; j + 8 <= x.size; j += 8) sum_features<8>(lanes, stride, x, j, scores);
  for (; j < x.size; ++j) sum_features<1>(lanes, stride, x, j, scores);
}

#if defined(__x86_64__) && defined(__GNUC__)
template <class Real, class Features>
HINGE_AVX2 void lane_sums_avx2(const Real* lanes, std::size_t stride, const Features& x, double* scores) {
  sum_all_groups(lanes, stride, x, scores);
}
#endif

// scores[r] = sum_j x_j v[column_j * stride + r]. The columns are checked already.
template <class Real, class Features>
inline void lane_sums(const Real* lanes, std::size_t stride, const Features& x, double* scores) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (has_avx2) return lane_sums_avx2(lanes, stride, x, scores);
#endif
  sum_all_groups(lanes, stride, x, scores);
}

}  // namespace hinge
