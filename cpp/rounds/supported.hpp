// The rounds of the one loop on supports: the same round, with kernel values that were looked up ahead, and a budget.
#pragma once

#include <algorithm>
#include <cmath>

#include "../learner.hpp"

namespace hinge {

inline std::size_t Learner::supported_rounds(const Batch& batch, const std::function<void()>& poll, std::size_t& row) {
  constexpr std::size_t poll_every = std::size_t{1} << 18;  // kernel values, some milliseconds
  std::size_t presented = 0, computed_since_poll = 0;
  Instance x = batch.rows->blank();
  const std::int64_t last_update = std::min(batch.max_updates, statistics_limit) + statistics.updates;
  for (std::size_t i = 0; i < batch.count && statistics.updates < last_update; ++i) {
    row = batch.order == nullptr ? i : checked(batch.order[i], batch.rows->count());
    if (batch.dimensions != nullptr) memory_->resize(batch.dimensions[row]);
    if (i % together == 0) {
      poll();
      supports_->look_ahead(batch, i, std::min(together, batch.count - i));
    }
    computed_since_poll += supports_->values_per_step();
    if (computed_since_poll >= poll_every) poll(), computed_since_poll = 0;
    const double weight = batch.weights == nullptr ? 1 : batch.weights[row];
    const Truth truth = truth_of(batch, row);
    const std::int64_t number = static_cast<std::int64_t>(row) + (batch.first < 0 ? examples : batch.first);
    batch.rows->take(row, x);
    const Reading reading = supports_->look(i % together, reads_, scores_.data());
    if (!reading.in_order) batch.rows->in_order(x, row, scratch_);  // refuses it
    supports_->number(number, batch.repeats);
    presented += supported_round(x, reading, truth, weight, batch.tolerance);
  }
  return presented;
}

inline bool Learner::learn_supported(const Instance& x, const Truth& truth, double weight, double tolerance,
                                     std::int64_t number, bool known) {
  supports_->look_ahead(x);
  const Reading reading = supports_->look(0, reads_, scores_.data());
  if (!reading.in_order) throw InputError("the columns are not in order");
  supports_->number(number, known);
  return supported_round(x, reading, truth, weight, tolerance);
}

// As Learner::round: until there is room nothing is changed, after it nothing throws.
inline bool Learner::supported_round(const Instance& x, const Reading& reading, const Truth& truth, double weight,
                                     double tolerance) {
  if (!(weight > 0)) return skip(x, reading, truth, weight);
  const auto check = [&](const Move& move) {
    const double progress = statistics.progress + move.progress;
    if (!is_sound(reading, truth, weight, move, progress)) look_at_each(x, reading, truth, weight, move, progress);
    if (!std::isfinite(reading.q) || !std::isfinite(supports_->itself()))
      throw InputError("the kernel's value of the instance with itself overflows float64");
  };
  check(Move());
  double* const amounts = amounts_.data();
  if (lanes_ == 1) scores_[0] = reading.score;
  const Scores scores{scores_.data(), lanes_, reading.q};
  Move move = rule_->decide(scores, truth, weight, amounts);
  check(move);
  if (awaits_first) {
    start_supported(truth);
    return false;
  }
  if (move.loss * move.loss <= tolerance) return false;

  bool moves = move.length > 0 || move.beside;
  std::size_t victim = none;
  if (moves && budget_ && budget_->full(*supports_) && supports_->known() == none) {
    victim = budget_->choose(*rule_, *supports_, false);
    if (!rule_->stands()) {
      const double own = budget_->products[victim * supports_->held()];
      supports_->look_without(victim, own, scores_.data());
      const Move again = rule_->decide(scores, truth, weight, amounts);
      move.length = again.length;
      move.progress = again.progress;
      move.decay = again.decay;
      move.beside = again.beside;
      move.capped = again.capped;
      move.weighted = again.weighted;
      check(move);
      moves = move.length > 0 || move.beside;
    }
  }
  if (moves) {
    supports_->make_room(total_amount(), move.decay, victim != none);
    if (budget_) budget_->make_room(*supports_, truth);
  }
  count(move, statistics.progress + move.progress);
  if (quantile_ != nullptr) quantile_->observe(std::sqrt(reading.score), weight);
  if (averaging_.on && statistics.rounds >= averaging_.from) supports_->tally();
  if (victim != none) budget_->remove(victim, *supports_);
  if (!moves) return true;
  if (budget_) budget_->moving(*supports_, amounts, move.decay);
  supports_->move(amounts, move.decay, x);
  if (!budget_ || !budget_->adaptive()) return true;
  for (;;) {
    const std::size_t redundant = budget_->choose(*rule_, *supports_, true);
    if (redundant == none) return true;
    budget_->remove(redundant, *supports_);
  }
}

// Uniclass may start at the first instance: it becomes the centre, and is not a round.
inline void Learner::start_supported(const Truth& truth) {
  const double all = 1;
  supports_->make_room(all, 1, false);
  if (budget_) budget_->make_room(*supports_, truth);
  if (budget_) budget_->moving(*supports_, &all, 1);
  supports_->now.origin = 0;
  supports_->move(&all, 1, Instance());
  awaits_first = false;
}

inline void Learner::score_supported(const Rows& rows, bool averaged, double* scores) const {
  const std::vector<double> coefficients = supports_->coefficients(averaged);
  KernelRows values;
  Scratch scratch;
  Instance x = rows.blank();
  for (std::size_t i = 0; i < rows.count(); ++i, scores += lanes_) {
    if (i % together == 0) supports_->look_at(rows, i, std::min(together, rows.count() - i), values);
    rows.take(i, x);
    const Reading reading = supports_->read_row(values, i % together, averaged, coefficients, reads_, scores);
    if (!reading.in_order) rows.in_order(x, i, scratch);  // refuses it
    const double score = score_of(reading, x, i);
    if (lanes_ == 1) scores[0] = score;
  }
}

}  // namespace hinge
