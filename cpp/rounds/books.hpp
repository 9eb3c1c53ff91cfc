// The records of a learner: statistics, when to average, and the checks of every round.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "../data/instance.hpp"
#include "../memories/memory.hpp"
#include "../rules/quantile.hpp"
#include "../rules/rule.hpp"
#include "calibration.hpp"

namespace hinge {

struct Statistics {
  std::int64_t rounds = 0;
  std::int64_t mistakes = 0;
  std::int64_t updates = 0;
  double loss = 0;          // the sum of l_t, each suffered before its update
  double squared_loss = 0;  // the sum of l_t^2
  double largest_q = 0;     // R^2 of the bounds
  double progress = 0;      // the sum of tau (2 l - tau q): the left side of the master inequality (J06 Lemma 1)
  double cost = 0;          // of the predictions: the number of mistakes, unless costs are given; numbers and ranks: the distance
  std::int64_t capped = 0;    // updates that C shortened (PA-I)
  std::int64_t weighted = 0;  // updates that would differ if their examples had weight 1

  HINGE_INLINE void add(const Move& move) {
    rounds += 1;
    mistakes += move.mistake;
    updates += move.length > 0;
    loss += move.loss;
    squared_loss += move.loss * move.loss;
    largest_q = std::max(largest_q, move.q);
    progress += move.progress;
    cost += move.cost;
    capped += move.capped;
    weighted += move.weighted;
  }
};

// What the calibration learns from a round: nothing, only the size of the scores (later passes over the same rows, whose
// scores are too good), or whether the prediction was right.
enum class Observes : std::uint8_t { nothing, sizes, outcomes };

// Which vectors the average includes: from which round, and whether before or after the update of the round.
struct Averaging {
  bool on = false;
  std::int64_t from = 1;
  bool after = false;  // as scikit-learn does; for `hinge.compat` only
};

// The example of a round, and its reading.
struct Example {
  const Instance& x;
  const Reading& reading;
  const Truth& truth;
  double weight;
};

struct Books {
  Statistics statistics;
  Averaging averaging;
  bool awaits_first = false;      // uniclass may start at its first instance (N03)
  bool awaits_constant = false;   // the first instance sets the constant feature (memories/constant.hpp)
  std::int64_t examples = 0;      // the number of examples so far; supports are numbered by it
  Quantile* tracked = nullptr;    // the quantile of the rule, if it tracks one
  Calibration calibration;        // of classes
  Observes observes = Observes::nothing;

  // Throws unless everything that the round reads and records is finite. The sum is not finite if one term is not. It
  // may also overflow although all terms are finite: `find_invalid` accepts that.
  HINGE_INLINE void check(const Example& e, const Move& move) const {
    const double progress = statistics.progress + move.progress;
    if (!std::isfinite(e.reading.score + e.reading.square + e.truth.value + e.weight + move.length + move.q +
                       (move.loss * move.loss + statistics.squared_loss) + (move.cost + statistics.cost) + progress))
      [[unlikely]] find_invalid(e.x, e.reading, e.truth, e.weight, move, progress);
  }

  HINGE_INLINE void count(const Move& move) { statistics.add(move); }
  // Whether the average includes the round that was counted last.
  HINGE_INLINE bool tallies() const { return averaging.on && statistics.rounds >= averaging.from; }

  bool calibrates() const { return observes != Observes::nothing && calibration.observes(statistics.rounds); }
  // `scores`: those with which the example would have been predicted.
  HINGE_APART void calibrate(const double* scores, std::size_t lanes, const Truth& truth, double weight) {
    if (observes == Observes::sizes)
      calibration.follow(scores, lanes, weight);
    else if (lanes == 1)
      calibration.observe(scores[0], truth.value > 0, weight);
    else
      calibration.observe(scores, lanes, static_cast<std::size_t>(truth.value), weight);
  }

  // A weight of 0 changes nothing, but the example must still be valid. Returns false: no round was presented.
  HINGE_APART bool skip(Instance x, Reading reading, Truth truth, double weight) const {
    if (weight != 0)
      throw InputError("the sample weight is " + std::to_string(weight) + "; it must be 0 or more");
    find_invalid(x, reading, truth, weight, Move(), 0);
    return false;
  }

  // Everything that a rollback may have to restore.
  struct Snapshot {
    Statistics statistics;
    bool awaits_first, awaits_constant;
    std::int64_t examples;
    Quantile quantile;
    Calibration calibration;
  };
  Snapshot snapshot() const {
    return {statistics, awaits_first, awaits_constant, examples, tracked == nullptr ? Quantile() : *tracked, calibration};
  }
  void restore(const Snapshot& before) {
    statistics = before.statistics;
    awaits_first = before.awaits_first;
    awaits_constant = before.awaits_constant;
    examples = before.examples;
    calibration = before.calibration;
    if (tracked != nullptr) *tracked = before.quantile;
  }

 private:
  // Rarely called. It takes copies, so the variables of a round have no address and stay in registers.
  HINGE_APART void find_invalid(Instance x, Reading reading, Truth truth, double weight, Move move,
                                double progress) const {
    reject_bad_values(x, none);
    if (!std::isfinite(reading.square)) throw InputError("the squared norm of the instance overflows float64");
    if (std::isnan(truth.value)) throw InputError("the target is NaN");
    if (std::isinf(truth.value)) throw InputError("the target is infinity (inf)");
    if (!std::isfinite(weight)) throw InputError("the sample weight is infinite");
    if (!std::isfinite(reading.score)) throw InputError("the score overflows float64");
    if (!std::isfinite(move.q))
      throw InputError("the instance is too large: the squared norm of its constraint overflows float64");
    if (!std::isfinite(move.length) || !std::isfinite(progress) ||
        !std::isfinite(statistics.squared_loss + move.loss * move.loss))
      throw InputError("the loss or the step is too large: it overflows float64");
    if (!std::isfinite(statistics.cost + move.cost)) throw InputError("the sum of the costs overflows float64");
  }
};

}  // namespace hinge
