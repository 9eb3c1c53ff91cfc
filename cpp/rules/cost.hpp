// Cost-sensitive multiclass learning (J06 section 8): score_y - score_r >= margin sqrt(rho(y, r)).
//
// `prediction`: the constraint of the predicted label. `max`: the one with the largest loss.
#pragma once

#include <utility>
#include <vector>

#include "labels.hpp"

namespace hinge {

class CostSensitive final : public Rule {
 public:
  enum Selection : std::uint8_t { max_, prediction_ };
  // `cost` is rho, row by row: rho(y, r) >= 0, rho(y, y) = 0.
  CostSensitive(Step step, double margin, Selection selection, std::vector<double> cost)
      : step_(step), selection_(selection), cost_(std::move(cost)), wanted_(cost_) {
    for (double& wanted : wanted_) wanted = margin * std::sqrt(wanted);
  }

  double slack(const Scores& scores, const Truth& truth) const override {
    const auto y = static_cast<std::size_t>(truth.number());
    double slack = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < scores.count; ++r)
      if (cost_[y * scores.count + r] > 0)
        slack = std::min(slack, scores.of[y] - scores.of[r] - wanted_[y * scores.count + r]);
    return slack;
  }

  Move decide(const Scores& scores, const Truth& truth, double weight, double* amounts) const override {
    const Relevant relevant(truth, scores.count);
    if (relevant.count() != 1) throw InputError("costs are for one label per example, not for sets");
    const std::size_t y = relevant.first(), predicted = top_label(scores);
    const double* wanted = wanted_.data() + y * scores.count;
    std::size_t other = selection_ == prediction_ ? predicted : y;
    for (std::size_t r = 0; r < scores.count && selection_ == max_; ++r)
      if (scores.of[r] + wanted[r] > scores.of[other] + wanted[other]) other = r;
    Move move;
    std::fill_n(amounts, scores.count, 0.0);
    move.q = scores.pair();
    if (!relevant.asks(scores.count)) return move;
    move.mistake = worst_pair(scores, relevant).margin(scores) <= 0;
    move.cost = cost_[y * scores.count + predicted];
    if (other == y) return move;
    move.loss = std::max(0.0, scores.of[other] - scores.of[y] + wanted[other]);
    const double size = scores.between(y, other);
    move_pair(move, scores, y, other, step_.length(move.loss, size, weight), size, amounts);
    move.note(step_, size, weight);
    return move;
  }

 private:
  Step step_;
  Selection selection_;
  std::vector<double> cost_;
  std::vector<double> wanted_;
};

}  // namespace hinge
