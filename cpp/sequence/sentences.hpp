// Sentences of tokens, each a sparse vector of features. A compact copy with sorted columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../data/instance.hpp"
#include "../data/rows.hpp"

namespace hinge {

class Sentences {
 public:
  using Column = std::int32_t;
  using Token = SparseFeatures<double, Column>;
  static constexpr std::size_t most_columns = std::numeric_limits<Column>::max();

  // Adds a feature to the current token.
  void add(std::size_t column, double value) {
    if (column >= most_columns) throw InputError("sequences can have 2147483647 features at most");
    ascending_ = ascending_ && (columns_.size() == token_starts_.back() || columns_.back() < static_cast<Column>(column));
    columns_.push_back(static_cast<Column>(column));
    values_.push_back(value);
    width_ = std::max(width_, column + 1);
  }
  void end_token() {
    if (!ascending_) put_in_order();
    ascending_ = true;
    token_starts_.push_back(columns_.size());
  }
  void end_sentence() { sentence_starts_.push_back(tokens()); }

  std::size_t count() const { return sentence_starts_.size() - 1; }
  std::size_t tokens() const { return token_starts_.size() - 1; }
  std::size_t stored() const { return columns_.size(); }
  std::size_t width() const { return width_; }  // the largest column plus one
  std::size_t start(std::size_t sentence) const { return sentence_starts_[sentence]; }
  std::size_t length(std::size_t sentence) const { return start(sentence + 1) - start(sentence); }

  // A token by its index among all tokens.
  Token token(std::size_t i) const {
    const std::size_t from = token_starts_[i];
    return {values_.data() + from, token_starts_[i + 1] - from, columns_.data() + from, most_columns};
  }

 private:
  // Adds up repeated columns, the smallest value first, independent of the input order.
  void put_in_order() {
    const std::size_t from = token_starts_.back();
    const auto columns = columns_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto values = values_.begin() + static_cast<std::ptrdiff_t>(from);
    if (std::all_of(values, values_.end(), [](double value) { return value == 1; })) {  // the usual case
      std::sort(columns, columns_.end());
      if (std::adjacent_find(columns, columns_.end()) == columns_.end()) return;
    }
    pairs_.clear();
    for (std::size_t j = from; j < columns_.size(); ++j) pairs_.emplace_back(columns_[j], values_[j]);
    std::sort(pairs_.begin(), pairs_.end());
    columns_.resize(from);
    values_.resize(from);
    for (const auto& [column, value] : pairs_) {
      if (columns_.size() > from && columns_.back() == column) {
        values_.back() += value;
      } else {
        columns_.push_back(column);
        values_.push_back(value);
      }
    }
  }

  std::vector<Column> columns_;
  std::vector<double> values_;
  std::vector<std::size_t> token_starts_{0}, sentence_starts_{0};
  std::size_t width_ = 0;
  bool ascending_ = true;
  std::vector<std::pair<Column, double>> pairs_;
};

}  // namespace hinge
