// The memory of a committee: many experts with one vote. To the outside it has the lanes of one learner: its scores are
// the outcome of the vote (ballot.hpp), its weights those of the leading expert. rounds/committee.hpp has the round.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "../memories/arithmetic/sums.hpp"
#include "../memories/memory.hpp"
#include "../memories/scaling.hpp"
#include "ballot.hpp"
#include "lattice.hpp"
#include "member.hpp"
#include "quads.hpp"
#include "records.hpp"
#include "start.hpp"
#include "vote.hpp"

namespace hinge {

class Bank final : public Memory {
 public:
  // The rule of a member whose parameter is known. A member without one gets the rule of PA, to see the first loss.
  using MakeRule = std::function<std::shared_ptr<const Rule>(const Member&)>;
  struct Kind {
    Ballot ballot;
    std::size_t lanes = 1;
    bool ranks = false;        // the lanes of a member share its weights, and differ in their thresholds
    bool has_constant = true;  // whether a constant stands beside the features
    double constant = 0;       // its value; 0: from the first instance (start.hpp)
    double margin = 1;         // the margin that the experts keep
    bool sorted = false;       // ranks: whether thresholds are sorted after each move
    bool has_lattice = false;  // whether a lattice is exact: one constraint per round (lattice.hpp)
  };

  Bank(Kind kind, const std::vector<ExpertWord>& words, MakeRule make_rule)
      : Memory(largest, 1, false), kind_(kind), make_rule_(std::move(make_rule)) {
    for (const ExpertWord& word : words) word.kind == ExpertWord::Kind::lattice ? add_lattice(word) : add(word);
    scales_ = std::any_of(members.begin(), members.end(), [](const Member& m) { return m.word.scaled; });
    for (Start& start : starts) start.constant = kind.has_constant ? kind.constant : 0;
    vote.begin(voters.size());
    room_ = held();
    records.shape = lay_out(members);
    records.resize(0);
    make_rules();
  }

  // ---- as one learner ----

  std::size_t dimension() const override { return records.columns(); }
  std::size_t lanes() const override { return kind_.lanes; }
  std::size_t bytes() const override { return records.bytes() + scaling.bytes(); }
  void check_room(std::size_t dimension) const override {
    check_bytes(dimension, records.shape.size + (scales_ ? 2 : 0));
  }
  void resize(std::size_t dimension) override {
    if (dimension > this->dimension()) check_room(dimension);
    if (scales_) scaling.resize(dimension);  // may throw: the records come last
    records.resize(dimension);
  }
  bool takes_any_order(Reads /*reads*/) const override { return true; }

  Reading read(const Instance& x, Reads /*reads*/, double* scores) const override {
    thread_local Ask ask;  // several threads may read
    thread_local Scaling::Values values;
    const Sums s = squares(x);
    if (!s.in_order()) return Reading{0, 0, 0, 0, false};
    const Instance scaled = scales_ ? scaling.scaled(x, values) : x;
    const double finite = score_voters({x, scales_ ? values_of(scaled) : nullptr}, ask);
    if (lanes() == 1) scores = &ask.outcome;
    kind_.ballot.combine(ask.scores.data(), vote.weights.data(), voters.size(), lanes(), scores);
    const double score = lanes() == 1 ? ask.outcome + (finite - finite) : finite;
    return Reading{score, score, s.square, s.square, true};
  }
  Reading read_average(const Instance& x, Reads reads, double* scores) const override { return read(x, reads, scores); }

  // Members move in their own round; nothing else moves them.
  void move(const double* /*amounts*/, double /*decay*/, const Instance& /*x*/) override {}
  void move_along(const double* /*amounts*/, const Instance& /*direction*/, double /*bias_value*/) override {}
  void tally() override {}
  void start_at(const double* /*w*/, std::size_t /*size*/, const double* /*biases*/) override {
    throw InputError("a committee cannot start at given weights (w1)");
  }

  void begin(std::size_t stored) override {
    before_ = {members, voters, vote, {starts[0], starts[1]}, lattice, tallied, room_, weight_bound_, records.shape};
    if (stored >= dimension()) records.expect_use();
    records.begin();
    scaling.begin();
  }
  void commit() override {
    records.commit();
    scaling.commit();
    before_ = {};
  }
  void rollback() override {
    scaling.rollback();
    records.rollback(before_.shape);
    members = std::move(before_.members);
    voters = std::move(before_.voters);
    vote = std::move(before_.vote);
    std::copy_n(before_.starts, 2, starts);
    lattice = before_.lattice;
    tallied = before_.tallied;
    room_ = before_.room;
    weight_bound_ = before_.weight_bound;
    before_ = {};
  }

  // Of the leading expert, in terms of the values as they come.
  double weight(std::size_t column, std::size_t lane, bool /*averaged*/) const override {
    const Voter& leader = voters[vote.leader()];
    const double w = unit_of(leader) * weight_of(records.at(column + 1), leader, kind_.ranks ? 0 : lane);
    return members[leader.member].word.scaled ? w / scaling.scale(column) : w;
  }
  // The intercept, or a threshold. (The constant of this memory is 1: each input has its own.)
  double bias(std::size_t lane, bool /*averaged*/) const override {
    const Voter& leader = voters[vote.leader()];
    if (kind_.ranks) return threshold_of(leader, lane);
    return unit_of(leader) * weight_of(records.at(0), leader, lane) * starts[members[leader.member].input()].constant;
  }
  bool touched(std::size_t column) const override {
    const double* record = records.at(column + 1);
    return std::any_of(record, record + records.shape.size, [](double place) { return place != 0; }) ||
           (scales_ && scaling.has_values(column));
  }
  bool lane_moved(std::size_t lane) const override {
    for (std::size_t i = 0; i <= dimension(); ++i)
      for (const Member& m : members)
        if (records.at(i)[m.weights + lane] != 0 || (m.averaged && records.at(i)[m.sums + lane] != 0)) return true;
    return false;
  }
  double largest_weight() const override {
    double largest = 0;
    for (std::size_t i = 0; i <= dimension(); ++i)
      for (const Member& m : members)
        for (std::size_t r = 0; r < held(); ++r) largest = std::max(largest, std::abs(records.at(i)[m.weights + r]));
    for (const Member& m : members)
      for (const double threshold : m.thresholds) largest = std::max(largest, std::abs(threshold));
    return largest;
  }

  // ---- reading the experts ----

  // Room for one instance: the sums over its features, and the scores of all voters, one after the other.
  struct Ask {
    std::vector<double> sums, scores;
    double outcome = 0;
  };
  // The scores of all voters. Returns their sum, which is not finite if one is not.
  double score_voters(const Inputs& x, Ask& ask, double* sizes = nullptr) const {
    ask.sums.resize(summed());
    ask.scores.resize(voters.size() * lanes());
    records.sum(x, ask.sums.data(), sizes);
    double all = 0;
    double* to = ask.scores.data();
    for (const Voter& voter : voters) {
      const double unit = unit_of(voter);
      for (std::size_t r = 0; r < lanes(); ++r) all += *to++ = unit * score_of(voter, r, ask.sums.data());
    }
    return all;
  }
  // The score of one lane, given the sums over the features.
  double score_of(const Voter& voter, std::size_t lane, const double* sums) const {
    const Member& m = members[voter.member];
    const std::size_t place = kind_.ranks ? 0 : lane;
    const double* const constants = records.at(0);
    const double b = starts[m.input()].constant;
    const double score = sums[m.weights + place] + constants[m.weights + place] * b;
    if (!voter.averaged || tallied == 0) return kind_.ranks ? score - m.thresholds[lane] : score;
    const double n = static_cast<double>(tallied);
    const double added = sums[m.sums + place] + constants[m.sums + place] * b;
    return (n * score + added) / n - (kind_.ranks ? threshold_of(voter, lane) : 0);
  }
  // |x|^2, with the check of the columns.
  static Sums squares(const Instance& x) {
    return visit(x, [](const auto& features) { return sums(Nothing{}, features); });
  }
  static const double* values_of(const Instance& scaled) { return static_cast<const double*>(scaled.values); }

  // Room for a round, so that it does not allocate.
  struct Work {
    Ask ask;
    std::vector<double> own, amounts, losses, outcome, zeros;  // own: the scores of each member
    std::vector<Move> moves;                                   // of each member
    std::vector<std::size_t> narrowing;                        // members whose variances narrow
    double bottom_margin = 0;
    struct Lane {
      double amount;
      std::size_t place, sums, variance;  // `none`: it has none
      bool scaled;
    };
    std::vector<Lane> lanes;
    QuadRound quads;
  };
  Work work;

  // What the constant features add to x'Sx. The sum over the features follows (`score_voters`).
  void begin_sizes(Work& its) const {
    make_room(its);
    for (const QuadRound::Group& group : its.quads.shaped) {
      const double constant = starts[group.scaled ? 1 : 0].constant;
      for (std::size_t i = 0; i < 4; ++i)
        its.quads.sizes[group.at + i] = constant * constant * variance_of(records.at(0)[group.variances + i]);
    }
  }
  // The squared size of an instance for a member, given |x|^2 of its values.
  double size_of(const Member& m, double square, const Work& its) const {
    return m.is_shaped() ? its.quads.sizes[m.variance - summed()] : square + constant2(m);
  }
  double constant2(const Member& m) const { return starts[m.input()].constant * starts[m.input()].constant; }

  // ---- one round ----

  // Whether a member can move: its C or r is known.
  bool is_ready(const Member& m) const { return !m.word.is_relative() || starts[m.input()].C > 0; }
  // After `starts` has changed.
  void set_parameters(std::size_t input) {
    for (Member& m : members) {
      if (m.input() != input || !m.word.is_relative() || m.place == Member::Place::top) continue;
      m.parameter = starts[input].C > 0 ? m.word.parameter(starts[input].C, starts[input].size) : 0;
      m.rule = make_rule_(m);
    }
  }
  // The rule of PA, which has no parameter.
  const Rule& probe() const { return *probe_; }

  // Adds the current weights to the averages.
  void tally_averages() {
    tallied += 1;
    for (Member& m : members)
      for (std::size_t r = 0; m.averaged && r < m.thresholds.size(); ++r) m.threshold_sums[r] += m.thresholds[r];
  }

  // Room for all that the next round needs: then moves do not allocate.
  void make_room(Work& its) const {
    its.lanes.reserve(members.size() * lanes());
    QuadRound& quads = its.quads;
    const std::size_t variances = records.shape.size - summed();
    quads.sizes.resize(variances), quads.r.resize(variances), quads.narrows.resize(variances);
    quads.amounts.resize(summed());
    quads.moving.reserve(summed() / 4), quads.averages.reserve(members.size());
    quads.shaped.clear(), quads.shaped.reserve(variances / 4), quads.narrowing.reserve(variances / 4);
    for (const Member& m : members)
      if (m.is_shaped() && (m.variance - summed()) % 4 == 0)
        quads.shaped.push_back({m.weights, m.variance, m.variance - summed(), m.word.scaled});
  }
  // Moves all members by the amounts of `work`, and narrows the variances of those that moved.
  void move_members(const Inputs& x, Work& its, double weight) {
    list_lanes(its);
    if (its.lanes.empty()) return;
    list_narrowing(its, weight);
    QuadRound& quads = its.quads;
    quads.alpha = static_cast<double>(tallied);
    const auto apply = [&](const auto& move) HINGE_INLINE_LAMBDA {
      move(records.at(0), starts[0].constant, starts[1].constant);
      records.for_each(x, move);
    };
    if (is_single()) {
      list_quads(its);
      apply([&](double* record, double value, double scaled) HINGE_INLINE_LAMBDA {
        quads.move(record, value, scaled);
        quads.narrow(record, value, scaled);
      });
    } else {
      apply([&](double* record, double value, double scaled) HINGE_INLINE_LAMBDA {
        for (const Work::Lane& lane : its.lanes) move_lane(record, lane, quads.alpha, lane.scaled ? scaled : value);
        quads.narrow(record, value, scaled);
      });
    }
  }

  // ---- births and labels ----

  // Whether another lane may be born.
  bool may_bear() const {
    const std::size_t more = padded<double>(members[0].averaged ? 2 * room_ : room_) + 4;
    return !lattice.full() && static_cast<double>((dimension() + 1) * (records.shape.size + more)) * sizeof(double) <= most_bytes_;
  }
  // A lane between, from the top of the lattice: the copy becomes the top.
  void bear_above();
  // A lane between, from the bottom, with C times its weights.
  void bear_below();

  // Of the bottom of the lattice, read with the largest C for which it stands.
  Statistics statistics_of_bottom() const {
    const double first = starts[members[0].input()].C, C = lattice.C_below(first);
    return bottom_statistics(members[0].statistics, kind_.margin, C, first > 0 ? C / first : 0);
  }

  // A copy of a member, directly after it: its weights times `factor`.
  void copy_member(std::size_t parent, double factor, double fraction);
  // Other labels. `splits`: two classes with one w become two lanes, with half of w each.
  void change_labels(Kind kind, MakeRule make_rule, bool splits);
  // The two classes change places.
  void negate();
  // The rules of all members, once their parameters are known.
  void make_rules();

  const Kind& kind() const { return kind_; }
  bool scales() const { return scales_; }
  // The weights of a member per column.
  std::size_t held() const { return kind_.ranks ? 1 : kind_.lanes; }
  // Weights of a record: those of a voter (its average if it votes with that).
  double weight_of(const double* record, const Voter& voter, std::size_t lane) const {
    const Member& m = members[voter.member];
    const double w = record[m.weights + lane];
    if (!voter.averaged || tallied == 0) return w;
    const double n = static_cast<double>(tallied);
    return (n * w + record[m.sums + lane]) / n;
  }
  // By what its weights are multiplied to be those of a plain learner: the bottom of a lattice holds w/C.
  double unit_of(const Voter& voter) const {
    const Member& m = members[voter.member];
    return m.place == Member::Place::bottom ? lattice.C_below(starts[m.input()].C) : 1;
  }
  double threshold_of(const Voter& voter, std::size_t lane) const {
    const Member& m = members[voter.member];
    if (!voter.averaged || tallied == 0) return m.thresholds[lane];
    return m.threshold_sums[lane] / static_cast<double>(tallied);
  }

  std::vector<Member> members;
  std::vector<Voter> voters;
  Vote vote;
  ExpertRecords records;
  Scaling scaling;
  Start starts[2];  // of values as they come, and of scaled ones
  StepLattice lattice;
  std::int64_t tallied = 0;  // the rounds that the averages include
  // What rounds change: `fit` judges the experts on rows that they have not learned.
  bool members_learn = true, vote_learns = true;
  // Throws if the next moves could make a weight overflow.
  using Memory::admit;
  void restore_bound() { weight_bound_ = largest_weight(); }

 private:
  static constexpr double largest = std::numeric_limits<double>::max() / 8;

  void add(const ExpertWord& word);
  void add_lattice(const ExpertWord& word);
  void add_member(const ExpertWord& word, Member::Place place);

  // The places of a record. In each part the members with a variance come first, in the order of their variances: where
  // a member has one weight per column, both are in the same places of a group of four.
  RecordShape lay_out(std::vector<Member>& its) const;
  void copy_places(const double* from, const Member& old, double* to, const Member& next, double factor,
                   std::size_t count) const;
  void copy_places(const double* from, const Member& old, double* to, const Member& next, double factor) const;
  static void split_places(const double* from, const Member& old, double* to, const Member& next);
  double bytes_each() const override { return sizeof(double); }

  void become_between(Member& m, int j);
  // The places that are summed; the variances follow.
  std::size_t summed() const { return records.shape.summed(); }
  // Whether a member has one weight per column.
  bool is_single() const { return room_ == 1; }

  HINGE_INLINE static void move_lane(double* record, const Work::Lane& lane, double alpha, double value) {
    const double variance_now = lane.variance == none ? 1 : variance_of(record[lane.variance]);
    const double before = record[lane.place];
    record[lane.place] = before + lane.amount * variance_now * value;
    if (lane.sums != none) record[lane.sums] -= alpha * (record[lane.place] - before);
  }
  void list_narrowing(Work& its, double weight) {
    QuadRound& quads = its.quads;
    std::fill(quads.narrows.begin(), quads.narrows.end(), 0.0);
    std::fill(quads.r.begin(), quads.r.end(), 1.0);
    for (const std::size_t i : its.narrowing) {
      const std::size_t at = members[i].variance - summed();
      quads.narrows[at] = 1;
      quads.r[at] = members[i].parameter / weight;
    }
    quads.narrowing.clear();
    for (const QuadRound::Group& group : quads.shaped)
      if (std::any_of(&quads.narrows[group.at], &quads.narrows[group.at] + 4, [](double n) { return n > 0; }))
        quads.narrowing.push_back(group);
  }
  // The lanes that move, in groups of four.
  void list_quads(Work& its) {
    QuadRound& quads = its.quads;
    std::fill(quads.amounts.begin(), quads.amounts.end(), 0.0);
    quads.averages.clear(), quads.moving.clear();
    for (const Work::Lane& lane : its.lanes) {
      quads.amounts[lane.place] = lane.amount;
      if (lane.sums != none) quads.averages.push_back({lane.place, lane.sums});
    }
    for (std::size_t place = 0; place < summed(); place += 4) {
      if (std::all_of(&quads.amounts[place], &quads.amounts[place] + 4, [](double a) { return a == 0; })) continue;
      QuadRound::Group group{place, none, 0, place >= records.shape.plain};
      for (const QuadRound::Group& each : quads.shaped)
        if (each.place == place) group.variances = each.variances;
      quads.moving.push_back(group);
    }
  }
  void list_lanes(Work& its) {
    const std::size_t count = lanes();
    its.lanes.clear();
    for (std::size_t i = 0; i < members.size(); ++i) {
      Member& m = members[i];
      if (!its.moves[i].moves()) continue;
      const std::size_t variance = m.is_shaped() ? m.variance : none;
      const double* const amounts = its.amounts.data() + i * count;
      double total = 0;
      for (std::size_t r = 0; r < count; ++r) total += amounts[r];
      if (kind_.ranks) {
        for (std::size_t r = 0; r < count; ++r) m.thresholds[r] -= amounts[r];
        if (kind_.sorted) std::sort(m.thresholds.begin(), m.thresholds.end());
        its.lanes.push_back({total, m.weights, m.averaged ? m.sums : none, variance, m.word.scaled});
        continue;
      }
      for (std::size_t r = 0; r < count; ++r)
        if (amounts[r] != 0)
          its.lanes.push_back({amounts[r], m.weights + r, m.averaged ? m.sums + r : none, variance, m.word.scaled});
    }
  }

  Kind kind_;
  MakeRule make_rule_;
  std::shared_ptr<const Rule> probe_;
  bool scales_ = false;
  std::size_t room_ = 1;  // the lanes that a record has room for

  struct Before {
    std::vector<Member> members;
    std::vector<Voter> voters;
    Vote vote;
    Start starts[2];
    StepLattice lattice;
    std::int64_t tallied = 0;
    std::size_t room = 1;
    double weight_bound = 0;
    RecordShape shape;
  };
  Before before_;
};

}  // namespace hinge

#include "bank/members.hpp"
