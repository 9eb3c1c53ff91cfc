// Uniclass: |x - w| <= radius. Loss [|x - w| - radius]_+  (J06 section 6, N03).
//
// The step goes from w towards x, w + tau (x - w)/|x - w|, that is (1 - lambda) w + lambda x with
// lambda = tau/|x - w|: a decay of the old centre and a share of x. The direction has length 1, so
// q = 1. Every instance outside of the ball counts as a mistake.
// A learned radius is the same rule with radius B in a space with one more coordinate (see Weights).
#pragma once

#include <algorithm>
#include <cmath>

#include "rule.hpp"

namespace hinge {

class Uniclass final : public Rule {
 public:
  Uniclass(Step step, double radius) : step_(step), radius_(radius) {}

  Reads reads() const override { return Reads::distance; }

  double spare(const Scores& scores, const Truth& /*truth*/) const override { return radius_ - std::sqrt(scores.of[0]); }

  Move decide(const Scores& scores, const Truth& /*truth*/, double weight, double* amounts) const override {
    const double distance = std::sqrt(scores.of[0]);
    Move move;
    move.loss = std::max(0.0, distance - radius_);
    move.mistaken(move.loss > 0);
    move.along(step_.length(move.loss, scores.q, weight), scores.q);
    move.note(step_, scores.q, weight);
    amounts[0] = move.length > 0 ? move.length / distance : 0;
    if (scores.sizes == nullptr) amounts[0] = std::min(1.0, amounts[0]);  // not beyond x, by rounding
    move.decay = 1 - amounts[0];
    return move;
  }

 private:
  Step step_;
  double radius_;
};

}  // namespace hinge
