// A rule defines what an example requires of the scores. It never sees features: only the scores, the truth, and the
// squared size of the instance in the memory's geometry. It is pure arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../data/instance.hpp"
#include "../data/truth.hpp"
#include "sizes.hpp"
#include "step.hpp"

namespace hinge {

// What a rule reads from the memory: the inner product w.x, or the squared distance |x - w|^2.
enum class Reads : std::uint8_t { product, distance };

// The reading of the memory: one score per lane, and the size of the instance.
struct Scores {
  const double* of;
  std::size_t count;
  double q;                      // the squared size of the instance, including the constant feature of an intercept
  const Sizes* sizes = nullptr;  // if q does not determine the sizes of the constraints
  std::size_t first = 0;         // the lane of label 0

  // The squared size of the constraint score_r - score_s >= b: 2|x|^2 if each label has its own weights
  // (multi-prototype), |phi_r - phi_s|^2 if all labels share one w.
  double between(std::size_t r, std::size_t s) const {
    return sizes == nullptr ? 2 * q : sizes->between(first + r, first + s);
  }
  double pair() const { return sizes == nullptr ? 2 * q : sizes->pair(q); }
  // |d|^2 of a move with these amounts.
  double moved(const double* amounts) const {
    if (sizes != nullptr) return sizes->moved(amounts, count);
    double squares = 0;
    for (std::size_t r = 0; r < count; ++r) squares += amounts[r] * amounts[r];
    return q * squares;
  }
};

// A decision: w <- decay * w + amount * x. The rule writes the amounts, one per lane, to an array.
struct Move {
  double loss = 0;      // suffered before the move
  double length = 0;    // tau, or the sum of all tau; 0: nothing moves
  double q = 0;         // the (largest) squared size of the constraint's vector: R^2 of the bounds
  double progress = 0;  // 2 sum tau_j l_j - |d|^2, d the move: the left side of the master inequality (J06 Lemma 1)
  double decay = 1;     // 1 except for uniclass
  double cost = 0;      // of the prediction: 1 for a mistake, unless costs are given; numbers and ranks: the distance
  double precision = 0; // what the inverse covariance gains along x x', if the rule decides that (CW)
  bool mistake = false;
  bool capped = false;    // whether C shortened the step
  bool weighted = false;  // whether the weight of the example changed the step
  bool moves_threshold = false;  // whether a learned threshold moves, which is not part of the loss

  // Takes a step of length tau along one constraint with squared size q.
  void along(double tau, double size) {
    length = tau;
    q = size;
    progress = tau * (2 * loss - tau * size);
  }
  // Records the effect of C and the weight on the step taken by `along`.
  void note(const Step& step, double size, double weight) {
    const bool moves = length > 0;
    capped = moves && step.caps(loss, size, weight);
    weighted = moves && step.heeds(loss, size, weight);
  }
  bool moves() const { return length > 0 || moves_threshold; }
  void mistaken(bool yes) {
    mistake = yes;
    cost = yes ? 1 : 0;
  }
};

struct Quantile;

class Rule {
 public:
  virtual ~Rule() = default;
  // The quantile of the distances, if the rule tracks one: its only state. The learner saves and restores it.
  virtual Quantile* quantile() { return nullptr; }
  virtual Reads reads() const { return Reads::product; }
  // Whether even the loss depends on the size of the instance (CW).
  virtual bool needs_size() const { return false; }
  // Whether all steps have the same length, whatever the scores (the perceptron). Then the rule need not decide again
  // after a support was removed.
  virtual bool fixed_step() const { return false; }
  // The excess of the scores over what the rule requires; negative if it would move.
  virtual double slack(const Scores& scores, const Truth& truth) const = 0;
  // Writes the amount of every lane.
  virtual Move decide(const Scores& scores, const Truth& truth, double weight, double* amounts) const = 0;
};

}  // namespace hinge
