// Rounds on supports: kernel values are computed for many rows at a time, and a budget removes supports.
#pragma once

#include <algorithm>
#include <cmath>

#include "../learner.hpp"
#include "../memories/kernels/budget.hpp"
#include "../memories/kernels/supports.hpp"

namespace hinge {

struct SupportedRound {
  static constexpr bool may_track = true;
  static constexpr std::size_t poll_every = std::size_t{1} << 18;  // kernel values: some milliseconds
  explicit SupportedRound(Rounds& its)
      : all(its), books(its.books), supports(static_cast<Supports&>(its.memory)), budget(supports.budget.get()) {}

  std::size_t work(std::size_t i, const Instance& /*x*/) const {
    return i % together == 0 ? poll_every : supports.values_per_step();
  }
  void meet(const Batch& batch, std::size_t i, std::size_t row, const Instance& /*x*/) {
    if (batch.dimensions != nullptr) supports.resize(batch.dimensions[row]);
    if (i % together == 0) supports.look_ahead(batch, i, std::min(together, batch.count - i));
    number = static_cast<std::int64_t>(row) + (batch.first < 0 ? books.examples : batch.first);
    repeats = batch.repeats;
  }
  Reading read(const Instance& /*x*/, std::size_t i) {
    const Reading reading = supports.look(i % together, all.reads, all.scores.data());
    if (reading.in_order) supports.number(number, repeats);
    return reading;
  }

  Move decide(const Example& e) {
    check(e, Move());
    if (all.lanes == 1) all.scores[0] = e.reading.score;
    const Move move = ask_rule(e);
    check(e, move);
    return move;
  }

  // Reserves memory for the current row as a support. If the budget is full, a support is removed, and the rule decides
  // again on the scores without it.
  bool admit(const Example& e, Move& move) {
    victim = none;
    if (move.moves() && budget != nullptr && budget->full(supports) && supports.known() == none) {
      victim = budget->choose(all.rule, supports, false);
      if (!all.rule.fixed_step()) decide_without_victim(e, move);
    }
    if (move.moves()) make_room(all.total_amount(), move.decay, e.truth);
    return victim != none || move.moves();
  }
  void move(const Instance& x, const Move& move) {
    if (victim != none) budget->remove(victim, supports);
    if (!move.moves()) return;
    if (budget != nullptr) budget->moving(supports, all.amounts.data(), move.decay);
    supports.move(all.amounts.data(), move.decay, x);
    if (budget == nullptr || !budget->adaptive()) return;
    for (;;) {
      const std::size_t redundant = budget->choose(all.rule, supports, true);
      if (redundant == none) return;
      budget->remove(redundant, supports);
    }
  }
  // An average is read from the instance, whose columns may be unsorted here.
  void calibrate(const Example& e) {
    if (!books.averaging.on || visit(e.x, [](const auto& features) { return in_order(features); }))
      return all.calibrate(e, supports);
    Scratch sorted;
    visit(e.x, [&](const auto& features) {
      for (std::size_t j = 0; j < features.size; ++j) sorted.add(features.column(j), features.value(j));
    });
    const Instance x = sorted.ordered();
    all.calibrate({x, e.reading, e.truth, e.weight}, supports);
  }
  void tally() { supports.tally(); }

  // Uniclass: the first instance becomes the centre.
  void start_at(const Example& e) {
    const double whole = 1;
    victim = none;
    make_room(whole, 1, e.truth);
    if (budget != nullptr) budget->moving(supports, &whole, 1);
    supports.now.origin = 0;
    supports.move(&whole, 1, e.x);
  }

  Rounds& all;
  Books& books;
  Supports& supports;
  Budget* budget;
  std::int64_t number = 0;  // of the example
  bool repeats = false;     // whether it may already be a support

 private:
  Move ask_rule(const Example& e) {
    return all.rule.decide({all.scores.data(), all.lanes, e.reading.q}, e.truth, e.weight, all.amounts.data());
  }
  void check(const Example& e, const Move& move) const {
    books.check(e, move);
    if (!std::isfinite(e.reading.q) || !std::isfinite(supports.itself()))
      throw InputError("the kernel's value of the instance with itself overflows float64");
  }

  // The loss, the mistake and the cost remain those of the prediction.
  void decide_without_victim(const Example& e, Move& move) {
    supports.look_without(victim, budget->products[victim * supports.held()], all.scores.data());
    const Move again = ask_rule(e);
    move.length = again.length;
    move.progress = again.progress;
    move.decay = again.decay;
    move.moves_threshold = again.moves_threshold;
    move.capped = again.capped;
    move.weighted = again.weighted;
    check(e, move);
  }
  void make_room(double amount, double decay, const Truth& truth) {
    supports.make_room(amount, decay, victim != none);
    if (budget != nullptr) budget->make_room(supports, truth);
  }

  std::size_t victim = none;  // the support to remove
};

class SupportedRounds final : public Rounds {
 public:
  SupportedRounds(const Rule& its_rule, Supports& supports, Books& its_books)
      : Rounds(its_rule, supports, its_books), supports_(supports) {}

  std::size_t learn(const Batch& batch, const Poll& poll, std::size_t& row) override {
    if (batch.scores != nullptr) throw InputError("with a kernel, a batch cannot report its scores");
    return run(SupportedRound(*this), batch, poll, row);
  }
  bool learn_one(const Instance& x, const Truth& truth, double weight, double tolerance) override {
    SupportedRound round(*this);
    supports_.look_ahead(x);
    round.number = books.examples;
    const Reading reading = round.read(x, 0);
    if (!reading.in_order) throw InputError("the columns are not in order");
    const bool presented = present(round, {x, reading, truth, weight}, tolerance);
    books.examples += 1;
    return presented;
  }
  void score(const Rows& rows, bool averaged, double* to) const override {
    const std::vector<double> coefficients = supports_.coefficients(averaged);
    KernelRows values;
    Scratch scratch;
    Instance x = rows.blank();
    for (std::size_t i = 0; i < rows.count(); ++i, to += lanes) {
      if (i % together == 0) supports_.look_at(rows, i, std::min(together, rows.count() - i), values);
      rows.take(i, x);
      const Reading reading = supports_.read_row(values, i % together, averaged, coefficients, reads, to);
      if (!reading.in_order) rows.in_order(x, i, scratch);  // throws
      const double score = checked_score(reading, reads, x, i);
      if (lanes == 1) to[0] = score;
    }
  }

 private:
  Supports& supports_;
};

}  // namespace hinge
