// A learned threshold between relevant and irrelevant labels: lane 0, with its own weights; the labels follow.
//
// It is a regression alongside the ranking (S6). The threshold should lie between the lowest relevant and the highest
// irrelevant score, half a margin from both; in the middle if they are closer or in the wrong order; above all scores
// if no label is relevant, and below all if every label is. Loss [|middle - threshold| - tolerance]_+. It is not part
// of the ranking's loss and does not change the ranking.
//
// `lean`: with both kinds of labels the middle is that much lower. Scores of relevant labels are nearer to 0 on rows that
// were not learned, and F1 is largest if labels are predicted that are right with a probability of more than F1/2.
#pragma once

#include <cmath>
#include <memory>
#include <utility>

#include "labels.hpp"

namespace hinge {

class WithThreshold final : public Rule {
 public:
  WithThreshold(std::unique_ptr<Rule> ranking, Step step, double margin, double lean)
      : ranking_(std::move(ranking)), step_(step), margin_(margin), lean_(lean) {}

  bool needs_size() const override { return ranking_->needs_size(); }
  bool fixed_step() const override { return ranking_->fixed_step(); }
  double slack(const Scores& all, const Truth& truth) const override {
    const Scores scores{all.of + 1, all.count - 1, all.q, all.sizes, 1};
    const Aim aim = aimed(scores, truth);
    return std::min(ranking_->slack(scores, truth), aim.tolerance - std::abs(aim.middle - all.of[0]));
  }

  Move decide(const Scores& all, const Truth& truth, double weight, double* amounts) const override {
    const Scores scores{all.of + 1, all.count - 1, all.q, all.sizes, 1};
    Move move = ranking_->decide(scores, truth, weight, amounts + 1);
    const Aim aim = aimed(scores, truth);
    const double residual = aim.middle - all.of[0];
    const double loss = std::max(0.0, std::abs(residual) - aim.tolerance);
    const double tau = step_.length(loss, all.q, weight);
    move.weighted = move.weighted || (tau > 0 && step_.heeds(loss, all.q, weight));
    amounts[0] = std::copysign(tau, residual);
    move.moves_threshold = tau > 0;
    return move;
  }

 private:
  // The target of the threshold, and its tolerance.
  struct Aim {
    double middle, tolerance;
  };
  Aim aimed(const Scores& scores, const Truth& truth) const {
    const Worst pair = worst_pair(scores, Relevant(truth, scores.count));
    if (pair.relevant == none) return {scores.of[pair.irrelevant] + margin_ / 2, 0};
    if (pair.irrelevant == none) return {scores.of[pair.relevant] - margin_ / 2, 0};
    return {(scores.of[pair.relevant] + scores.of[pair.irrelevant]) / 2 - lean_,
            std::max(0.0, (pair.margin(scores) - margin_) / 2)};
  }

  std::unique_ptr<Rule> ranking_;
  Step step_;
  double margin_, lean_;
};

}  // namespace hinge
