// Uniclass: |x - w| <= radius. Loss [|x - w| - radius]_+  (J06 section 6, N03).
//
// The step goes from w towards x: w + tau (x - w)/|x - w|, that is (1 - lambda) w + lambda x with lambda = tau/|x - w|.
// So the old centre decays, and x gets a share. The direction has length 1, so q = 1. Every instance outside the ball
// counts as a mistake. A learned radius is the same rule with radius B in a space with one more coordinate (see
// Weights).
//
// A radius by quantile is not part of the loss. The loss is the distance itself (radius 0), so the centre tends to the
// middle of the data, with PA-I to the geometric median. Instances beyond the tracked quantile are flagged, and count
// as mistakes. C is then a percentage: PA-I moves by at most C/100 of that radius (PA-II uses C/100 as C). In the n-th
// round it moves by at most 1/(n + 2) of the radius if that is more, like a running mean.
#pragma once

#include <algorithm>
#include <cmath>

#include "quantile.hpp"
#include "rule.hpp"

namespace hinge {

class Uniclass final : public Rule {
 public:
  Uniclass(Step step, double radius) : step_(step), radius_(radius) {}
  Uniclass(Step step, Quantile quantile) : step_(step), radius_(0), by_quantile_(true), quantile_(quantile) {}

  Quantile* quantile() override { return by_quantile_ ? &quantile_ : nullptr; }

  Reads reads() const override { return Reads::distance; }

  double slack(const Scores& scores, const Truth& /*truth*/) const override { return radius_ - std::sqrt(scores.of[0]); }

  Move decide(const Scores& scores, const Truth& /*truth*/, double weight, double* amounts) const override {
    const double distance = std::sqrt(scores.of[0]);
    Move move;
    move.loss = std::max(0.0, distance - radius_);
    const Step step = step_for(distance);
    move.mistaken(distance > (by_quantile_ ? quantile_.value : radius_));
    move.along(step.length(move.loss, scores.q, weight), scores.q);
    move.note(step, scores.q, weight);
    amounts[0] = move.length > 0 ? move.length / distance : 0;
    if (scores.sizes == nullptr) amounts[0] = std::min(1.0, amounts[0]);  // rounding must not take it beyond x
    move.decay = 1 - amounts[0];
    return move;
  }

 private:
  Step step_for(double distance) const {
    if (!by_quantile_) return step_;
    Step step = step_;
    step.C = std::max(0.01 * step.C, 1 / (quantile_.seen + 2));
    if (step.kind == Step::pa1_) step.C *= quantile_.unit(distance);
    return step;
  }

  Step step_;
  double radius_;
  bool by_quantile_ = false;
  Quantile quantile_;
};

}  // namespace hinge
