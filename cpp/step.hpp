// How far: the length tau of the step along the violated constraint.
//
// For the half-space v.a >= b with loss l = [b - w.a]_+ and q = |a|^2, the new weights w + tau a solve
//     PA     min 1/2|v-w|^2            s.t. v.a >= b
//     PA-I   min 1/2|v-w|^2 + C xi     s.t. v.a >= b - xi, xi >= 0
//     PA-II  min 1/2|v-w|^2 + C xi^2   s.t. v.a >= b - xi
// (J06 section 3; gamma of N03 is 1/(2C)). The perceptron takes a step of constant length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace hinge {

inline double pa(double loss, double q) { return loss / q; }
inline double pa1(double loss, double q, double C) { return std::min(C, loss / q); }
inline double pa2(double loss, double q, double C) { return loss / (q + 1 / (2 * C)); }

struct Step {
  enum Kind : std::uint8_t { pa_, pa1_, pa2_, perceptron_ };
  Kind kind = pa1_;
  double C = 1;
  // scikit-learn's way, for `hinge.compat` only: a weight multiplies the step after the cap, and
  // PA-II still moves the (uncounted) intercept on an all-zero instance.
  bool scikit_learn = false;

  // The weight of the example scales C. An instance of (almost) no size has no direction: no step.
  double length(double loss, double q, double weight) const {
    if (!(loss > 0)) return 0;
    if (q <= std::numeric_limits<double>::min() && !(scikit_learn && kind == pa2_)) return 0;
    if (scikit_learn) return weight * bare(loss, q, C);
    return kind == perceptron_ ? weight : bare(loss, q, C * weight);
  }

 private:
  double bare(double loss, double q, double cap) const {
    switch (kind) {
      case pa_: return pa(loss, q);
      case pa1_: return pa1(loss, q, cap);
      case pa2_: return pa2(loss, q, cap);
      case perceptron_: break;
    }
    return 1;
  }
};

}  // namespace hinge
