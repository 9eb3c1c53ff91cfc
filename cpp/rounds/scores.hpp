// The scores of rows, without learning from them.
#pragma once

#include <cmath>
#include <cstddef>

#include "../data/distinct.hpp"
#include "../data/rows.hpp"
#include "../memories/memory.hpp"

namespace hinge {

// The score of one lane, as it is reported: w.x, or |x - w|. Throws if it is not finite.
inline double checked_score(const Reading& reading, Reads reads, const Instance& x, std::size_t row) {
  if (!std::isfinite(reading.plain)) {
    reject_bad_values(x, row);
    throw InputError("the score overflows float64", row);
  }
  return reading.reported(reads);
}

class RowScores {
 public:
  RowScores(const Memory& memory, Reads reads, bool averaged) : memory_(memory), reads_(reads), averaged_(averaged) {}

  // The scores of all rows, lane by lane.
  void write(const Rows& rows, double* scores) {
    RowReader reader(rows);
    Instance x = reader.blank();
    const std::size_t lanes = memory_.lanes();
    for (std::size_t i = 0; i < rows.count(); ++i, scores += lanes) {
      reader.take(i, x);
      const double score = checked_score(read(rows, i, x, scores), reads_, x, i);
      if (lanes == 1) scores[0] = score;
    }
  }

  // Reads one row. If its columns are not sorted, it is read as it is, or from a sorted copy.
  Reading read(const Rows& rows, std::size_t row, Instance& x, double* scores) {
    x.any_order = unsorted_ && are_columns_inside(x);
    Reading reading = read(x, scores);
    if (!reading.in_order && memory_.takes_any_order(reads_)) {
      unsorted_ = true;
      if ((x.any_order = are_columns_inside(x))) reading = read(x, scores);
    }
    // Repeated columns may cancel: the score may be finite although a term is not.
    if (!reading.in_order || (x.any_order && !std::isfinite(reading.plain)))
      reading = read(rows.in_order(x, row, scratch_), scores);
    return reading;
  }

 private:
  Reading read(const Instance& x, double* scores) const {
    return averaged_ ? memory_.read_average(x, reads_, scores) : memory_.read(x, reads_, scores);
  }

  const Memory& memory_;
  Reads reads_;
  bool averaged_;
  bool unsorted_ = false;  // whether a row that is not sorted has come
  Scratch scratch_;
};

}  // namespace hinge
