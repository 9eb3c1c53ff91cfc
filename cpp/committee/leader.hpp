// The words of experts, as they are shown, and the parts of a member as a plain learner has them.
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "bank.hpp"

namespace hinge {

inline std::string number_text(double value) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// The word of a voter. The ends of a lattice are "lattice:top" and "lattice:bottom".
inline std::string word_of(const Bank& bank, const Voter& voter) {
  using Kind = ExpertWord::Kind;
  const Member& m = bank.members[voter.member];
  const ExpertWord& word = m.word;
  std::string text = word.scaled ? "scaled:" : "";
  if (m.place == Member::Place::top) text += "lattice:top";
  else if (m.place == Member::Place::bottom) text += "lattice:bottom";
  else text += word.kind == Kind::pa ? "pa" : word.kind == Kind::pa1 ? "pa1" : word.kind == Kind::pa2 ? "pa2" : "arow";
  if (m.place != Member::Place::top && m.place != Member::Place::bottom && word.kind != Kind::pa)
    text += (word.relative ? ":" : "=") + number_text(word.value);
  return voter.averaged ? text + ":average" : text;
}

// C or r of a voter: infinity for PA, 0 if it is not known yet. The bottom of a lattice is read with the largest C for
// which it stands.
inline double parameter_of(const Bank& bank, const Voter& voter) {
  const Member& m = bank.members[voter.member];
  const double C = bank.starts[m.input()].C;
  if (m.place == Member::Place::bottom) return C > 0 ? bank.lattice.C_below(C) : 0;
  if (m.place == Member::Place::top || m.word.kind == ExpertWord::Kind::pa) return HUGE_VAL;
  return m.parameter;
}

inline Statistics statistics_of(const Bank& bank, const Voter& voter) {
  const Member& m = bank.members[voter.member];
  if (m.place == Member::Place::top) {
    Statistics its = m.statistics;
    its.weighted = 0;
    return its;
  }
  if (m.place != Member::Place::bottom) return m.statistics;
  return bank.statistics_of_bottom();
}

// What a plain learner with the parameters of a voter would hold: weights as columns x lanes, and so on.
struct MemberParts {
  std::vector<double> v, u, biases, bias_sums, added;  // added: to the inverse variances, first that of the constant
};
inline MemberParts parts_of(const Bank& bank, const Voter& voter) {
  const Member& m = bank.members[voter.member];
  const double factor = bank.unit_of(voter);
  const auto n = static_cast<double>(bank.tallied);
  const auto added = [](double stored) { return 1 / variance_of(stored) - 1; };
  MemberParts parts;
  for (std::size_t i = 0; i <= bank.dimension(); ++i) {
    const double* const record = bank.records.at(i);
    for (std::size_t r = 0; r < bank.held(); ++r) {
      const double w = factor * record[m.weights + r], sum = m.averaged ? factor * record[m.sums + r] : 0;
      if (i == 0 && bank.kind().ranks) continue;
      if (i == 0) {
        parts.biases.push_back(w);
        parts.bias_sums.push_back(n * w + sum);
        continue;
      }
      parts.v.push_back(w);
      if (voter.averaged) parts.u.push_back(sum);
    }
    if (m.is_shaped() && (i > 0 || bank.kind().has_constant)) parts.added.push_back(added(record[m.variance]));
  }
  if (bank.kind().ranks) parts.biases = m.thresholds, parts.bias_sums = m.threshold_sums;
  return parts;
}

}  // namespace hinge
