// START HERE: the one loop.
//
// Every algorithm of the papers is the same round:
//     the memory reads the instance (its score, and q, its squared size in the memory's geometry),
//     the rule decides (the loss, and how much of x to add),
//     the memory moves.
// A rule never sees features, a memory never sees labels. Everything else in this file keeps the books:
// statistics, the average, and the promise that input which is refused leaves no trace.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/batch.hpp"
#include "rounds/block.hpp"
#include "memories/kernels/budget.hpp"
#include "data/distinct.hpp"
#include "data/instance.hpp"
#include "memories/shapes/shaped.hpp"
#include "memories/memory.hpp"
#include "memories/kernels/supports.hpp"
#include "memories/weights.hpp"
#include "rules/quantile.hpp"
#include "data/rows.hpp"
#include "rules/binary.hpp"
#include "rules/regression.hpp"
#include "rules/rule.hpp"

namespace hinge {

struct Statistics {
  std::int64_t rounds = 0;
  std::int64_t mistakes = 0;
  std::int64_t updates = 0;
  double loss = 0;          // the sum of l_t, each suffered before its update
  double squared_loss = 0;  // the sum of l_t^2
  double largest_q = 0;     // R^2 of the bounds
  double progress = 0;      // the sum of tau (2 l - tau q): the master inequality's left side (J06 Lemma 1)
  double cost = 0;          // of the predictions: the mistakes, if no costs are given; of numbers and ranks: how far off
  std::int64_t capped = 0;    // updates that C made shorter (PA-I)
  std::int64_t weighted = 0;  // updates that would be others if their examples had the weight 1
};

// Which vectors the average counts: from which round on, before or after the round's update.
struct Averaging {
  bool on = false;
  std::int64_t from = 1;
  bool after = false;  // scikit-learn's way, for `hinge.compat` only
};

class Learner {
 public:
  // `regularizer`: a round of weight 1 adds x x'/regularizer to the inverse of a covariance.
  // `budget`: of a memory of supports; none keeps them all.
  Learner(std::unique_ptr<Rule> rule, std::unique_ptr<Memory> memory, Averaging averaging,
          bool start_at_first, double regularizer = 1, std::unique_ptr<Budget> budget = nullptr)
      : rule_(std::move(rule)),
        reads_(rule_->reads()),
        memory_(std::move(memory)),
        budget_(std::move(budget)),
        averaging_(averaging),
        regularizer_(regularizer),
        awaits_first(start_at_first) {
    quantile_ = rule_->quantile();
    count_lanes();
  }

  // The rounds of a batch, one after the other, all or none. Returns how many were presented.
  // `poll` is called now and then and may throw to interrupt.
  std::size_t learn(const Batch& batch, const std::function<void()>& poll) {
    if (batch.rows->width() > memory_->dimension() && batch.dimensions == nullptr)
      throw InputError("the rows have " + std::to_string(batch.rows->width()) + " columns, the model has " +
                    std::to_string(memory_->dimension()));
    const bool several = batch.count > 1;  // a single round changes nothing unless it succeeds
    const Statistics statistics_before = statistics;
    const bool awaited_first = awaits_first;
    const std::int64_t examples_before = examples;
    const Quantile quantile_before = quantile_ == nullptr ? Quantile() : *quantile_;
    if (several) memory_->begin(batch.rows->stored());
    if (several && budget_) budget_->begin();
    std::size_t presented = 0, row = 0;
    try {
      presented = all_rounds(batch, poll, row);
      if (several) poll();  // who asked to stop while it ran gets back what was before
    } catch (...) {
      if (several) memory_->rollback();
      if (several && budget_) budget_->rollback();
      statistics = statistics_before;
      awaits_first = awaited_first;
      examples = examples_before;
      if (quantile_ != nullptr) *quantile_ = quantile_before;
      try {
        throw;
      } catch (InputError& error) {
        if (error.row == none) error.row = row;
        throw;
      }
    }
    if (several) memory_->commit();
    if (several && budget_) budget_->commit();
    const auto seen = static_cast<std::int64_t>(batch.rows->count());
    examples = batch.first < 0 ? examples + seen : std::max(examples, batch.first + seen);
    return presented;
  }

  HINGE_APART bool learn_one(const Instance& x, const Truth& truth, double weight, double tolerance = -1) {
    if (supports_ != nullptr) {
      const bool presented = learn_supported(x, truth, weight, tolerance, examples, false);
      examples += 1;
      return presented;
    }
    return round(*memory_, *rule_, x, memory_->read(x, reads_, scores_.data()), truth, weight, tolerance);
  }

  // The scores of each row, lane by lane: w.x, or |x - w|.
  void score(const Rows& rows, bool averaged, double* scores) const {
    if (rows.width() > memory_->dimension())
      throw InputError("the rows have " + std::to_string(rows.width()) + " columns, the model has " +
                    std::to_string(memory_->dimension()));
    if (supports_ != nullptr) return score_supported(rows, averaged, scores);
    Scratch scratch;
    RowReader reader(rows);
    Instance x = reader.blank();
    const bool takes_any_order = memory_->takes_any_order(reads_);
    bool unsorted = false;  // whether a row that is not sorted has come
    for (std::size_t i = 0; i < rows.count(); ++i, scores += lanes_) {
      reader.take(i, x);
      x.any_order = unsorted && inside(x);
      Reading reading = read(x, averaged, scores);
      if (!reading.in_order && takes_any_order) {
        unsorted = true;
        if ((x.any_order = inside(x))) reading = read(x, averaged, scores);
      }
      // Repeated columns may cancel: their terms need not be finite for the score to be.
      if (!reading.in_order || (x.any_order && !std::isfinite(reading.plain)))
        reading = read(rows.in_order(x, i, scratch), averaged, scores);
      const double score = score_of(reading, x, i);
      if (lanes_ == 1) scores[0] = score;
    }
  }

  void score_one(const Instance& x, bool averaged, double* scores) const {
    const double score = score_of(read(x, averaged, scores), x, none);
    if (lanes_ == 1) scores[0] = score;
  }

  // Single-prototype ranking: a round with a feature vector for each label, all with the same w.
  void learn_block(const Block& block, const Truth& truth, double weight) {
    scores_.resize(std::max(scores_.size(), block.labels));
    amounts_.resize(scores_.size());
    const double square = score_block(block, false, scores_.data());
    if (!(weight > 0)) return void(skip(block.labels == 0 ? Instance() : block.vector(0), Reading{0, 0, 0, square}, truth, weight));
    const Scores scores{scores_.data(), block.labels, square, &block};
    const Move move = rule_->decide(scores, truth, weight, amounts_.data());
    direction_.resize(block.size);
    double along = 0;
    for (std::size_t j = 0; j < block.size; ++j) {
      direction_[j] = block.direction(amounts_.data(), j);
      along += direction_[j] * direction_[j];
    }
    const double progress = statistics.progress + move.progress;
    const Reading moved{0, 0, 0, along};
    if (!is_sound(moved, truth, weight, move, progress))
      look_at_each(block.instance(direction_.data()), moved, truth, weight, move, progress);
    if (move.length > 0) memory_->admit(1, 1, along);
    const double one = 1;
    count(move, progress);
    const bool tallies = averaging_.on && statistics.rounds >= averaging_.from;
    if (tallies) memory_->tally();
    if (move.length > 0) memory_->move(&one, 1, block.instance(direction_.data()));
  }

  // The scores of all labels. Returns the largest |phi|^2.
  double score_block(const Block& block, bool averaged, double* scores) const {
    double largest = 0;
    for (std::size_t r = 0; r < block.labels; ++r) {
      const Instance x = block.vector(r);
      const Reading reading = averaged ? memory_->read_average(x, reads_, nullptr) : memory_->read(x, reads_, nullptr);
      scores[r] = score_of(reading, x, r);
      if (!std::isfinite(reading.square)) throw InputError("the squared norm of the instance overflows float64", r);
      largest = std::max(largest, reading.square);
    }
    return largest;
  }

  // Goes on under another rule (another C, another step).
  void change_rule(std::unique_ptr<Rule> rule) {
    if (quantile_ != nullptr) *rule->quantile() = *quantile_;
    rule_ = std::move(rule);
    quantile_ = rule_->quantile();
  }
  // Goes on with other weights, which are the same predictor (more lanes).
  void change_flat(std::unique_ptr<Memory> flat) {
    if (curved_ != nullptr)
      curved_->change_flat(std::move(flat));
    else
      memory_ = std::move(flat);
    count_lanes();
  }
  void count_lanes() {
    lanes_ = memory_->lanes();
    curved_ = dynamic_cast<Curved*>(memory_.get());
    supports_ = dynamic_cast<Supports*>(memory_.get());
    sized_ = dynamic_cast<Sizes*>(memory_.get()) != nullptr;
    scores_.resize(lanes_);
    amounts_.resize(lanes_);
  }
  std::size_t lanes() const { return lanes_; }
  Supports* supports() { return supports_; }
  Quantile* quantile() { return quantile_; }
  Budget* budget() { return budget_.get(); }

  // After several passes over the same rows: what was kept of them goes.
  void forget_rows() {
    visited_ = VisitedRows();
    if (supports_ != nullptr) supports_->forget_rows();
  }

  Memory& memory() { return *memory_; }
  const Memory& memory() const { return *memory_; }

 private:
  // Whether the compiler knows which memory it is, so that nothing need be asked.
  template <class M>
  static constexpr bool memory_is_known = std::remove_reference_t<M>::one_lane;

  // The loop. `row` is the one that it has come to. `memory` and `rule` are memory_ and rule_, or the same with more known
  // about them: a function apart for each, because g++ spills registers if it meets them all in one. Its own copies of
  // `batch` and `rows`: nothing that a round writes can be taken for a change of them.
  template <class M, class R>
  HINGE_APART std::size_t rounds(M memory, const R& rule, const Batch batch, const std::function<void()>& poll,
                                 std::size_t& row) {
    constexpr std::size_t poll_every = std::size_t{1} << 22;  // values read, some milliseconds
    std::size_t presented = 0, read_since_poll = 0;
    const Rows rows = *batch.rows;
    Instance x = rows.blank();
    Distinct* distinct = nullptr;  // once a row that is not sorted has come, if such rows may be read as they are
    char* const known = visited_.begin_pass(batch);
    const std::int64_t last_update = std::min(batch.max_updates, statistics_limit) + statistics.updates;
    for (std::size_t i = 0; i < batch.count && statistics.updates < last_update; ++i) {
      row = batch.order == nullptr ? i : checked(batch.order[i], rows.count());
      const double weight = batch.weights == nullptr ? 1 : batch.weights[row];
      const Truth truth = truth_of(batch, row);
      rows.take(row, x);
      if (batch.order != nullptr) rows.expect(batch.order + i, batch.count - i, x, batch.targets);
      if (distinct != nullptr) x.any_order = is_distinct(x, *distinct, known == nullptr ? nullptr : known + row);
      read_since_poll += x.size + 1;
      if (read_since_poll >= poll_every) poll(), read_since_poll = 0;
      if (batch.dimensions != nullptr) memory_->resize(batch.dimensions[row]);
      const Reading reading = memory.read(x, reads_, scores_.data());
      if (reading.in_order) [[likely]] {
        presented += round(memory, rule, x, reading, truth, weight, batch.tolerance);
      } else {
        if (memory_->takes_any_order(reads_)) distinct = &Distinct::of_this_thread();
        presented += learn_one(in_order(*batch.rows, row, x), truth, weight, batch.tolerance);
      }
    }
    return presented;
  }

  // Row x, which is not sorted, as the memory takes it: as it is, if its columns are distinct; else sorted, with repeated
  // columns added up. Columns outside of the matrix are refused.
  HINGE_APART Instance in_order(const Rows& rows, std::size_t row, Instance x) {
    x.any_order = has_distinct_columns(x);
    return x.any_order ? x : rows.in_order(x, row, scratch_);
  }
  bool has_distinct_columns(const Instance& x) const {
    return memory_->takes_any_order(reads_) &&
           visit(x, [](const auto& features) { return Distinct::of_this_thread().check(features); });
  }
  // Whether the row is certainly not sorted, and its columns are distinct: `known` from an earlier pass, or found out.
  static HINGE_APART bool is_distinct(Instance x, Distinct& distinct, char* known) {
    return visit(x, [&](const auto& features) {
      if (known != nullptr && *known != 0) return columns_inside(features);
      const bool found = falls_early(features) && distinct.check(features);
      if (known != nullptr) *known = found;
      return found;
    });
  }
  static HINGE_APART bool inside(Instance x) {
    return visit(x, [](const auto& features) { return columns_inside(features); });
  }

  // One lane and products: what the memory and the rule are, and what the rows look like, is asked once a batch, not in
  // every round.
  std::size_t all_rounds(const Batch& batch, const std::function<void()>& poll, std::size_t& row) {
    if (batch.scores != nullptr) return scored_rounds(batch, poll, row);
    if (lanes_ == 1 && reads_ == Reads::product) {
      if (auto* weights = dynamic_cast<Weights<double>*>(memory_.get())) return rounds_as(*weights, batch, poll, row);
      if (auto* weights = dynamic_cast<Weights<float>*>(memory_.get())) return rounds_as(*weights, batch, poll, row);
    }
    if (supports_ != nullptr) return supported_rounds(batch, poll, row);
    return rounds<Memory&>(*memory_, *rule_, batch, poll, row);
  }
  // The same rounds, each after its scores were written down.
  HINGE_APART std::size_t scored_rounds(const Batch& batch, const std::function<void()>& poll, std::size_t& row) {
    if (supports_ != nullptr) throw InputError("with a kernel, a batch does not tell its scores");
    constexpr std::size_t poll_every = std::size_t{1} << 22;
    std::size_t presented = 0, read_since_poll = 0, known = batch.known;
    const Rows& rows = *batch.rows;
    Instance x = rows.blank();
    const std::int64_t last_update = std::min(batch.max_updates, statistics_limit) + statistics.updates;
    for (std::size_t i = 0; i < batch.count && statistics.updates < last_update; ++i) {
      row = batch.order == nullptr ? i : checked(batch.order[i], rows.count());
      rows.take(row, x);
      read_since_poll += x.size + 1;
      if (read_since_poll >= poll_every) poll(), read_since_poll = 0;
      score_known(rows, row, x, known, batch.averaged, batch.scores + i * lanes_);
      if (batch.dimensions != nullptr) memory_->resize(batch.dimensions[row]);
      const double weight = batch.weights == nullptr ? 1 : batch.weights[row];
      const Reading reading = memory_->read(x, reads_, scores_.data());
      presented += reading.in_order
                       ? round(*memory_, *rule_, x, reading, truth_of(batch, row), weight, batch.tolerance)
                       : learn_one(in_order(rows, row, x), truth_of(batch, row), weight, batch.tolerance);
      known = memory_->dimension();
    }
    return presented;
  }
  // The scores of a row. Columns from `known` on are new with this row, and left out, as `score` does not know them. What
  // is not finite is refused by the round.
  void score_known(const Rows& rows, std::size_t row, Instance x, std::size_t known, bool averaged, double* scores) {
    if (rows.width() > known) x = known_part(x, known);
    Reading reading = read(x, averaged, scores);
    if (!reading.in_order && memory_->takes_any_order(reads_) && (x.any_order = inside(x)))
      reading = read(x, averaged, scores);
    if (!reading.in_order || (x.any_order && !std::isfinite(reading.plain)))
      reading = read(rows.in_order(x, row, scratch_), averaged, scores);
    if (lanes_ == 1) scores[0] = reads_ == Reads::distance ? std::sqrt(reading.plain) : reading.plain;
  }
  Instance known_part(const Instance& x, std::size_t known) {
    known_values_.clear();
    known_columns_.clear();
    visit(x, [&](const auto& features) {
      for (std::size_t j = 0; j < features.size; ++j) {
        if (features.column(j) >= known) continue;
        known_values_.push_back(features.value(j));
        known_columns_.push_back(static_cast<std::int64_t>(features.column(j)));
      }
    });
    Instance part;
    part.values = known_values_.data();
    part.columns = known_columns_.data();
    part.limit = known;
    part.size = known_values_.size();
    part.layout = Layout::sparse64;
    return part;
  }
  // On supports: supported.hpp.
  std::size_t supported_rounds(const Batch& batch, const std::function<void()>& poll, std::size_t& row);
  bool learn_supported(const Instance& x, const Truth& truth, double weight, double tolerance, std::int64_t number,
                       bool known);
  bool supported_round(const Instance& x, const Reading& reading, const Truth& truth, double weight, double tolerance);
  void score_supported(const Rows& rows, bool averaged, double* scores) const;
  void start_supported(const Truth& truth);
  template <class Real>
  std::size_t rounds_as(Weights<Real>& weights, const Batch& batch, const std::function<void()>& poll,
                        std::size_t& row) {
    return visit(batch.rows->blank(), [&]<class Features>(const Features&) {
      const WeightsAs<Real, Features> memory{weights};
      if (const auto* rule = dynamic_cast<const Binary*>(rule_.get())) return rounds(memory, *rule, batch, poll, row);
      if (const auto* rule = dynamic_cast<const Regression*>(rule_.get())) return rounds(memory, *rule, batch, poll, row);
      return rounds(memory, *rule_, batch, poll, row);
    });
  }

  static Truth truth_of(const Batch& batch, std::size_t row) {
    if (batch.targets != nullptr) return {batch.targets[row]};
    if (batch.labels == nullptr) return {};
    const std::int64_t from = batch.label_starts[row];
    return {0, batch.labels + from, static_cast<std::size_t>(batch.label_starts[row + 1] - from)};
  }

  Reading read(const Instance& x, bool averaged, double* scores) const {
    return averaged ? memory_->read_average(x, reads_, scores) : memory_->read(x, reads_, scores);
  }

  double score_of(const Reading& reading, const Instance& x, std::size_t row) const {
    if (!std::isfinite(reading.plain)) {
      refuse_bad_values(x, row);
      throw InputError("the score overflows float64", row);
    }
    return reads_ == Reads::distance ? std::sqrt(reading.plain) : reading.plain;
  }

  static constexpr std::int64_t statistics_limit = std::int64_t{1} << 62;

  // One round; `memory` and `rule` as in `rounds`. Until `admit` has returned nothing is changed; after it nothing throws (but
  // for memory exhausted while a batch is journaled, which is rolled back).
  template <class M, class R>
  HINGE_INLINE bool round(M& memory, const R& rule, const Instance& x, const Reading& reading, const Truth& truth,
                          double weight, double tolerance) {
    if (!(weight > 0)) [[unlikely]] return skip(x, reading, truth, weight);
    const bool one_lane = memory.one_lane || lanes_ == 1;
    if (!one_lane && !std::isfinite(reading.score)) look_at_each(x, reading, truth, weight, Move(), 0);
    Scores scores{one_lane ? &reading.score : scores_.data(), one_lane ? 1 : lanes_, reading.q};
    if constexpr (!memory_is_known<M>) {
      if (curved_ != nullptr) return shaped_round(x, reading, scores, truth, weight, tolerance);
      if (sized_) scores.sizes = memory.sizes(x, reading.q);
    }
    double its_amount = 0;  // never leaves its register, if all is known
    double* const amounts = memory_is_known<M> ? &its_amount : amounts_.data();
    const Move move = rule.decide(scores, truth, weight, amounts);
    const double progress = statistics.progress + move.progress;
    if (!is_sound(reading, truth, weight, move, progress)) [[unlikely]]
      look_at_each(x, reading, truth, weight, move, progress);
    if (awaits_first) [[unlikely]] return start_at(x, reading.square);
    if (move.loss * move.loss <= tolerance) return false;

    const bool moves = move.length > 0 || move.beside;
    if (moves) memory.admit(one_lane ? std::abs(amounts[0]) : sum_of_amounts(), move.decay, reading.square);
    count(move, progress);
    if constexpr (!memory_is_known<M>) {
      if (quantile_ != nullptr) quantile_->observe(std::sqrt(reading.score), weight);
    }
    const bool tallies = averaging_.on && statistics.rounds >= averaging_.from;
    if (tallies && !averaging_.after) memory.tally();
    if (moves) memory.move(amounts, move.decay, x);
    if (tallies && averaging_.after) memory.tally();
    return true;
  }

  // A round in the geometry of a covariance, where the size of x costs much more than its scores: it is measured only
  // if the rule would move. The rule is asked with a size that is certainly not too large: so its steps are
  // certainly not too short, and if even they can be taken, x is measured and learned in one pass over the covariance.
  HINGE_APART bool shaped_round(const Instance& x, const Reading& reading, Scores scores, const Truth& truth,
                                double weight, double tolerance) {
    Shape& shape = curved_->shape();
    double* amounts = amounts_.data();
    const auto decide = [&](double q) {
      scores.q = q;
      return rule_->decide(scores, truth, weight, amounts);
    };
    const auto check = [&](const Move& move) {  // throws if something is not finite
      const double progress = statistics.progress + move.progress;
      if (!is_sound(reading, truth, weight, move, progress)) look_at_each(x, reading, truth, weight, move, progress);
    };
    check(Move());
    const double least = shape.least_size(reading.square), precision = weight / regularizer_;
    const bool tiny = !(least > std::numeric_limits<double>::min()) && reading.square > 0;
    bool measured = tiny || rule_->needs_size();
    Move move = decide(measured ? shape.size(x) : least);
    constexpr double slack = 1e30;  // for rounding in the bound
    const double largest = move.length + 2 * move.loss * move.length + statistics.progress + move.progress;
    if (!measured && !std::isfinite(slack * largest)) {
      measured = true;
      move = decide(shape.size(x));
    }
    check(move);
    if (move.loss * move.loss <= tolerance) return false;

    const bool moves = move.length > 0 || move.beside;
    if (moves && !measured && !curved_->would_admit(total_amount(), reading.square)) {  // the true steps may be shorter
      measured = true;
      move = decide(shape.size(x));
    }
    const double its_precision = rule_->needs_size() ? shape.most(move.precision, reading.square) : precision;
    const bool narrows = move.length > 0 && its_precision > Shape::least_precision;
    if (narrows) shape.check(its_precision, reading.square);
    const double amount = total_amount();
    if (moves && !narrows) check(move = decide(shape.aim(x)));  // nothing has limited its size so far
    if (moves) curved_->admit(amount, 1, reading.square);
    if (narrows) shape.admit(its_precision, reading.square);
    if (narrows && measured) shape.narrow(x, its_precision);
    if (narrows && !measured) move = decide(shape.narrow(x, its_precision));
    if (!moves) move.q = 0;  // it was never measured
    if (narrows && weight != 1 && !rule_->needs_size()) move.weighted = true;
    count(move, statistics.progress + move.progress);
    const bool tallies = averaging_.on && statistics.rounds >= averaging_.from;
    if (tallies) memory_->tally();
    if (moves) curved_->move(amounts, 1, x);
    return true;
  }

  // Whether everything that the round reads and writes down is finite: the sum is not finite if one of them is not. (It
  // may overflow although all of them are finite: `look_at_each` lets that pass.)
  HINGE_INLINE bool is_sound(const Reading& reading, const Truth& truth, double weight, const Move& move,
                             double progress) const {
    return std::isfinite(reading.score + reading.square + truth.value + weight + move.length + move.q +
                         (move.loss * move.loss + statistics.squared_loss) + (move.cost + statistics.cost) + progress);
  }

  void count(const Move& move, double progress) {
    statistics.rounds += 1;
    statistics.mistakes += move.mistake;
    statistics.updates += move.length > 0;
    statistics.loss += move.loss;
    statistics.squared_loss += move.loss * move.loss;
    statistics.largest_q = std::max(statistics.largest_q, move.q);
    statistics.progress = progress;
    statistics.cost += move.cost;
    statistics.capped += move.capped;
    statistics.weighted += move.weighted;
  }

  double total_amount() const { return lanes_ == 1 ? std::abs(amounts_[0]) : sum_of_amounts(); }
  double sum_of_amounts() const {  // four sums, so that no addition waits for the one before it
    double sums[4] = {};
    std::size_t r = 0;
    for (; r + 4 <= lanes_; r += 4)
      for (std::size_t k = 0; k < 4; ++k) sums[k] += std::abs(amounts_[r + k]);
    for (; r < lanes_; ++r) sums[0] += std::abs(amounts_[r]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  // What happens rarely. All that these functions get are copies, made when they are called: what a round works with has
  // no address then, and stays in registers.

  // Uniclass may start at the first instance: it becomes the centre, and is not a round (N03).
  HINGE_APART bool start_at(Instance x, double square) {
    const double all = 1;
    memory_->admit(all, 1, square);
    memory_->move(&all, 1, x);
    awaits_first = false;
    return false;
  }

  // A weight of 0 changes nothing, but what it weighs must be numbers all the same.
  HINGE_APART bool skip(Instance x, Reading reading, Truth truth, double weight) const {
    if (weight != 0)
      throw InputError("the sample weight is " + std::to_string(weight) + "; it must be 0 or more");
    look_at_each(x, reading, truth, weight, Move(), 0);
    return false;
  }

  HINGE_APART void look_at_each(Instance x, Reading reading, Truth truth, double weight, Move move,
                                double progress) const {
    refuse_bad_values(x, none);
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

  static std::size_t checked(std::int64_t row, std::size_t count) {
    if (row < 0 || static_cast<std::uint64_t>(row) >= count)
      throw InputError("order names row " + std::to_string(row) + " of " + std::to_string(count));
    return static_cast<std::size_t>(row);
  }

  std::unique_ptr<Rule> rule_;
  Quantile* quantile_ = nullptr;  // of rule_, if it tracks one
  Reads reads_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Budget> budget_;
  Curved* curved_ = nullptr;      // memory_, if it has a shape
  Supports* supports_ = nullptr;  // memory_, if it has a kernel
  bool sized_ = false;        // whether memory_ tells the sizes of constraints itself
  Averaging averaging_;
  double regularizer_;
  std::size_t lanes_ = 1;
  std::vector<double> scores_, amounts_;  // one a lane
  std::vector<double> direction_;         // of a block
  std::vector<double> known_values_;      // of an instance without its new columns
  std::vector<std::int64_t> known_columns_;
  Scratch scratch_;
  VisitedRows visited_;

 public:
  // The state, open to be saved and restored.
  Statistics statistics;
  bool awaits_first;
  std::int64_t examples = 0;  // that have come; the numbers by which supports are called
};

}  // namespace hinge

#include "rounds/supported.hpp"
