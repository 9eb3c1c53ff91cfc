// Committees: their experts, the vote, and one expert as a plain learner.
#pragma once

#include "../tensors.hpp"
#include "engine.hpp"

namespace hinge {

inline Bank& bank_of(Engine& self) {
  if (!is_committee(self.settings)) throw InputError("there is no committee");
  return bank_of(self.learner);
}

// For each voter: its word, C or r, the constant of its intercept, its weight, prior, losses, those where experts
// differed, and its statistics.
inline nb::list experts(Engine& self) {
  const SharedReading reading(self);
  const Bank& bank = bank_of(self);
  nb::list found;
  for (std::size_t k = 0; k < bank.voters.size(); ++k) {
    const Voter& voter = bank.voters[k];
    const Vote& vote = bank.vote;
    const Statistics s = statistics_of(bank, voter);
    found.append(nb::make_tuple(word_of(bank, voter), parameter_of(bank, voter),
                                bank.starts[bank.members[voter.member].input()].constant, vote.weights[k], vote.prior[k],
                                vote.lost[k], vote.lost_telling[k], statistics_tuple(s, 0, 0)));
  }
  return found;
}
// What the theorems need: Delta, H, H where experts differed, V, S, the losses of rounds in which all lost the same, D.
inline nb::tuple tuple_of(const VoteRecord& r) {
  return nb::make_tuple(r.delta, r.expected_loss, r.telling_loss, r.variance, r.range, r.loss_of_all, r.telling);
}
inline nb::tuple vote_record(Engine& self) {
  const SharedReading reading(self);
  return tuple_of(bank_of(self).vote.record);
}
// The vote alone, on losses: one row per round, one column per expert. The weights before each round and after the last
// one, the sums of the losses, of all rounds and of those that told experts apart, and the record.
inline nb::tuple vote_on(const Matrix& losses, const Doubles& prior) {
  const std::size_t rounds = losses.shape(0), experts = losses.shape(1);
  if (prior.size() != experts || experts == 0)
    throw InputError("there must be a prior for each of the " + std::to_string(experts) + " experts, and at least one");
  Vote vote;
  vote.begin(std::vector<double>(prior.data(), prior.data() + experts));
  std::vector<double> weights = vote.weights;
  weights.reserve((rounds + 1) * experts);
  for (std::size_t t = 0; t < rounds; ++t) {
    const double* const its = losses.data() + t * experts;
    vote.learn(its, vote.expected(its));
    weights.insert(weights.end(), vote.weights.begin(), vote.weights.end());
  }
  return nb::make_tuple(numpy_matrix(std::move(weights), rounds + 1, experts), numpy_array(vote.lost),
                        numpy_array(vote.lost_telling), tuple_of(vote.record));
}
// The sum of the weights of the examples from which the vote has learned.
inline double vote_weight(Engine& self) {
  const SharedReading reading(self);
  return bank_of(self).vote.record.weight;
}
// What the predictions of the vote have lost on these examples.
inline double vote_loss(Engine& self) {
  const SharedReading reading(self);
  return bank_of(self).vote.record.loss;
}
inline std::size_t leader(Engine& self) {
  const SharedReading reading(self);
  return bank_of(self).vote.leader();
}
// The engine of a plain learner with the parameters of that voter takes its weights.
inline void take_expert(Engine& self, Engine& committee, std::size_t voter) {
  const Writing writing(self);
  const SharedReading reading(committee);
  if (voter >= bank_of(committee).voters.size()) throw InputError("there is no expert " + std::to_string(voter));
  self.model.take(committee.model, voter);
}
// The vote, and the probabilities, take what those of another committee have learned about the same experts.
inline void take_vote(Engine& self, Engine& other) {
  if (&self == &other) return;
  const Writing writing(self);
  const SharedReading reading(other);
  Bank& bank = bank_of(self);
  const Bank& its = bank_of(other);
  std::vector<std::size_t> places;
  for (const Voter& voter : bank.voters) {
    const auto same = [&](const Voter& other) { return word_of(its, other) == word_of(bank, voter); };
    const auto found = std::find_if(its.voters.begin(), its.voters.end(), same);
    if (found == its.voters.end()) throw InputError("the other committee has no expert " + word_of(bank, voter));
    places.push_back(static_cast<std::size_t>(found - its.voters.begin()));
  }
  bank.vote.take(its.vote, places);
  self.learner.calibration = other.learner.calibration;
}
// What rounds change from here on.
inline void set_learning(Engine& self, bool members, bool vote) {
  const Writing writing(self);
  Bank& bank = bank_of(self);
  bank.members_learn = members;
  bank.vote_learns = vote;
}

inline void bind_committee(EngineClass& engine) {
  using namespace nb::literals;
  engine.def("experts", &experts)
      .def("vote_record", &vote_record)
      .def("vote_weight", &vote_weight)
      .def("vote_loss", &vote_loss)
      .def("leader", &leader)
      .def("take_expert", &take_expert, "committee"_a, "voter"_a)
      .def("take_vote", &take_vote, "other"_a)
      .def("set_learning", &set_learning, "members"_a, "vote"_a);
}

}  // namespace hinge
