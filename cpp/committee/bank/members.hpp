// How members come to a committee, are born in a lattice, and get other labels; and where their weights are in a record.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "../bank.hpp"

namespace hinge {

inline void Bank::bear_above() {
  const std::size_t top = members.size() - 1;
  const bool numbers = members[0].place != Member::Place::bottom;
  const double fraction = numbers ? 0.5 : 1 / static_cast<double>(lattice.above + 2);
  copy_member(top, 1, 1 - fraction);
  become_between(members[top], static_cast<int>(lattice.above));
  lattice.above += 1;
}

inline void Bank::bear_below() {
  const double C = lattice.C_below(starts[members[0].input()].C);
  const Statistics its = statistics_of_bottom();
  weight_bound_ *= std::max(1.0, C);
  copy_member(0, C, 1 / static_cast<double>(lattice.below + 2));
  lattice.below += 1;
  become_between(members[1], -static_cast<int>(lattice.below));
  members[1].statistics = its;
}

inline void Bank::copy_member(std::size_t parent, double factor, double fraction) {
  std::vector<Member> next = members;
  next.insert(next.begin() + static_cast<std::ptrdiff_t>(parent) + 1, members[parent]);
  const RecordShape shape = lay_out(next);
  records.change(shape, [&](const double* from, double* to) {
    for (std::size_t i = 0; i < next.size(); ++i) {
      const Member& old = members[i <= parent ? i : i - 1];
      copy_places(from, old, to, next[i], i == parent + 1 ? factor : 1);
    }
  });
  members = std::move(next);
  for (Voter& voter : voters) voter.member += voter.member > parent;
  for (std::size_t k = 0; k < voters.size(); ++k)
    if (voters[k].member == parent) {
      voters.insert(voters.begin() + static_cast<std::ptrdiff_t>(k) + 1, Voter{parent + 1, voters[k].averaged});
      vote.split(k, k + 1, fraction);
      k += 1;
    }
}

inline void Bank::change_labels(Kind kind, MakeRule make_rule, bool splits) {
  const std::size_t known = held();
  std::vector<Member> next = members;
  const std::size_t room = kind.lanes > room_ ? std::max(kind.lanes, splits ? 0 : room_ + room_ / 2) : room_;
  const Kind kind_before = std::exchange(kind_, kind);
  const std::size_t room_before = std::exchange(room_, room);
  try {
    check_bytes(dimension(), lay_out(next).size);
    records.change(lay_out(next), [&](const double* from, double* to) {
      for (std::size_t i = 0; i < next.size(); ++i)
        splits ? split_places(from, members[i], to, next[i])
               : copy_places(from, members[i], to, next[i], 1, std::min(known, held()));
    });
  } catch (...) {
    kind_ = kind_before;
    room_ = room_before;
    throw;
  }
  members = std::move(next);
  make_rule_ = std::move(make_rule);
  make_rules();
}

inline void Bank::negate() {
  for (std::size_t i = 0; i <= dimension(); ++i)
    for (const Member& m : members) {
      double* const record = records.at(i);
      record[m.weights] = 0 - record[m.weights];
      if (m.averaged) record[m.sums] = 0 - record[m.sums];
    }
}

inline void Bank::make_rules() {
  for (Member& m : members) m.rule = make_rule_(m);
  Member pa;
  pa.word.kind = ExpertWord::Kind::pa;
  probe_ = make_rule_(pa);
}

inline void Bank::add(const ExpertWord& word) {
  if (lattice.used) throw InputError("a lattice stands alone, with its averages at most");
  std::size_t i = 0;
  while (i < members.size() && !members[i].word.same_learner(word)) i += 1;
  if (i == members.size()) add_member(word, Member::Place::list);
  members[i].averaged = members[i].averaged || word.average;
  const auto same = [&](const Voter& v) { return v.member == i && v.averaged == word.average; };
  if (std::any_of(voters.begin(), voters.end(), same)) throw InputError("an expert is named twice");
  voters.push_back({i, word.average});
}

inline void Bank::add_lattice(const ExpertWord& word) {
  if (!kind_.has_lattice) throw InputError("a lattice needs one constraint per round: classification with selection='max', or regression");
  if (!members.empty() && !(lattice.used && members[0].word.scaled == word.scaled))
    throw InputError("a lattice stands alone, with its averages at most");
  if (lattice.used) {  // the averages of the lanes that are already there
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].averaged) throw InputError("an expert is named twice");
      members[i].averaged = true;
      voters.push_back({i, true});
    }
    return;
  }
  if (word.average) throw InputError("the averages of a lattice come after it");
  lattice.used = true;
  const bool numbers = kind_.ballot.election == Election::numbers;
  if (numbers) lattice.above = 1, lattice.below = StepLattice::first_numbers - 1;
  else add_member(word, Member::Place::bottom);
  ExpertWord between = word;
  between.kind = ExpertWord::Kind::pa1;
  between.relative = true;
  for (std::size_t j = 0; numbers && j < StepLattice::first_numbers; ++j) {
    between.value = static_cast<double>(j) - static_cast<double>(lattice.below);
    add_member(between, Member::Place::between);
  }
  add_member(word, Member::Place::top);
  for (std::size_t i = 0; i < members.size(); ++i) voters.push_back({i, false});
}

inline void Bank::add_member(const ExpertWord& word, Member::Place place) {
  Member member;
  member.word = word;
  member.word.average = false;
  member.place = place;
  if (!word.relative) member.parameter = word.value;
  if (kind_.ranks) member.thresholds.resize(kind_.lanes), member.threshold_sums.resize(kind_.lanes);
  members.push_back(std::move(member));
}

inline RecordShape Bank::lay_out(std::vector<Member>& its) const {
  RecordShape shape;
  std::size_t place = 0;
  for (const bool scaled : {false, true}) {
    for (const bool shaped : {true, false})
      for (Member& m : its)
        if (m.word.scaled == scaled && m.is_shaped() == shaped) m.weights = place, place += room_;
    for (Member& m : its)
      if (m.word.scaled == scaled && m.averaged) m.sums = place, place += room_;
    place = padded<double>(place);
    (scaled ? shape.scaled : shape.plain) = scaled ? place - shape.plain : place;
  }
  for (const bool scaled : {false, true}) {
    for (Member& m : its)
      if (m.word.scaled == scaled && m.is_shaped()) m.variance = place++;
    place = padded<double>(place);
    if (!scaled) shape.plain_variances = place - shape.summed();
  }
  shape.size = place;
  return shape;
}

inline void Bank::copy_places(const double* from, const Member& old, double* to, const Member& next, double factor,
    std::size_t count) const {
  for (std::size_t r = 0; r < count; ++r) to[next.weights + r] = factor * from[old.weights + r];
  for (std::size_t r = 0; next.averaged && r < count; ++r) to[next.sums + r] = factor * from[old.sums + r];
  if (next.is_shaped()) to[next.variance] = from[old.variance];
}

inline void Bank::copy_places(const double* from, const Member& old, double* to, const Member& next, double factor) const {
  copy_places(from, old, to, next, factor, held());
}

inline void Bank::split_places(const double* from, const Member& old, double* to, const Member& next) {
  const auto split = [&](std::size_t was, std::size_t is) {
    to[is + 1] = from[was] / 2;
    to[is] = 0 - from[was] / 2;
  };
  split(old.weights, next.weights);
  if (next.averaged) split(old.sums, next.sums);
  if (next.is_shaped()) to[next.variance] = from[old.variance];
}

inline void Bank::become_between(Member& m, int j) {
  m.place = Member::Place::between;
  m.word.kind = ExpertWord::Kind::pa1;
  m.word.relative = true;
  m.word.value = j;
  m.parameter = m.word.parameter(starts[m.input()].C, starts[m.input()].size);
  m.rule = make_rule_(m);
}

}  // namespace hinge
