// The sums over one instance, in a fixed order of arithmetic: eight partial sums in four pairs, whatever
// the machine, so that the result is the same to the bit everywhere. The pairs are vector registers of
// the x86-64 and arm64 baselines; no instruction beyond these is used.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "../instance.hpp"

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

// Two neighbours at once.
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

// Weights as they lie in an array. (Averages have a reader of their own, one weight at a time.)
template <class Real>
struct InArray {
  const Real* weights;
  double operator()(std::size_t i) const { return static_cast<double>(weights[i]); }
};

template <class WeightAt, class Features>
inline Pair two_weights(const WeightAt& weight, const Features& x, std::size_t j) {
  if constexpr (requires { weight.weights; } && !requires { x.columns; })
    return load(weight.weights + j);
  else
    return Pair{weight(x.column(j)), weight(x.column(j + 1))};
}

struct Sums {
  double product = 0, square = 0;  // w.x and |x|^2
};

template <class WeightAt, class Features>
inline Sums sums(const WeightAt& weight, const Features& x) {
  Pair p0{}, p1{}, p2{}, p3{}, s0{}, s1{}, s2{}, s3{};
  std::size_t j = 0;
  for (; j + 8 <= x.size; j += 8) {
    const Pair x0 = two_values(x, j), x1 = two_values(x, j + 2), x2 = two_values(x, j + 4),
               x3 = two_values(x, j + 6);
    p0 = p0 + two_weights(weight, x, j) * x0;
    p1 = p1 + two_weights(weight, x, j + 2) * x1;
    p2 = p2 + two_weights(weight, x, j + 4) * x2;
    p3 = p3 + two_weights(weight, x, j + 6) * x3;
    s0 = s0 + x0 * x0;
    s1 = s1 + x1 * x1;
    s2 = s2 + x2 * x2;
    s3 = s3 + x3 * x3;
  }
  for (; j + 2 <= x.size; j += 2) {
    const Pair x0 = two_values(x, j);
    p0 = p0 + two_weights(weight, x, j) * x0;
    s0 = s0 + x0 * x0;
  }
  const Pair p = (p0 + p1) + (p2 + p3), s = (s0 + s1) + (s2 + s3);
  Sums sums{p[0] + p[1], s[0] + s[1]};
  if (j < x.size) {
    sums.product += weight(x.column(j)) * x.value(j);
    sums.square += x.value(j) * x.value(j);
  }
  return sums;
}

}  // namespace hinge
