// Rounds in the geometry of a covariance S (M11), where the size x'Sx costs much more than the scores. So it is measured
// only if the rule would move. The rule is first asked with a lower bound of the size: its steps are then too long rather
// than too short. If even they can be taken, x is measured and learned in one pass over the covariance.
#pragma once

#include <cmath>
#include <limits>

#include "../memories/shapes/shaped.hpp"
#include "plain.hpp"

namespace hinge {

struct ShapedRound : PlainRound {
  static constexpr bool may_track = false;
  explicit ShapedRound(Rounds& its) : PlainRound(its), shaped(static_cast<Shaped&>(its.memory)), shape(shaped.shape()) {}

  Move decide(const Instance& x, const Reading& reading, const Truth& truth, double weight) {
    books.check(x, reading, truth, weight, Move());
    const double least = shape.least_size(reading.square);
    const bool tiny = !(least > std::numeric_limits<double>::min()) && reading.square > 0;
    measured = tiny || all.rule.needs_size();
    Move move = decide_at(measured ? shape.size(x) : least, reading, truth, weight);
    constexpr double room = 1e30;  // for rounding in the bound
    const double largest = move.length + 2 * move.loss * move.length + books.statistics.progress + move.progress;
    if (!measured && !std::isfinite(room * largest)) move = measure(x, reading, truth, weight);
    books.check(x, reading, truth, weight, move);
    return move;
  }

  // Narrows the covariance, once everything is checked.
  bool admit(const Instance& x, const Reading& reading, const Truth& truth, double weight, Move& move) {
    const bool moves = move.moves();
    if (moves && !measured && !shaped.would_admit(all.total_amount(), reading.square))
      move = measure(x, reading, truth, weight);  // the true steps may be shorter
    const bool by_rule = all.rule.needs_size();
    const double precision = by_rule ? shape.most(move.precision, reading.square) : weight / shaped.regularizer();
    const bool narrows = move.length > 0 && precision > Shape::least_precision;
    if (narrows) shape.check(precision, reading.square);
    const double amount = all.total_amount();
    if (moves && !narrows) {  // nothing has limited its size so far
      move = decide_at(shape.aim(x), reading, truth, weight);
      books.check(x, reading, truth, weight, move);
    }
    if (moves) shaped.admit(amount, 1, reading.square);
    if (narrows) {
      shape.admit(precision, reading.square);
      const double size = shape.narrow(x, precision);
      if (!measured) move = decide_at(size, reading, truth, weight);
      if (weight != 1 && !by_rule) move.weighted = true;
    }
    if (!moves) move.q = 0;  // it was never measured
    return moves;
  }
  void move(const Instance& x, const Move& /*move*/) { shaped.move(all.amounts.data(), 1, x); }

 private:
  Move decide_at(double size, const Reading& reading, const Truth& truth, double weight) {
    const Scores scores{all.lanes == 1 ? &reading.score : all.scores.data(), all.lanes, size};
    return all.rule.decide(scores, truth, weight, all.amounts.data());
  }
  Move measure(const Instance& x, const Reading& reading, const Truth& truth, double weight) {
    measured = true;
    return decide_at(shape.size(x), reading, truth, weight);
  }

  Shaped& shaped;
  Shape& shape;
  bool measured = false;  // whether the rule knows the true size
};

}  // namespace hinge
