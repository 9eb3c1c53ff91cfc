// Rounds on weights: one array, many lanes, or a simplex.
#pragma once

#include <cmath>

#include "../learner.hpp"
#include "../memories/weights.hpp"
#include "scored.hpp"

namespace hinge {

// The common part of rounds on memories that read one row at a time.
struct RowRound {
  static constexpr std::size_t poll_every = std::size_t{1} << 22;  // values read: some milliseconds
  static std::size_t work(std::size_t /*i*/, const Instance& x) { return x.size + 1; }
  static HINGE_APART void resize(Memory& memory, std::size_t dimension) { memory.resize(dimension); }
};

// Any memory, any rule.
struct PlainRound : RowRound {
  static constexpr bool may_track = true;
  explicit PlainRound(Rounds& its) : PlainRound(its, its.memory) {}
  PlainRound(Rounds& its, Memory& its_memory) : all(its), books(its.books), memory(its_memory) {}

  void meet(const Batch& batch, std::size_t /*i*/, std::size_t row, const Instance& /*x*/) {
    if (batch.dimensions != nullptr) resize(memory, batch.dimensions[row]);
  }
  Reading read(const Instance& x, std::size_t /*i*/) { return memory.read(x, all.reads, all.scores.data()); }
  Move decide(const Example& e) {
    if (all.lanes > 1 && !std::isfinite(e.reading.score)) books.check(e, Move());
    const Move move = decide_at(e.reading.q, e, memory.sizes(e.x, e.reading.q));
    books.check(e, move);
    return move;
  }
  bool admit(const Example& e, const Move& move) {
    if (move.moves()) memory.admit(all.total_amount(), move.decay, e.reading.square);
    return move.moves();
  }
  void move(const Instance& x, const Move& move) { memory.move(all.amounts.data(), move.decay, x); }
  void calibrate(const Example& e) { all.calibrate(e, memory); }
  void tally() { memory.tally(); }
  // Uniclass: the first instance becomes the centre.
  void start_at(const Example& e) {
    const double whole = 1;
    memory.admit(whole, 1, e.reading.square);
    memory.move(&whole, 1, e.x);
  }

  Rounds& all;
  Books& books;
  Memory& memory;

 protected:
  // The decision of the rule for an instance with the squared size q.
  Move decide_at(double q, const Example& e, const Sizes* sizes = nullptr) {
    const Scores scores{all.lanes == 1 ? &e.reading.score : all.scores.data(), all.lanes, q, sizes};
    return all.rule.decide(scores, e.truth, e.weight, all.amounts.data());
  }
};

// One lane of weights with inner products as scores. The compiler knows the rule and the layout of the rows, so a round
// runs in registers.
template <class Real, class Features, class R>
struct WeightsRound : RowRound {
  static constexpr bool may_track = false;  // distances only

  HINGE_INLINE void meet(const Batch& batch, std::size_t /*i*/, std::size_t row, const Instance& /*x*/) {
    if (batch.dimensions != nullptr) resize(weights, batch.dimensions[row]);
  }
  HINGE_INLINE Reading read(const Instance& x, std::size_t /*i*/) const { return weights.read_product(Features::of(x)); }
  HINGE_INLINE Move decide(const Example& e) {
    const Move move = rule.decide(Scores{&e.reading.score, 1, e.reading.q}, e.truth, e.weight, &amount);
    books.check(e, move);
    return move;
  }
  HINGE_INLINE bool admit(const Example& e, const Move& move) {
    if (move.moves()) weights.admit(std::abs(amount), move.decay, e.reading.square);
    return move.moves();
  }
  HINGE_INLINE void move(const Instance& x, const Move& move) {
    weights.move_by(amount, move.decay, x, Features::of(x), weights.constant());
  }
  HINGE_APART void calibrate(const Example e) {  // a copy: the example of the loop stays in registers
    double score = e.reading.score;
    if (books.averaging.on) score = weights.read_average(e.x, Reads::product, nullptr).score;
    books.calibrate(&score, 1, e.truth, e.weight);
  }
  HINGE_INLINE void tally() { weights.tally(); }
  void start_at(const Example& /*e*/) {}  // distances only

  Weights<Real>& weights;
  const R& rule;
  Books& books;
  double amount = 0;
};

// The rounds of one type.
template <class Round>
class RoundsOf : public Rounds {
 public:
  using Rounds::Rounds;
  std::size_t learn(const Batch& batch, const Poll& poll, std::size_t& row) override {
    if (batch.scores != nullptr) return run(Scored<Round>(*this, batch), batch, poll, row);
    return run(Round(*this), batch, poll, row);
  }
  bool learn_one(const Instance& x, const Truth& truth, double weight, double tolerance) override {
    Round round(*this);
    return present(round, {x, round.read(x, 0), truth, weight}, tolerance);
  }
  void score(const Rows& rows, bool averaged, double* to) const override {
    RowScores(memory, reads, averaged).write(rows, to);
  }
};

// Batches run on rounds compiled for the layout of their rows.
template <class Real, class R>
class WeightsRounds final : public RoundsOf<PlainRound> {
 public:
  WeightsRounds(const R& rule, Weights<Real>& weights, Books& books)
      : RoundsOf(rule, weights, books), rule_(rule), weights_(weights) {}
  std::size_t learn(const Batch& batch, const Poll& poll, std::size_t& row) override {
    if (batch.scores != nullptr) return RoundsOf::learn(batch, poll, row);
    return visit(batch.rows->blank(), [&]<class Features>(const Features&) {
      return run(WeightsRound<Real, Features, R>{{}, weights_, rule_, books}, batch, poll, row);
    });
  }

 private:
  const R& rule_;
  Weights<Real>& weights_;
};

}  // namespace hinge
