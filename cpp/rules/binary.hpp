// Binary classification: y w.x >= margin, y in {-1, +1}. Loss [margin - y w.x]_+  (J06 section 3).
//
// A margin of exactly 0 is a mistake. The perceptron moves by x times the weight if the margin is at most beta (0: only
// on mistakes).
#pragma once

#include <algorithm>

#include "rule.hpp"

namespace hinge {

class Binary final : public Rule {
 public:
  Binary(Step step, double margin) : step_(step), margin_(margin) {}

  bool needs_size() const override { return step_.kind == Step::cw_; }
  bool fixed_step() const override { return step_.kind == Step::perceptron_; }
  double slack(const Scores& scores, const Truth& truth) const override {
    return truth.value * scores.of[0] - step_.enough(margin_);
  }

  Move decide(const Scores& scores, const Truth& truth, double weight, double* amounts) const override {
    const double agreement = truth.value * scores.of[0];
    Move move;
    move.loss = std::max(0.0, step_.wanted(margin_, scores.q) - agreement);
    move.mistaken(agreement <= 0);
    move.along(step_.moves(agreement) ? step_.length(move.loss, scores.q, weight) : 0, scores.q);
    move.note(step_, scores.q, weight);
    amounts[0] = move.length * truth.value;
    move.precision = step_.precision(move.length);
    return move;
  }

 private:
  Step step_;
  double margin_;
};

}  // namespace hinge
