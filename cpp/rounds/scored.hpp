// Rounds that also report the scores of each row before it is learned (`learn -p`).
#pragma once

#include <vector>

#include "../learner.hpp"

namespace hinge {

template <class Round>
struct Scored : Round {
  Scored(Rounds& its, const Batch& batch)
      : Round(its), row_scores(its.memory, its.reads, batch.averaged), known(batch.known) {}

  // Columns from `known` on are new with this row, and are skipped. The round rejects values that are not finite.
  void meet(const Batch& batch, std::size_t i, std::size_t row, const Instance& x) {
    const Rounds& all = this->all;
    double* const to = batch.scores + i * all.lanes;
    Instance part = batch.rows->width() > known ? known_part(x) : x;
    const Reading reading = row_scores.read(*batch.rows, row, part, to);
    if (all.lanes == 1) to[0] = reading.reported(all.reads);
    Round::meet(batch, i, row, x);
    known = all.memory.dimension();
  }

 private:
  Instance known_part(const Instance& x) {
    values.clear();
    columns.clear();
    visit(x, [&](const auto& features) {
      for (std::size_t j = 0; j < features.size; ++j) {
        if (features.column(j) >= known) continue;
        values.push_back(features.value(j));
        columns.push_back(static_cast<std::int64_t>(features.column(j)));
      }
    });
    Instance part;
    part.values = values.data();
    part.columns = columns.data();
    part.limit = known;
    part.size = values.size();
    part.layout = Layout::sparse64;
    return part;
  }

  RowScores row_scores;
  std::size_t known;  // columns
  std::vector<double> values;
  std::vector<std::int64_t> columns;
};

}  // namespace hinge
