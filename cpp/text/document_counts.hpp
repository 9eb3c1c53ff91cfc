// In how many texts each term occurs: rare terms weigh more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../memories/arithmetic/exponential.hpp"

namespace hinge {

class DocumentCounts {
 public:
  // How many texts were counted.
  std::int64_t texts() const { return texts_; }
  // In how many of them a column occurred.
  std::int64_t of(std::size_t column) const { return column < counts_.size() ? counts_[column] : 0; }

  // The inverse document frequency as scikit-learn smooths it: as if one more text had every term, so that a term that
  // was never counted has a weight, too.
  double weight(std::size_t column) const {
    return 1 + logarithm(static_cast<double>(1 + texts_) / static_cast<double>(1 + of(column)));
  }
  // The weight of a term by how often a text has it.
  static double weight_of_repeats(std::int64_t times) {
    return times == 1 ? 1 : 1 + logarithm(static_cast<double>(times));
  }

  void count_text() { texts_ += 1; }
  // A column of this text; each of them once.
  void count_column(std::size_t column) {
    if (column >= counts_.size()) counts_.resize(column + 1 + column / 2, 0);
    journal_.push_back(column);
    counts_[column] += 1;
  }

  // `undo` returns to the last `begin`.
  void begin() {
    journal_.clear();
    texts_before_ = texts_;
  }
  void undo() noexcept {
    for (const std::size_t column : journal_) counts_[column] -= 1;
    journal_.clear();
    texts_ = texts_before_;
  }
  // As `begin`, and frees the memory of a large batch.
  void commit() {
    std::vector<std::size_t>().swap(journal_);
    texts_before_ = texts_;
  }

  void restore(std::int64_t texts, std::vector<std::int64_t> counts) {
    texts_ = texts;
    counts_ = std::move(counts);
    commit();
  }

 private:
  std::int64_t texts_ = 0, texts_before_ = 0;
  std::vector<std::int64_t> counts_;  // one per column; those beyond its end are 0
  std::vector<std::size_t> journal_;  // the columns that were counted since `begin`
};

}  // namespace hinge
