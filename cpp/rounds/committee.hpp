// The round of a committee: every expert predicts and learns as it would alone, the vote predicts and learns from their
// losses (committee/vote.hpp).
//
// Nothing changes before all checks have passed, with two exceptions that change no prediction: what the first instances
// determine (undone if the round is rejected), and births of lattice lanes, which are copies until they move.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "../committee/bank.hpp"
#include "../learner.hpp"
#include "../memories/constant.hpp"
#include "plain.hpp"

namespace hinge {

struct CommitteeRound : RowRound {
  static constexpr bool may_track = false;
  static constexpr std::size_t poll_every = std::size_t{1} << 18;  // values read: all experts read them
  explicit CommitteeRound(Rounds& its)
      : all(its), books(its.books), bank(static_cast<Bank&>(its.memory)), room(bank.work), lanes(its.lanes) {}

  void meet(const Batch& batch, std::size_t /*i*/, std::size_t row, const Instance& /*x*/) {
    if (batch.dimensions != nullptr) resize(all.memory, batch.dimensions[row]);
  }
  Reading read(const Instance& x, std::size_t /*i*/) {
    const Sums s = Bank::squares(x);
    if (!s.in_order()) return Reading{0, 0, 0, 0, false};
    inputs = {x, nullptr};
    scaled = x;
    squares[0] = squares[1] = s.square;
    if (bank.scales() && std::isfinite(s.square)) {
      scaled = bank.scaling.meet(x);
      inputs.scaled = Bank::values_of(scaled);
      squares[1] = Bank::squares(scaled).square;
    }
    const double score = score_all();
    const double square = std::max(squares[0], squares[1]);
    return Reading{score, score, square, square, true};
  }

  Move decide(const Example& e) {
    books.check(e, Move());
    const Start before[2] = {bank.starts[0], bank.starts[1]};
    const bool starts = start(e);
    try {
      if (starts) score_all();  // now with the constants
      decide_all(e);
      const Move move = elect(e);
      books.check(e, move);
      check_steps();
      return move;
    } catch (...) {
      if (starts) restart(before);
      throw;
    }
  }

  // Lanes of a lattice may be born. They change no prediction, so `move` stays as it is.
  bool admit(const Example& e, const Move& /*move*/) {
    if (bank.lattice.used && bank.members_learn && give_birth(e)) {
      score_all();
      decide_members(e);  // shorter steps than before: nothing overflows
      judge(e);
    }
    if (bank.members_learn) {
      bank.records.note(e.x);
      if (bank.scales()) bank.scaling.keep();
    }
    return true;  // even if no expert moves, the vote learns
  }

  void move(const Instance& /*x*/, const Move& move) {
    if (bank.vote_learns) {
      bank.vote.learn(room.losses.data(), bank.vote.expected(room.losses.data()));
      bank.vote.record.weight += weight;
      bank.vote.record.loss += weight * move.cost;
    }
    if (!bank.members_learn) return;
    bank.tally_averages();
    for (std::size_t i = 0; i < bank.members.size(); ++i) count(bank.members[i], i);
    bank.move_members(inputs, room, weight);
  }
  // Where the vote learns, the scores are those of rows that were not learned before.
  void calibrate(const Example& e) {
    if (bank.vote_learns) books.calibrate(room.outcome.data(), lanes, e.truth, e.weight);
  }
  static void tally() {}  // the average of the whole; members have their own
  static void start_at(const Example& /*e*/) {}

  Rounds& all;
  Books& books;
  Bank& bank;
  Bank::Work& room;
  const std::size_t lanes;
  Inputs inputs;
  Instance scaled;         // x with scaled values
  double squares[2] = {};  // |x|^2 of the values as they came, and of the scaled ones
  double weight = 1;

 private:
  // The scores of all experts, and x'Sx of those with a variance.
  double score_all() {
    bank.begin_sizes(room);
    return bank.score_voters(inputs, room.ask, room.quads.sizes.data());
  }
  // The squared size of the instance for a member, in the Euclidean geometry.
  double size_of(const Member& m) const { return squares[m.input()] + bank.constant2(m); }

  // ---- the first instances ----

  // What this instance determines: the constant beside the features, and the measures of C and r. Returns whether it
  // does.
  bool start(const Example& e) {
    bool changed = false;
    for (std::size_t input = 0; input < 2; ++input) {
      Start& its = bank.starts[input];
      if (its.C > 0 || !(squares[input] > 0) || (input == 1 && !bank.scales())) continue;
      if (bank.kind().has_constant && its.constant == 0)
        changed = true, its.constant = input == 0 ? constant_near(inputs.plain) : constant_of_scaled;
      const double q = squares[input] + its.constant * its.constant;
      room.amounts.resize(lanes), room.zeros.assign(lanes, 0.0);
      const Move first = bank.probe().decide({room.zeros.data(), lanes, q}, e.truth, 1, room.amounts.data());
      if (!(first.loss > 0 && first.q > std::numeric_limits<double>::min())) continue;
      changed = true;
      its.C = nearest_power_of_2(first.loss / first.q);
      its.size = nearest_power_of_2(first.q);
      bank.set_parameters(input);
    }
    return changed;
  }
  void restart(const Start (&before)[2]) {
    for (std::size_t input = 0; input < 2; ++input) {
      bank.starts[input] = before[input];
      bank.set_parameters(input);
    }
  }

  // ---- what each expert does ----

  void decide_all(const Example& e) {
    decide_members(e);
    double finite = room.bottom_margin;
    for (std::size_t i = 0; i < bank.members.size(); ++i) {
      const Move& its = room.moves[i];
      const Statistics& sums = bank.members[i].statistics;
      finite += its.length + (its.loss * its.loss + sums.squared_loss) + (its.progress + sums.progress);
      if (bank.members[i].place == Member::Place::bottom) {
        const Bottom bottom = bottom_of(bank.members[i], its);
        finite += (bottom.margin * bottom.margin + sums.squared_loss) + (bottom.progress + sums.progress);
      }
    }
    if (!std::isfinite(finite)) throw InputError("the loss or the step is too large: it overflows float64");
  }
  void decide_members(const Example& e) {
    weight = e.weight;
    const std::size_t count = bank.members.size();
    room.amounts.assign(count * lanes, 0.0);
    room.own.resize(count * lanes);
    room.moves.resize(count);
    room.narrowing.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const Member& m = bank.members[i];
      for (std::size_t r = 0; r < lanes; ++r) room.own[i * lanes + r] = bank.score_of({i, false}, r, room.ask.sums.data());
      decide(i, bank.size_of(m, squares[m.input()], room), e);
      if (!m.is_shaped()) continue;
      if (room.moves[i].length > 0) room.narrowing.push_back(i);
      if (!room.moves[i].moves()) room.moves[i].q = 0;  // it counts where a member moves
    }
    if (bank.members[0].place == Member::Place::bottom) room.bottom_margin = margin_of_bottom(e);
  }
  // A member whose C or r is not known yet does nothing.
  void decide(std::size_t i, double q, const Example& e) {
    const Member& m = bank.members[i];
    if (!bank.is_ready(m)) return void(room.moves[i] = Move());
    room.moves[i] = m.rule->decide({room.own.data() + i * lanes, lanes, q}, e.truth, e.weight,
                                   room.amounts.data() + i * lanes);
  }

  // Throws if a weight or a sum of the vote could overflow.
  void check_steps() {
    double amount = 0, q = 0;
    for (std::size_t i = 0; i < bank.members.size(); ++i) {
      double its = 0;
      for (std::size_t r = 0; r < lanes; ++r) its += std::abs(room.amounts[i * lanes + r]);
      amount = std::max(amount, its);
      q = std::max(q, size_of(bank.members[i]));
    }
    if (amount > 0) bank.admit(amount, 1, q);
    if (!bank.vote.can_learn(room.losses.data()) || !std::isfinite(bank.vote.record.weight + weight))
      throw InputError("the loss times the weight of the example is too large: the sums of the vote overflow float64");
  }

  // ---- the vote ----

  void judge(const Example& e) {
    room.losses.resize(bank.voters.size());
    for (std::size_t k = 0; k < bank.voters.size(); ++k)
      room.losses[k] = e.weight * bank.kind().ballot.judge(room.ask.scores.data() + k * lanes, lanes, e.truth).loss;
  }
  Move elect(const Example& e) {
    judge(e);
    room.outcome.resize(lanes);
    const Ballot& ballot = bank.kind().ballot;
    ballot.combine(room.ask.scores.data(), bank.vote.weights.data(), bank.voters.size(), lanes, room.outcome.data());
    const Ballot::Outcome outcome = ballot.judge(room.outcome.data(), lanes, e.truth);
    Move move;
    move.loss = bank.vote.expected(room.losses.data()) / e.weight;
    move.mistake = outcome.mistake;
    move.cost = outcome.loss;
    for (const Move& its : room.moves) {
      move.length += its.length;
      move.q = std::max(move.q, its.q);
      move.weighted = move.weighted || its.weighted;
    }
    return move;
  }

  // ---- lattice ----

  double margin_of_bottom(const Example& e) const {
    return bank.kind().ballot.margin(room.own.data(), lanes, e.truth);
  }
  // Whether lanes were born. Their scores are those of the lanes from which they were born.
  bool give_birth(const Example& e) {
    const Move& top = room.moves.back();
    const double C = bank.starts[bank.members[0].input()].C, q = top.q, g = bank.kind().margin;
    if (!(C > 0 && q > std::numeric_limits<double>::min())) return false;
    const bool has_bottom = bank.members[0].place == Member::Place::bottom;
    const double wanted = top.loss / q, m = room.bottom_margin;
    const std::size_t before = bank.members.size();
    while (bank.may_bear()) {
      const double down = bank.lattice.C_below(C);
      if (wanted > bank.lattice.C_above(C) * e.weight)
        bank.bear_above();
      else if (has_bottom && (g - down * m) / q < down * e.weight)
        bank.bear_below();
      else
        break;
    }
    return bank.members.size() > before;
  }

  // ---- statistics ----

  // What the bottom of a lattice adds to its sums, in the unit of C_0 (lattice.hpp).
  struct Bottom {
    double margin, progress;
  };
  Bottom bottom_of(const Member& m, const Move& move) const {
    const double unit = bank.starts[m.input()].C, margin = unit * room.bottom_margin;
    return {margin, move.length * (2 * margin + move.length * (unit * move.q))};
  }
  void count(Member& m, std::size_t i) {
    Move& move = room.moves[i];
    if (m.place == Member::Place::top && move.length > 0) {  // of the next lane that it may bear; PA heeds no weight
      const double cap = bank.lattice.C_above(bank.starts[m.input()].C) * std::min(weight, 1.0);
      move.weighted = weight != 1 && move.loss / move.q > cap;
    }
    if (m.place != Member::Place::bottom) return m.statistics.add(move);
    Statistics& s = m.statistics;
    const auto [margin, progress] = bottom_of(m, move);
    s.rounds += 1;
    s.mistakes += margin <= 0;
    s.updates += move.length > 0;
    s.loss += margin, s.squared_loss += margin * margin;
    s.cost += move.length, s.progress += progress;
    s.largest_q = std::max(s.largest_q, move.q);
    s.weighted += move.weighted;
  }
};

}  // namespace hinge
