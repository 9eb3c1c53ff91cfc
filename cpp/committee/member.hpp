// A member of a committee: one learner, whose weights are in the records of all.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "../data/instance.hpp"
#include "../rounds/books.hpp"
#include "../rules/rule.hpp"
#include "experts.hpp"

namespace hinge {

struct Member {
  // Lanes of the lattice: the top stands for all larger C, the bottom for all smaller ones (lattice.hpp).
  enum class Place { list, bottom, between, top };

  ExpertWord word;
  Place place = Place::list;
  bool averaged = false;    // whether the sums of its average are kept
  double parameter = 0;     // C, or r of AROW; 0: not known before the first round with a loss
  std::shared_ptr<const Rule> rule;
  Statistics statistics;    // of the bottom of a lattice: see lattice.hpp
  std::vector<double> thresholds, threshold_sums;  // ranks only

  // Its places in a record: the first of its weights, of the sums of their average, and that of its variance.
  std::size_t weights = 0, sums = 0, variance = 0;

  bool is_shaped() const { return word.kind == ExpertWord::Kind::arow; }
  std::size_t input() const { return word.scaled ? 1 : 0; }
};

// Who votes: a member, with its weights or with their average.
struct Voter {
  std::size_t member;
  bool averaged;
};

// What the members of one input take from the first instances: the constant beside the features, and the measures of C
// and r. 0: not known yet.
struct Start {
  double constant = 0;
  double C = 0;     // l/q of the first violated constraint, rounded to a power of 2
  double size = 0;  // q, rounded likewise
};

}  // namespace hinge
