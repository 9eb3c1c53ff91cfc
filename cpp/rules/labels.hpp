// The common part of the rules for many labels: the relevant labels Y, and the worst pair.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "rule.hpp"

namespace hinge {

// The relevant labels of a round, ascending: one label, or a set.
class Relevant {
 public:
  Relevant(const Truth& truth, std::size_t labels)
      : first_(truth.labels == nullptr ? &one_ : truth.labels), count_(truth.labels == nullptr ? 1 : truth.count) {
    if (truth.labels == nullptr) {
      if (!(truth.value >= 0 && truth.value < static_cast<double>(labels) && truth.value == std::floor(truth.value)))
        throw InputError("there is no label with the index " + std::to_string(truth.value));
      one_ = static_cast<std::int64_t>(truth.value);
    }
    if (count_ > 0 && static_cast<std::size_t>(first_[count_ - 1]) >= labels)
      throw InputError("there is no label with the index " + std::to_string(first_[count_ - 1]));
  }
  Relevant(const Relevant&) = delete;  // it may point to itself
  Relevant& operator=(const Relevant&) = delete;

  // Calls function(label, is_relevant) for all labels, ascending.
  template <class Function>
  void each(std::size_t labels, Function&& function) const {
    std::size_t next = 0;
    for (std::size_t r = 0; r < labels; ++r) {
      const bool relevant = next < count_ && static_cast<std::size_t>(first_[next]) == r;
      next += relevant;
      function(r, relevant);
    }
  }
  bool has(std::size_t label) const {
    return std::binary_search(first_, first_ + count_, static_cast<std::int64_t>(label));
  }
  std::size_t count() const { return count_; }
  std::size_t first() const { return static_cast<std::size_t>(*first_); }
  // Whether the set is neither empty nor full: otherwise there is nothing to rank.
  bool asks(std::size_t labels) const { return count_ > 0 && count_ < labels; }

 private:
  std::int64_t one_ = 0;
  const std::int64_t* first_;
  std::size_t count_;
};

// The relevant label with the lowest score and the irrelevant one with the highest; the first on ties.
struct Worst {
  std::size_t relevant = none, irrelevant = none;
  double margin(const Scores& scores) const { return scores.of[relevant] - scores.of[irrelevant]; }
};

inline Worst worst_pair(const Scores& scores, const Relevant& relevant) {
  Worst worst;
  if (relevant.count() == 1) {  // the usual case: there may be very many others
    worst.relevant = relevant.first();
    double highest = -std::numeric_limits<double>::infinity();
    const auto look = [&](std::size_t from, std::size_t to) {
      for (std::size_t r = from; r < to; ++r)
        if (scores.of[r] > highest || worst.irrelevant == none) highest = scores.of[worst.irrelevant = r];
    };
    look(0, worst.relevant);
    look(worst.relevant + 1, scores.count);
    return worst;
  }
  relevant.each(scores.count, [&](std::size_t r, bool is_relevant) {
    if (is_relevant) {
      if (worst.relevant == none || scores.of[r] < scores.of[worst.relevant]) worst.relevant = r;
    } else if (worst.irrelevant == none || scores.of[r] > scores.of[worst.irrelevant]) {
      worst.irrelevant = r;
    }
  });
  return worst;
}

// The margin of the worst pair; infinite if there is nothing to rank.
inline double worst_margin(const Scores& scores, const Truth& truth) {
  const auto only = static_cast<std::size_t>(truth.value);
  if (truth.labels == nullptr && only < scores.count) {  // the usual case: a budget calls this for every cached example
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < only; ++r) highest = scores.of[r] > highest ? scores.of[r] : highest;
    for (std::size_t r = only + 1; r < scores.count; ++r) highest = scores.of[r] > highest ? scores.of[r] : highest;
    return scores.of[only] - highest;
  }
  const Relevant relevant(truth, scores.count);
  if (!relevant.asks(scores.count)) return std::numeric_limits<double>::infinity();
  return worst_pair(scores, relevant).margin(scores);
}

// The predicted label: the first one with the highest score.
inline std::size_t top_label(const Scores& scores) {
  return static_cast<std::size_t>(std::max_element(scores.of, scores.of + scores.count) - scores.of);
}

// Moves r up and s down by tau.
inline void move_pair(Move& move, const Scores& scores, std::size_t r, std::size_t s, double tau, double size,
                      double* amounts) {
  std::fill_n(amounts, scores.count, 0.0);
  move.along(tau, size);
  amounts[r] = tau;
  amounts[s] = -tau;
}

}  // namespace hinge
