// MIRA (CS03): all pairs at once, solved exactly, with a shared slack,
//     min 1/2|V-W|^2 + C xi   s.t.   (V_r - V_s).x >= beta - xi   for all r relevant, s irrelevant,   xi >= 0,
// where each label has its own weights. In the dual the relevant labels get amounts a_r >= 0, the irrelevant
// ones -b_s <= 0, with sum a = sum b = t <= C and
//     a_r = [up - score_r]_+ / q,    b_s = [score_s - down]_+ / q:
// two water levels with up - down = beta, unless t = C. With one relevant label this is the problem of CS03; sets of
// labels generalise it.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "labels.hpp"

namespace hinge {

class Mira final : public Rule {
 public:
  Mira(Step step, double beta) : step_(step), beta_(beta) {}

  double slack(const Scores& scores, const Truth& truth) const override { return worst_margin(scores, truth) - beta_; }

  Move decide(const Scores& scores, const Truth& truth, double weight, double* amounts) const override {
    const Relevant relevant(truth, scores.count);
    Move move;
    std::fill_n(amounts, scores.count, 0.0);
    move.q = scores.pair();
    if (!relevant.asks(scores.count)) return move;
    const double margin = worst_pair(scores, relevant).margin(scores), q = scores.q;
    move.loss = std::max(0.0, beta_ - margin);
    move.mistaken(margin <= 0);
    if (!(move.loss > 0) || q <= std::numeric_limits<double>::min()) return move;

    const double cap = step_.kind == Step::pa_ ? std::numeric_limits<double>::infinity() : step_.C * weight;
    double poured = 0;
    const auto [up, down] = levels(scores, relevant, cap * q, poured);
    if (step_.kind == Step::pa1_) {
      move.capped = poured > cap * q;
      move.weighted = weight != 1 && poured > step_.C * std::min(weight, 1.0) * q;
    }
    double gain = 0;
    relevant.each(scores.count, [&, up = up, down = down](std::size_t r, bool is_relevant) {
      amounts[r] = is_relevant ? std::max(0.0, up - scores.of[r]) / q : std::min(0.0, down - scores.of[r]) / q;
      if (is_relevant) move.length += amounts[r];
      gain -= amounts[r] * scores.of[r];
    });
    move.progress = 2 * (beta_ * move.length + gain) - scores.moved(amounts);
    return move;
  }

 private:
  struct Levels {
    double up, down;
  };

  // `poured`: the amount that satisfies all constraints; at most `most` is available.
  Levels levels(const Scores& scores, const Relevant& relevant, double most, double& poured) const {
    thread_local std::vector<double> lows, highs;  // the relevant scores ascending, the irrelevant ones descending
    lows.clear();
    highs.clear();
    relevant.each(scores.count,
                  [&](std::size_t r, bool is_relevant) { (is_relevant ? lows : highs).push_back(scores.of[r]); });
    std::sort(lows.begin(), lows.end());
    std::sort(highs.begin(), highs.end(), std::greater<>());
    const double up = meeting(lows, highs);
    for (const double low : lows) poured += std::max(0.0, up - low);
    if (poured <= most) return {up, up - beta_};
    return {risen(lows, most, 1), risen(highs, most, -1)};
  }

  // The level where sum [up - low]_+ = sum [high - (up - beta)]_+. It starts with all highs and no lows. The next low
  // joins, or the last high leaves, while it is below the level.
  double meeting(const std::vector<double>& lows, const std::vector<double>& highs) const {
    double sum = 0;
    for (const double high : highs) sum += high + beta_;
    std::size_t joined = 0, left = highs.size();
    double level = sum / static_cast<double>(left);
    for (;;) {
      const double next_low = joined < lows.size() ? lows[joined] : std::numeric_limits<double>::infinity();
      const double last_high = left > 0 ? highs[left - 1] + beta_ : std::numeric_limits<double>::infinity();
      if (level <= std::min(next_low, last_high)) return level;
      next_low <= last_high ? (sum += next_low, ++joined) : (sum -= last_high, --left);
      level = sum / static_cast<double>(joined + left);
    }
  }

  // The level where sum [level - point]_+ = amount. With sign -1 it is mirrored, for descending points.
  static double risen(const std::vector<double>& points, double amount, double sign) {
    double sum = sign * amount, level = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      sum += points[i];
      level = sum / static_cast<double>(i + 1);
      if (i + 1 == points.size() || sign * level <= sign * points[i + 1]) break;
    }
    return level;
  }

  Step step_;
  double beta_;
};

}  // namespace hinge
