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

  Move decide(const double* scores, double target, double q, double weight,
              double* amounts) const override {
    const double agreement = target * scores[0];
    Move move;
    move.loss = std::max(0.0, margin_ - agreement);
    move.mistake = agreement <= 0;
    if (step_.kind != Step::perceptron_ || move.mistake)
      move.length = step_.length(move.loss, q, weight);
    amounts[0] = move.length * target;
    return move;
  }

 private:
  Step step_;
  double margin_;
};

}  // namespace hinge
