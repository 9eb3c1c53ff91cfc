// START HERE: the loop.
//
// Every algorithm of the papers is the same round:
//     the memory reads the instance: its scores, and q, its squared size in the memory's geometry;
//     the rule decides: the loss, and how much of x to add;
//     the memory moves.
// A rule never sees features. A memory never sees labels. This file has the round, the loop over a batch, and the
// promise that rejected input leaves no trace. rounds/ has one round per kind of memory, and the books: checks,
// statistics, the average. model/build.hpp chooses the parts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/batch.hpp"
#include "data/distinct.hpp"
#include "data/instance.hpp"
#include "data/rows.hpp"
#include "memories/constant.hpp"
#include "memories/memory.hpp"
#include "rounds/books.hpp"
#include "rounds/scores.hpp"
#include "rules/rule.hpp"

namespace hinge {

// Called from time to time while a batch is learned. It may throw to interrupt.
using Poll = std::function<void()>;

// One round. `round` is one of those in rounds/. Nothing changes before `admit` returns, and nothing throws after it,
// except for out of memory while a batch is journaled, which is rolled back. Returns whether the round was presented.
template <class Round>
HINGE_INLINE bool present(Round& round, const Example& e, double tolerance) {
  Books& books = round.books;
  if (!(e.weight > 0)) [[unlikely]] return books.skip(e.x, e.reading, e.truth, e.weight);
  Move move = round.decide(e);
  if (books.awaits_first) [[unlikely]] {
    round.start_at(e);
    return books.awaits_first = false;
  }
  if (move.loss * move.loss <= tolerance) return false;

  const bool moves = round.admit(e, move);
  books.count(move);
  if constexpr (Round::may_track) {
    if (books.tracked != nullptr) books.tracked->observe(std::sqrt(e.reading.score), e.weight);
  }
  if constexpr (requires { round.calibrate(e); }) {
    if (books.calibrates()) [[unlikely]] round.calibrate(e);
  }
  const bool tallies = books.tallies();
  if (tallies && !books.averaging.after) round.tally();
  if (moves) round.move(e.x, move);
  if (tallies && books.averaging.after) round.tally();
  return true;
}

// The rounds of a learner, compiled for its memory and its rule.
class Rounds {
 public:
  Rounds(const Rule& rule_, Memory& memory_, Books& books_)
      : rule(rule_), memory(memory_), books(books_), reads(rule.reads()), lanes(memory.lanes()), scores(lanes),
        amounts(lanes) {}
  virtual ~Rounds() = default;

  // Learns the rows of a batch in turn. Returns how many rounds were presented. `row` is set to the current row.
  virtual std::size_t learn(const Batch& batch, const Poll& poll, std::size_t& row) = 0;
  virtual bool learn_one(const Instance& x, const Truth& truth, double weight, double tolerance) = 0;
  // The scores of each row, one per lane.
  virtual void score(const Rows& rows, bool averaged, double* to) const = 0;
  // After several passes over the same rows: drops what was cached about them.
  void forget_rows() { visited_ = VisitedRows(); }

  // Calibrates with the scores of a round, or with those of the average if that predicts.
  void calibrate(const Example& e, const Memory& its_memory) {
    const Reading* reading = &e.reading;
    Reading averaged;
    if (books.averaging.on) reading = &(averaged = its_memory.read_average(e.x, reads, scores.data()));
    if (lanes == 1) scores[0] = reading->score;
    books.calibrate(scores.data(), lanes, e.truth, e.weight);
  }
  // The sum of |amount| over all lanes.
  double total_amount() const {
    double sums[4] = {};  // four sums, so that no addition waits for the previous one
    std::size_t r = 0;
    for (; r + 4 <= lanes; r += 4)
      for (std::size_t k = 0; k < 4; ++k) sums[k] += std::abs(amounts[r + k]);
    for (; r < lanes; ++r) sums[0] += std::abs(amounts[r]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  const Rule& rule;
  Memory& memory;
  Books& books;
  const Reads reads;
  const std::size_t lanes;
  std::vector<double> scores, amounts;  // one per lane

 protected:
  // The loop. It is not inlined: g++ spills registers when one function contains several of them. `batch` and `rows`
  // are its own copies, so the compiler knows that a round does not change them.
  template <class Round>
  HINGE_APART std::size_t run(Round round, const Batch batch, const Poll& poll, std::size_t& row) {
    std::size_t presented = 0, work = 0;
    const Rows rows = *batch.rows;
    Instance x = rows.blank();
    Distinct* distinct = nullptr;  // set once an unsorted row is seen, if the memory can read such rows directly
    char* const known = visited_.begin_pass(batch);
    const std::int64_t last_update = batch.last_update(books.statistics.updates);
    for (std::size_t i = 0; i < batch.count && books.statistics.updates < last_update; ++i) {
      row = batch.row(i, rows.count());
      const double weight = batch.weight(row);
      const Truth truth = batch.truth(row);
      rows.take(row, x);
      if (batch.order != nullptr) rows.prefetch(batch.order + i, batch.count - i, x, batch.targets);
      if (distinct != nullptr) x.any_order = is_distinct(x, *distinct, known == nullptr ? nullptr : known + row);
      work += round.work(i, x);
      if (work >= Round::poll_every) poll(), work = 0;
      round.meet(batch, i, row, x);
      const Reading reading = round.read(x, i);
      if (reading.in_order) [[likely]] {
        presented += present(round, {x, reading, truth, weight}, batch.tolerance);
      } else {
        if (memory.takes_any_order(reads)) distinct = &Distinct::of_this_thread();
        presented += learn_one(in_order(*batch.rows, row, x), truth, weight, batch.tolerance);
      }
    }
    return presented;
  }

 private:
  // The unsorted row x, as the memory takes it: unchanged if its columns are distinct, otherwise sorted, with repeated
  // columns added up. Throws if a column is outside the matrix.
  HINGE_APART Instance in_order(const Rows& rows, std::size_t row, Instance x) {
    x.any_order = memory.takes_any_order(reads) && has_distinct_columns(x);
    return x.any_order ? x : rows.in_order(x, row, scratch_);
  }

  Scratch scratch_;
  VisitedRows visited_;
};

class Learner : public Books {
 public:
  // Chooses the rounds for a rule and a memory.
  using Choose = std::unique_ptr<Rounds> (*)(const Rule&, Memory&, Books&);

  Learner(std::unique_ptr<Rule> rule, std::unique_ptr<Memory> memory, Averaging its_averaging, bool start_at_first,
          bool waits_for_constant, Observes its_observes, Choose choose)
      : rule_(std::move(rule)), memory_(std::move(memory)), choose_(choose) {
    averaging = its_averaging;
    awaits_first = start_at_first;
    awaits_constant = waits_for_constant;
    observes = its_observes;
    choose_rounds();
  }
  Learner(const Learner&) = delete;  // its rounds point to it
  Learner& operator=(const Learner&) = delete;

  // Learns a batch, all or nothing. Returns how many rounds were presented.
  std::size_t learn(const Batch& batch, const Poll& poll) {
    if (batch.dimensions == nullptr) check_width(*batch.rows);
    std::size_t presented = 0;
    all_or_nothing(batch.count > 1, batch.rows->stored(), poll,
                   [&](std::size_t& row) {
                     if (awaits_constant) settle(constant_near_first(batch));
                     presented = rounds_->learn(batch, poll, row);
                   });
    const auto seen = static_cast<std::int64_t>(batch.rows->count());
    examples = batch.first < 0 ? examples + seen : std::max(examples, batch.first + seen);
    return presented;
  }

  bool learn_one(const Instance& x, const Truth& truth, double weight, double tolerance = -1) {
    if (!awaits_constant || !(weight > 0)) [[likely]] return rounds_->learn_one(x, truth, weight, tolerance);
    try {
      settle(constant_near(x));
      return rounds_->learn_one(x, truth, weight, tolerance);
    } catch (...) {
      await_constant();
      throw;
    }
  }

  // Calls rounds(row), which sets `row` to the current row. If it throws, the previous state is restored. A single
  // round changes nothing unless it succeeds, so only several are journaled. `stored` values are to come.
  template <class Function>
  void all_or_nothing(bool several, std::size_t stored, const Poll& poll, Function&& rounds) {
    const Snapshot before = snapshot();
    if (several) memory_->begin(stored);
    std::size_t row = 0;
    const auto take_back = [&] {
      if (several) memory_->rollback();
      restore(before);
      if (awaits_constant) await_constant();
    };
    try {
      rounds(row);
      if (several) poll();  // an interrupt that arrived meanwhile rolls the batch back
    } catch (InputError& error) {
      take_back();
      if (error.row == none) error.row = row;
      throw;
    } catch (...) {
      take_back();
      throw;
    }
    if (several) memory_->commit();
  }

  // The scores of each row, one per lane: w.x, or |x - w|.
  void score(const Rows& rows, bool averaged, double* scores) const {
    check_width(rows);
    rounds_->score(rows, averaged, scores);
  }
  void score_one(const Instance& x, bool averaged, double* scores) const {
    const Reads reads = rule_->reads();
    const Reading reading = averaged ? memory_->read_average(x, reads, scores) : memory_->read(x, reads, scores);
    const double score = checked_score(reading, reads, x, none);
    if (lanes() == 1) scores[0] = score;
  }

  // Continues under another rule (another C, another step).
  void change_rule(std::unique_ptr<Rule> rule) {
    if (tracked != nullptr) *rule->quantile() = *tracked;
    rule_ = std::move(rule);
    choose_rounds();
  }
  // Continues with another memory that holds the same predictor (more lanes).
  void change_memory(std::unique_ptr<Memory> memory) {
    rounds_.reset();
    memory_ = std::move(memory);
    choose_rounds();
  }
  // Call this after the number of lanes has changed.
  void choose_rounds() {
    tracked = rule_->quantile();
    rounds_ = choose_(*rule_, *memory_, *this);
  }

  // After several passes over the same rows: drops what was cached about them.
  void forget_rows() {
    rounds_->forget_rows();
    memory_->forget_rows();
  }

  std::size_t lanes() const { return rounds_->lanes; }
  const Rule& rule() const { return *rule_; }
  Memory& memory() { return *memory_; }
  const Memory& memory() const { return *memory_; }
  Quantile* quantile() { return tracked; }
  void check_width(const Rows& rows) const {
    if (rows.width() > memory_->dimension())
      throw InputError("the rows have " + std::to_string(rows.width()) + " columns, the model has " +
                    std::to_string(memory_->dimension()));
  }

 private:
  // Sets the constant feature, once. 0: there was no instance yet.
  void settle(double constant) {
    if (constant == 0) return;
    memory_->set_constant(constant);
    awaits_constant = false;
  }
  void await_constant() {
    memory_->set_constant(1);
    awaits_constant = true;
  }

  std::unique_ptr<Rule> rule_;
  std::unique_ptr<Memory> memory_;
  Choose choose_;
  std::unique_ptr<Rounds> rounds_;
};

}  // namespace hinge
