// Simultaneous projections (S06): every pair of a relevant label r and an irrelevant label s is a constraint,
// score_r - score_s >= margin. Each active constraint gets its own projection, and the steps are averaged.
//
//     scheme    active           its step alpha
//     simperc   margin <= 0      C             (uniform perceptron of CS03: margin <= beta, the weight instead of C)
//     conproj   margin <= 0      as PA, PA-I, PA-II
//     simproj   loss > 0         as PA, PA-I, PA-II
// With weights nu of the constraints the cap of a pair is C/nu (S13.3). On the simplex (S13.6) alpha, at most C, is the
// step that satisfies the constraint.
#pragma once

#include <utility>
#include <vector>

#include "labels.hpp"

namespace hinge {

enum class Scheme : std::uint8_t { simperc, conproj, simproj };

// One constraint: whether it is active, and the step of its projection.
class Projection {
 public:
  Projection(Step step, double margin, Scheme scheme) : step_(step), margin_(margin), scheme_(scheme) {}

  double loss(double margin) const { return std::max(0.0, margin_ - margin); }
  bool active(double margin) const { return scheme_ == Scheme::simproj ? margin < margin_ : margin <= step_.beta; }
  double slack(double margin) const { return margin - step_.enough(margin_); }
  bool fixed_step() const { return step_.kind == Step::perceptron_; }
  double alpha(double margin, double size, double weight, double nu) const {
    if (scheme_ != Scheme::simperc || step_.second_order > 0) return step_.length(margin_ - margin, size, weight / nu);
    if (size <= std::numeric_limits<double>::min()) return 0;  // no size, no direction
    return step_.kind == Step::perceptron_ ? weight : step_.C * weight;
  }
  // Records the effect of C and the weight on a step of length alpha.
  void note(Move& move, double alpha, double margin, double size, double weight, double nu, bool exact) const {
    if (!(alpha > 0)) return;
    if (exact) {
      move.capped = move.capped || alpha >= step_.C * weight / nu;
      move.weighted = move.weighted || (weight != 1 && alpha >= step_.C * std::min(weight, 1.0) / nu);
    } else if (scheme_ == Scheme::simperc) {  // the step is C itself; the perceptron's is the weight
      move.capped = move.capped || step_.kind == Step::pa1_;
      move.weighted = move.weighted || weight != 1;
    } else {
      move.capped = move.capped || step_.caps(margin_ - margin, size, weight, nu);
      move.weighted = move.weighted || step_.heeds(margin_ - margin, size, weight, nu);
    }
  }
  // The exact projection, for geometries where the step has no formula.
  bool projects() const { return scheme_ != Scheme::simperc; }
  template <class Other>  // a label s, or a side
  double exact(const Sizes& sizes, std::size_t r, Other other, double weight) const {
    return sizes.project(r, other, margin_, step_.C * weight);
  }

 private:
  Step step_;
  double margin_;
  Scheme scheme_;
};

class Simultaneous final : public Rule {
 public:
  // `nu` has one entry per pair, row by row (row: the relevant label), or is empty.
  Simultaneous(Projection projection, std::vector<double> nu) : projection_(projection), nu_(std::move(nu)) {}

  bool fixed_step() const override { return projection_.fixed_step(); }
  double slack(const Scores& scores, const Truth& truth) const override {
    return projection_.slack(worst_margin(scores, truth));
  }

  Move decide(const Scores& scores, const Truth& truth, double weight, double* amounts) const override {
    const Relevant relevant(truth, scores.count);
    Move move;
    std::fill_n(amounts, scores.count, 0.0);
    move.q = scores.pair();
    if (!relevant.asks(scores.count)) return move;
    const double margin = worst_pair(scores, relevant).margin(scores);
    move.loss = projection_.loss(margin);
    move.mistaken(margin <= 0);
    if (!projection_.active(margin)) return move;
    if (scores.sizes != nullptr) move.q = 0;
    double active = 0, gain = 0;
    const bool exact = scores.sizes != nullptr && scores.sizes->projects() && projection_.projects();
    relevant.each(scores.count, [&](std::size_t r, bool is_relevant) {
      if (!is_relevant) return;
      relevant.each(scores.count, [&](std::size_t s, bool also_relevant) {
        const double its_margin = scores.of[r] - scores.of[s];
        if (also_relevant || !projection_.active(its_margin)) return;
        const double size = scores.between(r, s);
        const double nu = nu_.empty() ? 1 : nu_[r * scores.count + s];
        const double alpha = exact ? projection_.exact(*scores.sizes, scores.first + r, scores.first + s, weight / nu)
                                   : projection_.alpha(its_margin, size, weight, nu);
        projection_.note(move, alpha, its_margin, size, weight, nu, exact);
        active += 1;
        gain += alpha * projection_.loss(its_margin);
        move.length += alpha;
        move.q = std::max(move.q, size);
        amounts[r] += alpha;
        amounts[s] -= alpha;
      });
    });
    for (std::size_t r = 0; r < scores.count; ++r) amounts[r] /= active;
    move.length /= active;
    move.progress = 2 * gain / active - scores.moved(amounts);
    return move;
  }

 private:
  Projection projection_;
  std::vector<double> nu_;
};

}  // namespace hinge
