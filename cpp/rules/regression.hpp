// Regression: |y - w.x| <= epsilon. Loss [|y - w.x| - epsilon]_+  (J06 section 5).
//
// Every round outside the tube counts as a mistake; the cost of a prediction is its absolute error.
#pragma once

#include <algorithm>
#include <cmath>

#include "rule.hpp"

namespace hinge {

class Regression final : public Rule {
 public:
  Regression(Step step, double epsilon) : step_(step), epsilon_(epsilon) {}

  double slack(const Scores& scores, const Truth& truth) const override {
    return epsilon_ - std::abs(truth.value - scores.of[0]);
  }

  Move decide(const Scores& scores, const Truth& truth, double weight, double* amounts) const override {
    const double residual = truth.value - scores.of[0];
    Move move;
    move.loss = std::max(0.0, std::abs(residual) - epsilon_);
    move.mistaken(move.loss > 0);
    move.cost = std::abs(residual);
    move.along(step_.length(move.loss, scores.q, weight), scores.q);
    move.note(step_, scores.q, weight);
    amounts[0] = std::copysign(move.length, residual);
    return move;
  }

 private:
  Step step_;
  double epsilon_;
};

}  // namespace hinge
