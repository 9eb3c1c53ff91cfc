// Rounds in the geometry of a covariance S (M11). The size x'Sx costs much more than the scores, so it is measured only
// if the rule would move. The rule first decides with a lower bound on the size: its steps are then too long rather
// than too short. If even such a step is admissible, x is measured and learned in one pass over the covariance.
#pragma once

#include <cmath>
#include <limits>

#include "../memories/shapes/shaped.hpp"
#include "plain.hpp"

namespace hinge {

struct ShapedRound : PlainRound {
  static constexpr bool may_track = false;
  explicit ShapedRound(Rounds& its) : ShapedRound(its, its.memory) {}
  ShapedRound(Rounds& its, Memory& its_memory)
      : PlainRound(its, its_memory), shaped(static_cast<Shaped&>(its_memory)), shape(shaped.shape()) {}

  Move decide(const Example& e) {
    books.check(e, Move());
    const double least = shape.least_size(e.reading.square);
    const bool tiny = !(least > std::numeric_limits<double>::min()) && e.reading.square > 0;
    measured = tiny || all.rule.needs_size();
    Move move = decide_at(measured ? shape.size(e.x) : least, e);
    constexpr double room = 1e30;  // for rounding in the bound
    const double largest = move.length + 2 * move.loss * move.length + books.statistics.progress + move.progress;
    if (!measured && !std::isfinite(room * largest)) move = measure(e);
    books.check(e, move);
    return move;
  }

  // Narrows the covariance after all checks.
  bool admit(const Example& e, Move& move) {
    const bool moves = move.moves();
    const double square = e.reading.square;
    if (moves && !measured && !shaped.would_admit(all.total_amount(), square)) move = measure(e);  // it may be shorter
    const bool by_rule = all.rule.needs_size();
    const double precision = by_rule ? shape.most(move.precision, square) : e.weight / shaped.regularizer();
    const bool narrows = move.length > 0 && precision > Shape::least_precision;
    if (narrows) shape.check(precision, square);
    const double amount = all.total_amount();
    if (moves && !narrows) books.check(e, move = decide_at(shape.aim(e.x), e));  // nothing has limited its size so far
    if (moves) shaped.admit(amount, 1, square);
    if (narrows) {
      shape.admit(precision, square);
      const double size = shape.narrow(e.x, precision);
      if (!measured) move = decide_at(size, e);
      if (e.weight != 1 && !by_rule) move.weighted = true;
    }
    if (!moves) move.q = 0;  // it was never measured
    return moves;
  }
  void move(const Instance& x, const Move& /*move*/) { shaped.move(all.amounts.data(), 1, x); }

 private:
  Move measure(const Example& e) {
    measured = true;
    return decide_at(shape.size(e.x), e);
  }

  Shaped& shaped;
  Shape& shape;
  bool measured = false;  // whether the rule has decided with the true size
};

}  // namespace hinge
