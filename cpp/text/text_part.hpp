// Consecutive rows of a text. Parts share the text, so a part costs nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../data/rows.hpp"
#include "text_rows.hpp"

namespace hinge {

class TextPart {
 public:
  // All rows of a text. `width`: the number of columns so far.
  TextPart(std::shared_ptr<const TextRows> text, std::size_t width)
      : text_(std::move(text)), count_(text_->count()), width_(width) {}

  std::size_t count() const { return count_; }
  std::size_t width() const { return width_; }
  const ColumnNames& new_names() const { return text_->new_names; }

  TextPart part(std::size_t start, std::size_t stop) const {
    if (start > stop || stop > count_) throw InputError("there are no such rows");
    TextPart some = *this;
    some.first_ += start;
    some.count_ = stop - start;
    return some;
  }

  // As a CSR matrix.
  Rows rows() const {
    return Rows::sparse(text_->values.data(), Precision::double_, text_->columns.data(), false, starts(), true, count_,
                        width_, text_->values.size());
  }
  const double* values() const { return text_->values.data() + starts()[0]; }
  const std::int32_t* columns() const { return text_->columns.data() + starts()[0]; }
  std::size_t size() const { return static_cast<std::size_t>(starts()[count_] - starts()[0]); }
  const std::int64_t* starts() const { return text_->starts.data() + first_; }
  const std::int64_t* lines() const { return text_->lines.data() + first_; }
  // The labels of all rows; those of row i begin at label_starts()[i] - label_starts()[0].
  const double* labels() const { return text_->labels.data() + label_starts()[0]; }
  const std::int64_t* label_starts() const { return text_->label_starts.data() + first_; }
  std::size_t label_count() const { return static_cast<std::size_t>(label_starts()[count_] - label_starts()[0]); }
  std::size_t label_count(std::size_t row) const {
    return static_cast<std::size_t>(label_starts()[row + 1] - label_starts()[row]);
  }
  bool has_one_label_each() const {
    for (std::size_t i = 0; i < count_; ++i)
      if (label_count(i) != 1) return false;
    return true;
  }
  // One per row; nullptr: all are 1.
  const double* weights() const { return text_->weights.size() == 0 ? nullptr : text_->weights.data() + first_; }
  // The squared values of features without a column, one sum per row; nullptr: all have one.
  const double* unseen() const { return text_->unseen.size() == 0 ? nullptr : text_->unseen.data() + first_; }

  // Appends row i to another text, without the columns from `width` on.
  void copy_row(std::size_t i, TextRows& to, std::size_t width) const {
    const std::int64_t from = starts()[i] - starts()[0], end = starts()[i + 1] - starts()[0];
    for (std::int64_t j = from; j < end; ++j) {
      if (static_cast<std::size_t>(columns()[j]) >= width) continue;
      to.columns.push(columns()[j]);
      to.values.push(values()[j]);
    }
    to.labels.append(labels() + (label_starts()[i] - label_starts()[0]), label_count(i));
    if (weights() != nullptr || to.weights.size() > 0) {
      while (to.weights.size() < to.count()) to.weights.push(1);
      to.weights.push(weights() == nullptr ? 1 : weights()[i]);
    }
    if (unseen() != nullptr) to.unseen.push(unseen()[i]);
    to.end_row(static_cast<std::size_t>(lines()[i]));
  }

 private:
  std::shared_ptr<const TextRows> text_;
  std::size_t first_ = 0, count_ = 0, width_ = 0;
};

// Some rows, in this order.
inline TextPart taken(const TextPart& from, const std::vector<std::size_t>& rows) {
  auto text = std::make_shared<TextRows>();
  for (const std::size_t row : rows) {
    if (row >= from.count()) throw InputError("there is no row " + std::to_string(row));
    from.copy_row(row, *text, none);
  }
  return TextPart(std::move(text), from.width());
}

// The rows of several parts, one after the other, and all names that they have brought.
inline TextPart joined(const std::vector<TextPart>& parts) {
  auto text = std::make_shared<TextRows>();
  std::size_t width = 0;
  for (const TextPart& part : parts) {
    width = std::max(width, part.width());
    for (std::size_t row = 0; row < part.count(); ++row) part.copy_row(row, *text, none);
    const ColumnNames& names = part.new_names();
    for (std::size_t i = 0; i < names.count(); ++i)
      if (text->new_names.count() == 0 || names.first + i >= text->new_names.first + text->new_names.count())
        text->new_names.push(names.first + i, names.name(i));
  }
  return TextPart(std::move(text), width);
}

// Without the columns from `width` on, which a model does not have.
inline TextPart without_columns_from(const TextPart& part, std::size_t width) {
  if (part.width() <= width) return part;
  auto text = std::make_shared<TextRows>();
  for (std::size_t row = 0; row < part.count(); ++row) part.copy_row(row, *text, width);
  return TextPart(std::move(text), width);
}

// For each row the sum of the squared values that are not in the first `width` columns; empty: there are none.
inline std::vector<double> unseen_squares(const TextPart& part, std::size_t width) {
  if (part.width() <= width)
    return part.unseen() == nullptr ? std::vector<double>() : std::vector<double>(part.unseen(), part.unseen() + part.count());
  std::vector<double> squares(part.count());
  for (std::size_t row = 0; row < part.count(); ++row)
    for (std::int64_t j = part.starts()[row] - part.starts()[0]; j < part.starts()[row + 1] - part.starts()[0]; ++j)
      if (static_cast<std::size_t>(part.columns()[j]) >= width) squares[row] += part.values()[j] * part.values()[j];
  return squares;
}

}  // namespace hinge
