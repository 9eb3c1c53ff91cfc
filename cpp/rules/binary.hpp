// Binary classification: y w.x >= margin, y in {-1, +1}. Loss [margin - y w.x]_+  (J06 section 3).
//
// A margin of exactly 0 is a mistake. The perceptron moves only on mistakes, by x times the weight.
#pragma once

#include <algorithm>

#include "rule.hpp"

namespace hinge {

class Binary final : public Rule {
 public:
  Binary(Step step, double margin) : step_(step), margin_(margin) {}

  bool needs_size() const override { return step_.kind == Step::cw_; }

  Move decide(const Scores& scores, const Truth& truth, double weight, double* amounts) const override {
    const double agreement = truth.value * scores.of[0];
    Move move;
    move.loss = std::max(0.0, step_.wanted(margin_, scores.q) - agreement);
    move.mistaken(agreement <= 0);
    const bool moves = step_.kind != Step::perceptron_ || move.mistake;
    move.along(moves ? step_.length(move.loss, scores.q, weight) : 0, scores.q);
    amounts[0] = move.length * truth.value;
    move.precision = step_.precision(move.length);
    return move;
  }

 private:
  Step step_;
  double margin_;
};

}  // namespace hinge
