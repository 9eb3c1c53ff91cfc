// The state of a committee as named tensors, and its leader as a plain learner.
//     experts             for each column, first the constant's: the weights of each member, the sums of its average, its
//                         variance
//     expert_statistics   one row per member; expert_thresholds, expert_threshold_sums (ranks)
//     vote                one row per voter: prior, weight, G, losses, losses where experts differed
//     scales              of the columns
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "../committee/leader.hpp"
#include "state.hpp"

namespace hinge {

inline void each_field(const VoteRecord*, auto&& field) {
  using V = VoteRecord;
  field("vote_delta", &V::delta), field("vote_expected_loss", &V::expected_loss);
  field("vote_telling_loss", &V::telling_loss), field("vote_variance", &V::variance), field("vote_range", &V::range);
  field("vote_loss_of_all", &V::loss_of_all), field("vote_telling", &V::telling);
  field("vote_weight", &V::weight), field("vote_loss", &V::loss);
}

inline Bank& bank_of(Learner& learner) { return static_cast<Bank&>(learner.memory()); }

// Calls each(place of a record) for everything that a record holds, in the order of a file.
template <class Each>
void for_each_place(const Bank& bank, const Each& each) {
  for (const Member& m : bank.members) {
    for (std::size_t r = 0; r < bank.held(); ++r) each(m.weights + r);
    for (std::size_t r = 0; m.averaged && r < bank.held(); ++r) each(m.sums + r);
    if (m.is_shaped()) each(m.variance);
  }
}
inline std::size_t places(const Bank& bank) {
  std::size_t count = 0;
  for_each_place(bank, [&](std::size_t) { count += 1; });
  return count;
}

inline std::vector<double> numbers_of(const Statistics& s) {
  std::vector<double> numbers;
  each_field(&s, [&](const char*, auto member) { numbers.push_back(static_cast<double>(s.*member)); });
  return numbers;
}

inline void save_committee(const Settings& settings, Learner& learner, Tensors& to) {
  const Bank& bank = bank_of(learner);
  std::vector<double> weights, statistics, thresholds, sums, votes;
  for (std::size_t i = 0; i <= bank.dimension(); ++i)
    for_each_place(bank, [&](std::size_t place) { weights.push_back(bank.records.at(i)[place]); });
  for (const Member& m : bank.members) {
    const std::vector<double> its = numbers_of(m.statistics);
    statistics.insert(statistics.end(), its.begin(), its.end());
    thresholds.insert(thresholds.end(), m.thresholds.begin(), m.thresholds.end());
    sums.insert(sums.end(), m.threshold_sums.begin(), m.threshold_sums.end());
  }
  for (const auto* each : {&bank.vote.prior, &bank.vote.weights, &bank.vote.behind, &bank.vote.lost, &bank.vote.lost_telling})
    votes.insert(votes.end(), each->begin(), each->end());
  std::vector<double> starts;
  for (const Start& start : bank.starts) starts.insert(starts.end(), {start.constant, start.C, start.size});
  to.put("experts", std::move(weights));
  to.put("expert_statistics", std::move(statistics));
  to.put_unless_empty("expert_thresholds", std::move(thresholds));
  to.put_unless_empty("expert_threshold_sums", std::move(sums));
  to.put("vote", std::move(votes));
  to.put("starts", std::move(starts));
  if (bank.scales()) to.put_unless_empty("scales", bank.scaling.save());
  save_fields(bank.vote.record, to);
  to.put_number("lanes_above", static_cast<std::int64_t>(bank.lattice.above));
  to.put_number("lanes_below", static_cast<std::int64_t>(bank.lattice.below));
  to.put_number("tallied", bank.tallied);
  Progress::save(settings, learner, to);
}

inline void restore_starts(Bank& bank, const Tensors& from) {
  const double* starts = from.vector<double>("starts", 6);
  const auto valid = [](double value) { return value >= 0; };
  if (!std::all_of(starts, starts + 6, valid)) Tensors::impossible("starts");
  for (std::size_t input = 0; input < 2; ++input) {
    bank.starts[input] = {starts[3 * input], starts[3 * input + 1], starts[3 * input + 2]};
    bank.set_parameters(input);
  }
}
inline void restore_lattice(Bank& bank, const Tensors& from) {
  std::int64_t above = 0, below = 0;
  from.get("lanes_above", above);
  from.get("lanes_below", below);
  const auto before = static_cast<std::int64_t>(bank.lattice.above + bank.lattice.below);
  const bool grows = above >= static_cast<std::int64_t>(bank.lattice.above) && below >= static_cast<std::int64_t>(bank.lattice.below);
  if (!grows || (above + below > before && !bank.lattice.used) || above + below > static_cast<std::int64_t>(StepLattice::most))
    Tensors::impossible("lanes_above");
  while (static_cast<std::int64_t>(bank.lattice.above) < above) bank.bear_above();
  while (static_cast<std::int64_t>(bank.lattice.below) < below) bank.bear_below();
}
inline void restore_vote(Bank& bank, const Tensors& from) {
  Vote& vote = bank.vote;
  const std::size_t count = bank.voters.size();
  const double* numbers = from.vector<double>("vote", 5 * count);
  double prior = 0, weights = 0;
  for (std::size_t k = 0; k < count; ++k) {
    prior += numbers[k], weights += numbers[count + k];
    if (!(numbers[k] > 0 && numbers[count + k] >= 0 && numbers[2 * count + k] >= 0)) Tensors::impossible("vote");
  }
  if (!(std::abs(prior - 1) < 1e-6 && std::abs(weights - 1) < 1e-6)) Tensors::impossible("vote");
  for (auto* each : {&vote.prior, &vote.weights, &vote.behind, &vote.lost, &vote.lost_telling}) {
    each->assign(numbers, numbers + count);
    numbers += count;
  }
  vote.record = loaded_fields<VoteRecord>(from);
  if (!(vote.record.delta >= 0) || (vote.record.telling > 0) != (vote.record.delta > 0)) Tensors::impossible("vote_delta");
}
inline void restore_members(Bank& bank, const Tensors& from) {
  constexpr std::size_t fields = 10;
  const double* numbers = from.vector<double>("expert_statistics", fields * bank.members.size());
  const std::size_t lanes = bank.kind().ranks ? bank.lanes() : 0;
  const double* thresholds = from.vector<double>("expert_thresholds", lanes * bank.members.size());
  const double* sums = from.vector<double>("expert_threshold_sums", lanes * bank.members.size());
  for (Member& m : bank.members) {
    each_field(&m.statistics, [&]<class Number>(const char*, Number Statistics::*member) {
      const double its = *numbers++;
      if (std::is_integral_v<Number> && !(its >= 0 && its <= 0x1p53 && its == std::floor(its))) Tensors::impossible("expert_statistics");
      m.statistics.*member = static_cast<Number>(its);
    });
    for (double& each : m.thresholds) each = *thresholds++;
    for (double& each : m.threshold_sums) each = *sums++;
  }
}

inline void restore_committee(const Settings& s, Learner& learner, const Tensors& from, std::size_t names) {
  Bank& bank = bank_of(learner);
  const Progress progress(s, learner, from);
  restore_starts(bank, from);
  restore_lattice(bank, from);
  const std::size_t each = places(bank), size = from.length("experts");
  if (size % each != 0 || size == 0 || size / each - 1 < names || size / each - 1 > column_limit(s)) Tensors::misfit("experts");
  const double* weights = from.vector<double>("experts", size);
  bank.resize(size / each - 1);
  for (std::size_t i = 0; i <= bank.dimension(); ++i)
    for_each_place(bank, [&](std::size_t place) { bank.records.at(i)[place] = *weights++; });
  for (std::size_t i = 0; i <= bank.dimension(); ++i)
    for (const Member& m : bank.members)
      if (m.is_shaped() && !(bank.records.at(i)[m.variance] >= 0 && bank.records.at(i)[m.variance] <= 1))
        Tensors::impossible("experts");
  if (bank.scales()) restore_scales(bank.scaling, from, bank.dimension());
  restore_members(bank, from);
  restore_vote(bank, from);
  from.get("tallied", bank.tallied);
  bank.restore_bound();
  progress.put(learner);
}

// ---- one expert as a plain learner ----

// The state of the plain learner that a voter is. `one`: it has one lane of weights (state.hpp).
inline Tensors member_state(const Bank& bank, const Voter& voter, bool one) {
  MemberParts parts = parts_of(bank, voter);
  const Member& m = bank.members[voter.member];
  Tensors to;
  to.put("v", std::move(parts.v));
  if (voter.averaged) to.put("u", std::move(parts.u));
  const std::int64_t tallied = voter.averaged ? bank.tallied : 0;
  to.put_number("tallied", tallied);
  if (one) {
    to.put_number("alpha", static_cast<double>(tallied));
    to.put_number("bias", parts.biases[0]);
    if (voter.averaged) to.put_number("bias_sum", parts.bias_sums[0]);
  } else {
    to.put("biases", std::move(parts.biases));
    if (voter.averaged) to.put("bias_sums", std::move(parts.bias_sums));
  }
  if (m.is_shaped()) {
    double sum = 0;
    for (const double each : parts.added) sum += each;
    parts.added.insert(parts.added.begin(), std::min(sum, 1e120));
    to.put("shape", std::move(parts.added));
  }
  if (m.word.scaled) to.put_unless_empty("scales", bank.scaling.save());
  save_fields(statistics_of(bank, voter), to);
  return to;
}

}  // namespace hinge
