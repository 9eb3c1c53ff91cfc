// PA, PA-I, PA-II, perceptron, CW: the length tau of the step along the violated constraint.
//
// For the half-space v.a >= b with loss l = [b - w.a]_+ and q = |a|^2, the new weights w + tau a solve
//     PA     min 1/2|v-w|^2            s.t. v.a >= b
//     PA-I   min 1/2|v-w|^2 + C xi     s.t. v.a >= b - xi, xi >= 0
//     PA-II  min 1/2|v-w|^2 + C xi^2   s.t. v.a >= b - xi
// (J06 section 3; gamma of N03 is 1/(2C)), where |.| and q may belong to any geometry. The perceptron takes a step of
// constant length if the margin is at most beta (S4). In the geometry of a covariance it is the second-order
// perceptron: v += y x and A += x x'/r on mistakes, with w = A^-1 v, is a step of loss/(q + r) along A^-1 x.
// Confidence-weighted learning (S18) requires M = w.a >= phi V, V = a'Sa. Its step alpha solves
//     min KL(N(w, S) || N(w_t, S_t))   s.t.   M >= phi V;     S^-1 gets 2 alpha phi a a'.
// If k labels share S, the divergences add up: with V = 2x'Sx of a pair, S^-1 gets (4/k) alpha phi x x'.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hinge {

// std::min(b, a) as one instruction: a branch would be unpredictable.
inline double lesser(double a, double b) {
#if defined(__SSE2__)
  return _mm_cvtsd_f64(_mm_min_sd(_mm_set_sd(a), _mm_set_sd(b)));
#else
  return std::min(b, a);
#endif
}

inline double pa(double loss, double q) { return loss / q; }
inline double pa1(double loss, double q, double C) { return lesser(loss / q, C); }
inline double pa2(double loss, double q, double C) { return loss / (q + 1 / (2 * C)); }
// The root of (M + alpha V)(1 + n alpha phi V) = phi V, n = 2 (k labels: 2/k).
inline double cw(double M, double V, double phi, double n) {
  if (phi == 0) return std::max(0.0, -M / V);
  // (-b + root)/(2 n phi V), without cancellation if b > 0.
  const double b = 1 + n * phi * M, c = 4 * n * phi * (phi * V - M), root = std::sqrt(b * b + c);
  return std::max(0.0, (b > 0 ? c / (root + b) : root - b) / (2 * n * phi * V));
}

struct Step {
  enum Kind : std::uint8_t { pa_, pa1_, pa2_, perceptron_, cw_ };
  Kind kind = pa1_;
  double C = 1;
  // As in scikit-learn, for `hinge.compat` only: a weight multiplies the step after the cap, and PA-II still moves the
  // (uncounted) intercept on an all-zero instance.
  bool scikit_learn = false;
  double second_order = 0;  // r of the second-order perceptron; 0 for others
  double phi = 0;           // CW: the confidence, in standard deviations
  double beta = 0;          // the perceptron's (S4): positive for the aggressive perceptron

  // The margin that a constraint of squared size q requires.
  double wanted(double margin, double q) const { return kind == cw_ ? phi * q : margin; }
  // The margin above which the step is 0.
  double enough(double margin) const { return kind == perceptron_ ? beta : margin; }
  // Whether the step at that margin is not 0, before the loss is considered.
  bool moves(double margin) const { return kind != perceptron_ || margin <= beta; }
  // What S^-1 gains after a step of length tau (CW). With many lanes, `labels` is the number of labels that share S.
  double precision(double tau, std::size_t labels = 0) const {
    return 2 * tau * phi * (labels == 0 ? 1 : 2 / static_cast<double>(labels));
  }

  // Whether C makes the step shorter than loss/q (PA-I); `nu` divides C.
  bool caps(double loss, double q, double weight, double nu = 1) const {
    return kind == pa1_ && loss / q > C * weight / nu;
  }
  // Whether the step would differ if the example had weight 1.
  bool heeds(double loss, double q, double weight, double nu = 1) const {
    if (weight == 1 || kind == pa_ || kind == cw_) return false;
    return kind != pa1_ || loss / q > C * std::min(weight, 1.0) / nu;
  }

  // The weight of the example scales C. An instance of (almost) zero size has no direction, and gets no step.
  double length(double loss, double q, double weight, std::size_t labels = 0) const {
    const bool constant = kind == perceptron_ && !scikit_learn && !(second_order > 0);
    if (!(loss > 0) && !constant) return 0;
    if (q <= std::numeric_limits<double>::min() && !(scikit_learn && kind == pa2_)) return 0;
    if (scikit_learn) return weight * bare(loss, q, C);
    if (kind == perceptron_) return constant ? weight : loss / (q + second_order / weight);
    if (kind == cw_) return cw(phi * q - loss, q, phi, labels == 0 ? 2 : 2 / static_cast<double>(labels));
    return bare(loss, q, C * weight);
  }

 private:
  double bare(double loss, double q, double cap) const {
    switch (kind) {
      case pa_: return pa(loss, q);
      case pa1_: return pa1(loss, q, cap);
      case pa2_: return pa2(loss, q, cap);
      case perceptron_: case cw_: break;
    }
    return 1;
  }
};

}  // namespace hinge
