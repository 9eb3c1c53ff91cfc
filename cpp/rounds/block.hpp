// Rounds of single-prototype ranking (S9.1): one w for all labels, and a feature vector phi(x, r) for each label r. The
// vectors share their columns; each has a value in every column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../data/instance.hpp"
#include "../learner.hpp"
#include "../rules/sizes.hpp"

namespace hinge {

struct Block final : Sizes {
  const std::int64_t* columns = nullptr;
  const double* values = nullptr;  // labels x size, one row per label
  std::size_t size = 0;            // columns
  std::size_t labels = 0;

  Block() = default;
  Block(const std::int64_t* columns_, const double* values_, std::size_t size_, std::size_t labels_)
      : columns(columns_), values(values_), size(size_), labels(labels_) {}

  Instance vector(std::size_t label) const { return instance(values + label * size); }

  Instance instance(const double* its_values) const {
    Instance x;
    x.values = its_values;
    x.columns = columns;
    x.size = size;
    x.layout = Layout::sparse64;
    x.transient = true;
    return x;
  }

  // |phi_r - phi_s|^2
  double between(std::size_t r, std::size_t s) const override {
    double sum = 0;
    for (std::size_t j = 0; j < size; ++j) {
      const double difference = values[r * size + j] - values[s * size + j];
      sum += difference * difference;
    }
    return sum;
  }

  // d_j = sum_r amounts_r phi_rj
  double direction(const double* amounts, std::size_t j) const {
    double sum = 0;
    for (std::size_t r = 0; r < labels; ++r)
      if (amounts[r] != 0) sum += amounts[r] * values[r * size + j];
    return sum;
  }
  // |d|^2
  double moved(const double* amounts, std::size_t /*count*/) const override {
    double squares = 0;
    for (std::size_t j = 0; j < size; ++j) {
      const double d = direction(amounts, j);
      squares += d * d;
    }
    return squares;
  }
};

// Computes the scores of all labels. Returns the largest |phi|^2.
inline double score_block(const Memory& memory, const Block& block, bool averaged, double* scores) {
  double largest = 0;
  for (std::size_t r = 0; r < block.labels; ++r) {
    const Instance x = block.vector(r);
    const Reading reading =
        averaged ? memory.read_average(x, Reads::product, nullptr) : memory.read(x, Reads::product, nullptr);
    scores[r] = checked_score(reading, Reads::product, x, r);
    if (!std::isfinite(reading.square)) throw InputError("the squared norm of the instance overflows float64", r);
    largest = std::max(largest, reading.square);
  }
  return largest;
}

struct BlockRound {
  static constexpr bool may_track = false;

  Move decide(const Example& e) {
    std::vector<double> amounts(block.labels);
    const Scores all{scores.data(), block.labels, e.reading.square, &block};
    const Move move = rule.decide(all, e.truth, e.weight, amounts.data());
    direction.resize(block.size);
    for (std::size_t j = 0; j < block.size; ++j) {
      direction[j] = block.direction(amounts.data(), j);
      along += direction[j] * direction[j];
    }
    books.check({block.instance(direction.data()), Reading{0, 0, 0, along}, e.truth, e.weight}, move);
    return move;
  }
  bool admit(const Example& /*e*/, const Move& move) {
    if (move.moves()) memory.admit(1, 1, along);
    return move.moves();
  }
  void move(const Instance& /*x*/, const Move& /*move*/) {
    const double whole = 1;
    memory.move(&whole, 1, block.instance(direction.data()));
  }
  void tally() { memory.tally(); }
  void start_at(const Example& /*e*/) {}  // uniclass only

  const Rule& rule;
  Memory& memory;
  Books& books;
  const Block& block;
  std::vector<double> scores;     // one per label
  std::vector<double> direction{};  // d, the direction in which w moves
  double along = 0;               // |d|^2
};

inline void learn_block(Learner& learner, const Block& block, const Truth& truth, double weight) {
  BlockRound round{learner.rule(), learner.memory(), learner, block, std::vector<double>(block.labels)};
  const double square = score_block(learner.memory(), block, false, round.scores.data());
  const Instance x = block.labels == 0 ? Instance() : block.vector(0);
  present(round, {x, Reading{0, 0, 0, square}, truth, weight}, -1);
}

}  // namespace hinge
