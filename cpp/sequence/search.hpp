// The best sequence of tags (S11). The score of a sequence is the sum of the scores of its first tag, of each tag at
// its position, and of each pair of consecutive tags.
//
// Ties: the smallest last tag wins, and the smallest previous tag at every step back.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../data/instance.hpp"
#include "../memories/arithmetic/lane_sums.hpp"

namespace hinge {

using Tag = std::uint32_t;
using Path = std::vector<Tag>;

// The scores of a sentence. Each row has `stride` numbers, of which the first `tags` are used.
struct Lattice {
  std::size_t length = 0, tags = 0, stride = 0;
  std::vector<double> nodes;        // `length` rows: the tags at a position
  std::vector<double> transitions;  // a row for the start, then one for each previous tag

  const double* node(std::size_t i) const { return nodes.data() + i * stride; }
  const double* start() const { return transitions.data(); }
  const double* after(std::size_t tag) const { return transitions.data() + (1 + tag) * stride; }

  double score(const Tag* path) const {
    double sum = start()[path[0]] + node(0)[path[0]];
    for (std::size_t i = 1; i < length; ++i) sum += after(path[i - 1])[path[i]] + node(i)[path[i]];
    return sum;
  }
};

// The cost of predicting another tag than the true one: 1, or an entry of a matrix, row by row.
struct TagCosts {
  std::vector<double> matrix;
  std::size_t tags = 0;  // of the matrix

  double operator()(Tag truth, Tag predicted) const {
    if (matrix.empty()) return truth == predicted ? 0 : 1;
    return matrix[truth * tags + predicted];
  }
  double total(const Tag* truth, const Tag* path, std::size_t length) const {
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i) sum += (*this)(truth[i], path[i]);
    return sum;
  }
};

// Where scores > highest: highest = scores, from = number.
HINGE_INLINE void take_higher(const Quad& scores, const Quad& number, Quad& highest, Quad& from) {
#if defined(__GNUC__) || defined(__clang__)
  const auto higher = scores > highest;
  highest = higher ? scores : highest;
  from = higher ? number : from;
#else
  for (std::size_t i = 0; i < 4; ++i)
    if (scores[i] > highest[i]) highest.of[i] = scores[i], from.of[i] = number[i];
#endif
}

// best[b] = max over a of before[a] + transition[a][b], and from[b] is the smallest maximising a. It is stored as a
// double, so that both use registers of the same shape. `Groups` groups of b at a time stay in registers.
template <std::size_t Groups>
HINGE_INLINE void step_groups(const Lattice& lattice, const double* before, std::size_t b, double* best, double* from) {
  const std::size_t stride = lattice.stride;
  const double* row = lattice.after(0) + b;
  Quad highest[Groups] = {}, its_from[Groups] = {}, scores = {}, its = {}, number = {};
  repeat(before[0], its);
  for (std::size_t g = 0; g < Groups; ++g) {
    load_lanes(row + 4 * g, scores);
    highest[g] = its + scores;
  }
  for (std::size_t a = 1; a < lattice.tags; ++a) {
    row += stride;
    repeat(before[a], its);
    repeat(static_cast<double>(a), number);
    for (std::size_t g = 0; g < Groups; ++g) {
      load_lanes(row + 4 * g, scores);
      scores = its + scores;
      take_higher(scores, number, highest[g], its_from[g]);
    }
  }
  std::memcpy(best + b, highest, sizeof highest);
  std::memcpy(from + b, its_from, sizeof its_from);
}
HINGE_INLINE void step_all(const Lattice& lattice, const double* before, double* best, double* from) {
  std::size_t b = 0;
  for (; b + 16 <= lattice.stride; b += 16) step_groups<4>(lattice, before, b, best, from);
  for (; b + 8 <= lattice.stride; b += 8) step_groups<2>(lattice, before, b, best, from);
  for (; b + 4 <= lattice.stride; b += 4) step_groups<1>(lattice, before, b, best, from);
}
#if defined(__x86_64__) && defined(__GNUC__)
HINGE_AVX2 inline void step_all_avx2(const Lattice& lattice, const double* before, double* best, double* from) {
  step_all(lattice, before, best, from);
}
#endif
inline void step(const Lattice& lattice, const double* before, double* best, double* from) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (has_avx2) return step_all_avx2(lattice, before, best, from);
#endif
  step_all(lattice, before, best, from);
}

class Search {
 public:
  // Viterbi, O(length tags^2). Returns the score.
  double best_path(const Lattice& lattice, Path& path) {
    const std::size_t stride = lattice.stride, length = lattice.length, tags = lattice.tags;
    back_.resize(length * stride);
    before_.resize(stride), best_.resize(stride), from_.resize(stride);
    for (std::size_t b = 0; b < stride; ++b) before_[b] = lattice.start()[b] + lattice.node(0)[b];
    for (std::size_t i = 1; i < length; ++i) {
      step(lattice, before_.data(), best_.data(), from_.data());
      const double* node = lattice.node(i);
      Tag* back = back_.data() + i * stride;
      for (std::size_t b = 0; b < stride; ++b) {
        before_[b] = best_[b] + node[b];
        back[b] = static_cast<Tag>(from_[b]);
      }
    }
    path.resize(length);
    auto tag = static_cast<Tag>(std::max_element(before_.data(), before_.data() + tags) - before_.data());
    const double score = before_[tag];
    for (std::size_t i = length; i-- > 0; tag = back_[i * stride + tag]) path[i] = tag;
    return score;
  }

  // The same with `price` times its cost added to the score of each tag. Returns the score including the costs.
  double best_path_with_costs(Lattice& lattice, const Tag* truth, const TagCosts& costs, double price, Path& path) {
    without_ = lattice.nodes;
    for (std::size_t i = 0; i < lattice.length; ++i)
      for (std::size_t b = 0; b < lattice.tags; ++b)
        lattice.nodes[i * lattice.stride + b] += price * costs(truth[i], static_cast<Tag>(b));
    const double score = best_path(lattice, path);
    lattice.nodes.swap(without_);
    return score;
  }

  // The path with the largest score + margin sqrt(cost), which may be the truth. The margin is not a sum over
  // positions, so the cost accumulated so far is part of the state (E26). Costs are integers. O(length tags^2 costs).
  // Ties: the smallest cost wins.
  void worst_path(Lattice& lattice, const Tag* truth, const TagCosts& costs, double margin, Path& path) {
    const std::size_t stride = lattice.stride, length = lattice.length, tags = lattice.tags;
    const std::size_t limit = largest_cost(lattice, truth, costs, margin, path);
    count_costs(lattice, truth, costs, limit);
    layer_.assign((reach_[length - 1] + 1) * stride, lowest);
    next_ = layer_;
    best_.resize(stride), from_.resize(stride);
    for (std::size_t b = 0; b < tags; ++b)
      if (const std::size_t cost = cost_of(costs, truth[0], b); cost <= limit)
        layer_[cost * stride + b] = lattice.start()[b] + lattice.node(0)[b];
    for (std::size_t i = 1; i < length; ++i) {
      std::fill_n(next_.begin(), (reach_[i] + 1) * stride, lowest);
      for (std::size_t c = 0; c <= reach_[i - 1]; ++c) {
        step(lattice, layer_.data() + c * stride, best_.data(), from_.data());
        for (std::size_t b = 0; b < tags; ++b) {
          const std::size_t cost = c + cost_of(costs, truth[i], b), state = cost * stride + b;
          if (cost > limit) continue;
          next_[state] = best_[b] + lattice.node(i)[b];
          back_[layer_starts_[i] + state] = static_cast<Tag>(from_[b]);
        }
      }
      layer_.swap(next_);
    }
    std::size_t cost = 0;
    Tag tag = 0;
    double highest = lowest;
    for (std::size_t c = 0; c <= reach_[length - 1]; ++c)
      for (std::size_t b = 0; b < tags; ++b) {
        const double value = layer_[c * stride + b] + margin * std::sqrt(static_cast<double>(c));
        if (value > highest) highest = value, cost = c, tag = static_cast<Tag>(b);
      }
    if (!std::isfinite(highest)) throw InputError("the score overflows float64");
    path.resize(length);
    for (std::size_t i = length; i-- > 0;) {
      path[i] = tag;
      const Tag before = i == 0 ? 0 : back_[layer_starts_[i] + cost * stride + tag];
      cost -= cost_of(costs, truth[i], tag);
      tag = before;
    }
    if (back_.size() > largest_kept) back_ = {}, layer_ = {}, next_ = {};
  }

 private:
  static constexpr double lowest = -std::numeric_limits<double>::infinity();
  static constexpr std::size_t largest_kept = std::size_t{1} << 22;  // states: larger buffers are released
  static constexpr std::size_t largest_search = std::size_t{1} << 28;  // states of four bytes

  static std::size_t cost_of(const TagCosts& costs, Tag truth, std::size_t tag) {
    return static_cast<std::size_t>(costs(truth, static_cast<Tag>(tag)));
  }

  // The largest cost that the worst path can have. For any price, the best score with costs is at least score + price
  // cost of every path. That bounds the scores of all paths with a given cost from above, and every path that is found
  // bounds the largest value from below.
  std::size_t largest_cost(Lattice& lattice, const Tag* truth, const TagCosts& costs, double margin, Path& path) {
    double every = 0, found = 0, largest = lattice.score(truth), size = std::abs(largest);
    for (std::size_t i = 0; i < lattice.length; ++i) {
      std::size_t most = 0;
      for (std::size_t b = 0; b < lattice.tags; ++b) most = std::max(most, cost_of(costs, truth[i], b));
      every += static_cast<double>(most);
    }
    constexpr double prices[] = {2, 1, 0.5};  // in margins
    double scores[3];
    for (std::size_t i = 0; i < 3; ++i) {
      scores[i] = best_path_with_costs(lattice, truth, costs, margin * prices[i], path);
      const double cost = costs.total(truth, path.data(), lattice.length), score = lattice.score(path.data());
      if (score + margin * std::sqrt(cost) > largest) largest = score + margin * std::sqrt(cost), found = cost;
      size = std::max({size, std::abs(score), margin * cost});
    }
    const double slack = 1e-9 * size;  // for rounding
    const auto may_be_worst = [&](double cost) {
      double bound = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < 3; ++i) bound = std::min(bound, scores[i] - margin * prices[i] * cost);
      return !(bound + margin * std::sqrt(cost) < largest - slack);
    };
    // The bound is a concave function of the cost: beyond the cost of the path found, it only decreases.
    while (found < every) {
      const double middle = std::ceil((found + every) / 2);
      may_be_worst(middle) ? found = middle : every = middle - 1;
    }
    return static_cast<std::size_t>(found);
  }

  // The largest cost accumulated up to each position, and from it the offset of the position's states.
  void count_costs(const Lattice& lattice, const Tag* truth, const TagCosts& costs, std::size_t limit) {
    reach_.resize(lattice.length);
    layer_starts_.resize(lattice.length);
    std::size_t reach = 0, states = 0;
    for (std::size_t i = 0; i < lattice.length; ++i) {
      std::size_t largest = 0;
      for (std::size_t b = 0; b < lattice.tags; ++b) largest = std::max(largest, cost_of(costs, truth[i], b));
      reach_[i] = reach = std::min(reach + largest, limit);
      layer_starts_[i] = states;
      states += (reach + 1) * lattice.stride;
      if (reach > largest_search || states > largest_search)
        throw InputError("a sentence of " + std::to_string(lattice.length) +
                      " tokens is too long for selection='max' with these costs; use 'max-additive' or 'prediction'");
    }
    back_.resize(states);
  }

  std::vector<Tag> back_;
  std::vector<double> before_, best_, from_, layer_, next_, without_;
  std::vector<std::size_t> reach_, layer_starts_;
};

}  // namespace hinge
