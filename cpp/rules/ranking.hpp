// Label ranking (J06 section 7): every relevant label above every irrelevant one, score_r - score_s >= margin.
//
// There is one constraint per round. `max`: that of the worst pair, the lowest relevant label r and the highest
// irrelevant label s, with loss [margin - (score_r - score_s)]_+. `prediction`: that of the predicted label; if it is
// relevant, there is no loss. One relevant label is multiclass classification. With none, or all, there is nothing to
// rank. The perceptron (S12.1) moves the worst pair by x times the weight if its margin is at most beta.
#pragma once

#include "labels.hpp"

namespace hinge {

class Ranking final : public Rule {
 public:
  enum Selection : std::uint8_t { max_, prediction_ };
  Ranking(Step step, double margin, Selection selection) : step_(step), margin_(margin), selection_(selection) {}

  bool needs_size() const override { return step_.kind == Step::cw_; }
  bool fixed_step() const override { return step_.kind == Step::perceptron_; }
  double slack(const Scores& scores, const Truth& truth) const override {
    return worst_margin(scores, truth) - step_.enough(margin_);
  }

  Move decide(const Scores& scores, const Truth& truth, double weight, double* amounts) const override {
    const Relevant relevant(truth, scores.count);
    Move move;
    move.q = scores.pair();
    if (!relevant.asks(scores.count)) return std::fill_n(amounts, scores.count, 0.0), move;
    Worst pair = worst_pair(scores, relevant);
    move.mistaken(pair.margin(scores) <= 0);
    if (selection_ == prediction_) {
      pair.irrelevant = top_label(scores);
      if (relevant.has(pair.irrelevant)) return std::fill_n(amounts, scores.count, 0.0), move;
    }
    const double size = scores.between(pair.relevant, pair.irrelevant);
    move.loss = std::max(0.0, step_.wanted(margin_, size) - pair.margin(scores));
    const bool moves = step_.moves(pair.margin(scores));
    move_pair(move, scores, pair.relevant, pair.irrelevant,
              moves ? step_.length(move.loss, size, weight, scores.count) : 0, size, amounts);
    move.note(step_, size, weight);
    move.precision = step_.precision(move.length, scores.count);
    return move;
  }

 private:
  Step step_;
  double margin_;
  Selection selection_;
};

}  // namespace hinge
