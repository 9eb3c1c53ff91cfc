// Structured output (J06 section 9): one w, and a feature vector Phi(x, y) for every output y. A search has found the
// output y' that competes with the truth: w.Delta >= wanted, Delta = Phi(x, y) - Phi(x, y'). Loss [wanted - w.Delta]_+.
//
// The truth's number is the wanted margin: the square root of the cost, or the cost. The caller counts mistakes and
// costs, because only the search knows the prediction.
#pragma once

#include <algorithm>

#include "rule.hpp"

namespace hinge {

class Structured final : public Rule {
 public:
  explicit Structured(Step step) : step_(step) {}

  double slack(const Scores& scores, const Truth& truth) const override { return scores.of[0] - truth.value; }

  Move decide(const Scores& scores, const Truth& truth, double weight, double* amounts) const override {
    Move move;
    move.loss = std::max(0.0, truth.number() - scores.of[0]);
    move.along(move.loss > 0 ? step_.length(move.loss, scores.q, weight) : 0, scores.q);
    move.note(step_, scores.q, weight);
    amounts[0] = move.length;
    return move;
  }

 private:
  Step step_;
};

}  // namespace hinge
