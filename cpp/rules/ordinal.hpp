// Ordinal regression (S06 section 3): ordered ranks 0 to k-1, and thresholds b_0 .. b_{k-2} between them.
//
// Score j is w.x - b_j. It must be positive for the thresholds below the true rank y, and negative for the others: y_j
// score_j >= margin with y_j = +1 for j < y, -1 for j >= y. The vector of constraint j is (x, -e_j), of squared size
// |x|^2 + 1. `max` moves along the worst constraint; the other selections are as in simultaneous.hpp. The cost of a
// prediction is the number of thresholds on the wrong side, that is, of ranks between the prediction and the truth.
#pragma once

#include <utility>
#include <vector>

#include "simultaneous.hpp"

namespace hinge {

class Ordinal final : public Rule {
 public:
  // `nu` has one entry per threshold, or is empty.
  Ordinal(Projection projection, bool only_worst, std::vector<double> nu)
      : projection_(projection), only_worst_(only_worst), nu_(std::move(nu)) {}

  double slack(const Scores& scores, const Truth& truth) const override {
    double slack = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < scores.count; ++j)
      slack = std::min(slack, projection_.slack(side(j, truth.value) * scores.of[j]));
    return slack;
  }

  Move decide(const Scores& scores, const Truth& truth, double weight, double* amounts) const override {
    const Sizes* sizes = scores.sizes;
    const double size = sizes == nullptr ? scores.q + 1 : sizes->threshold(scores.q), rank = truth.number();
    const bool exact = sizes != nullptr && sizes->projects() && projection_.projects() && !only_worst_;
    if (!(rank >= 0 && rank <= static_cast<double>(scores.count)))
      throw InputError("there is no rank " + std::to_string(rank));
    std::size_t worst = 0, wrong = 0;
    for (std::size_t j = 0; j < scores.count; ++j) {
      wrong += side(j, rank) * scores.of[j] <= 0;
      if (side(j, rank) * scores.of[j] < side(worst, rank) * scores.of[worst]) worst = j;
    }
    Move move;
    move.q = size;
    move.loss = projection_.loss(side(worst, rank) * scores.of[worst]);
    move.mistaken(wrong > 0);
    move.cost = static_cast<double>(wrong);

    double active = 0, gain = 0, total = 0, squares = 0;
    for (std::size_t j = 0; j < scores.count; ++j) {
      const double margin = side(j, rank) * scores.of[j];
      amounts[j] = 0;
      if (!projection_.active(margin) || (only_worst_ && j != worst)) continue;
      const double nu = nu_.empty() ? 1 : nu_[j];
      const double alpha = exact ? projection_.exact(*sizes, j, side(j, rank), weight / nu)
                                 : projection_.alpha(margin, size, weight, nu);
      projection_.note(move, alpha, margin, size, weight, nu, exact);
      active += 1;
      gain += alpha * projection_.loss(margin);
      move.length += alpha;
      amounts[j] = alpha * side(j, rank);
    }
    if (active == 0) return move;
    for (std::size_t j = 0; j < scores.count; ++j) {
      amounts[j] /= active;
      total += amounts[j];
      squares += amounts[j] * amounts[j];
    }
    move.length /= active;
    const double moved = sizes == nullptr ? total * total * scores.q + squares : sizes->moved(amounts, scores.count);
    move.progress = 2 * gain / active - moved;
    return move;
  }

 private:
  // The side of threshold j where the score must be, for a rank.
  static double side(std::size_t j, double rank) { return static_cast<double>(j) < rank ? 1 : -1; }

  Projection projection_;
  bool only_worst_;
  std::vector<double> nu_;
};

}  // namespace hinge
