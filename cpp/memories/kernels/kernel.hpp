// Kernels: inner products in a feature space, computed from those of the instances (S8).
//     linear x.z     poly (gamma x.z + coef0)^degree     rbf exp(-gamma |x-z|^2)
// plus the square of the constant feature of an intercept.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../arithmetic/exponential.hpp"
#include "../arithmetic/sums.hpp"

namespace hinge {

struct Kernel {
  enum Kind : std::uint8_t { linear, poly, rbf, custom };
  Kind kind = linear;
  double gamma = 1;
  double coef0 = 0;
  unsigned degree = 3;
  double constant = 0;  // the square of the constant feature

  // Maps products x.z (linear, poly) or distances |x - z|^2 (rbf) to kernel values, in place.
  void apply(std::size_t count, double* values) const;
  // K(x, x).
  double itself(double square) const {
    if (kind == rbf) return 1 + constant;
    return (kind == poly ? power(gamma * square + coef0) : square) + constant;
  }

  HINGE_INLINE double power(double base) const {
    double result = 1;
    for (unsigned left = degree; left > 0; left /= 2, base = base * base)
      if (left % 2 == 1) result = result * base;
    return result;
  }
  // The same for several values.
  static constexpr std::size_t some = 64;
  HINGE_INLINE void powers(std::size_t count, double* values) const {
    double bases[some] = {}, results[some];
    for (std::size_t i = 0; i < count; ++i) bases[i] = gamma * values[i] + coef0;
    std::fill_n(results, some, 1.0);
    for (unsigned left = degree; left > 0; left /= 2) {
      for (std::size_t i = 0; left % 2 == 1 && i < some; ++i) results[i] = results[i] * bases[i];
      for (std::size_t i = 0; i < some; ++i) bases[i] = bases[i] * bases[i];
    }
    for (std::size_t i = 0; i < count; ++i) values[i] = results[i] + constant;
  }
  HINGE_INLINE void apply_all(std::size_t count, double* values) const {
    const Kernel k = *this;  // a local copy: nothing that is written can alias it
    if (k.kind == rbf) {
      for (std::size_t i = 0; i < count; ++i) values[i] = -k.gamma * (values[i] > 0 ? values[i] : 0);
      for (std::size_t i = 0; i < count; ++i) values[i] = values[i] > -708 ? values[i] : -708;  // 3e-308
      for (std::size_t i = 0; i < count; ++i) values[i] = exponential(values[i]) + k.constant;
    } else if (k.kind == poly) {
      for (std::size_t i = 0; i < count; i += some) k.powers(std::min(some, count - i), values + i);
    } else if (k.constant != 0) {
      for (std::size_t i = 0; i < count; ++i) values[i] += k.constant;
    }
  }
};

#if defined(__x86_64__) && defined(__GNUC__)
HINGE_AVX2 inline void apply_avx2(const Kernel& kernel, std::size_t count, double* values) {
  kernel.apply_all(count, values);
}
#endif

inline void Kernel::apply(std::size_t count, double* values) const {
#if defined(__x86_64__) && defined(__GNUC__)
  if (has_avx2) return apply_avx2(*this, count, values);
#endif
  apply_all(count, values);
}

}  // namespace hinge
