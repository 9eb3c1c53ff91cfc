// The features of events for a fleet: dicts, and the rows of arrays.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keys.hpp"

namespace hinge {

inline void add_event(FeatureList& features, nb::handle dict) {
  Records::for_each(dict, [&](nb::handle name, double value) { features.add(*Key(name), value); });
  features.end_event();
}

// The rows of an array or a CSR matrix, one at a time. Columns are called by their numbers, or have names.
class RowFeatures {
 public:
  RowFeatures(const Rows& rows, const std::optional<nb::list>& names) : rows_(rows), x_(rows.blank()) {
    if (!names) return;
    if (names->size() != rows.width()) throw InputError("there must be one name per column");
    for (nb::handle name : *names) text_.emplace_back(*Key(Records::plain_name(name)));
    for (const std::string& name : text_) names_.push_back(name), hashes_of_.push_back(feature_hash(name));
  }

  // The features of a row that comes soon.
  FeaturesAhead ahead(std::size_t row) {
    Ahead& its = ahead_[row % ahead_.size()];
    if (its.row != row) read_ahead(row, its);
    return {its.hashes.data(), its.hashes.size()};
  }
  EventFeatures operator()(std::size_t row) {
    rows_.take(row, x_);
    if (hashes_.size() < x_.size) make_room(x_.size);
    std::size_t count = 0;
    visit(x_, [&](const auto& features) {
      for (std::size_t j = 0; j < features.size; ++j) {
        const std::size_t column = features.column(j);
        if (column >= rows_.width()) [[unlikely]]
          throw InputError("column index " + std::to_string(static_cast<std::int64_t>(column)) + " is outside of the " +
                               std::to_string(rows_.width()) + " columns", row);
        const double value = features.value(j);
        if (!std::isfinite(value * value)) [[unlikely]] reject(value, row, column);
        values_[count] = value;
        columns_[count] = static_cast<std::int64_t>(column);
        hashes_[count] = names_.empty() ? feature_hash(static_cast<std::int64_t>(column)) : hashes_of_[column];
        if (!names_.empty()) its_names_[count] = names_[column];
        count += value != 0;
      }
    });
    return {hashes_.data(), values_.data(), count, names_.empty() ? nullptr : its_names_.data(), columns_.data()};
  }

 private:
  void make_room(std::size_t size) {
    hashes_.resize(size), values_.resize(size), columns_.resize(size);
    if (!names_.empty()) its_names_.resize(size);
  }
  struct Ahead {
    std::size_t row = none;
    std::vector<std::uint32_t> hashes;
  };
  void read_ahead(std::size_t row, Ahead& its) {
    Instance x = rows_.blank();
    rows_.take(row, x);
    its.row = row;
    its.hashes.resize(x.layout == Layout::sparse32 || x.layout == Layout::sparse64 ? x.size : 0);
    if (its.hashes.empty()) return;  // all columns of an array: they are in the cache
    visit(x, [&](const auto& features) {
      for (std::size_t j = 0; j < features.size; ++j) {
        const std::size_t column = features.column(j);
        its.hashes[j] = names_.empty() ? feature_hash(static_cast<std::int64_t>(column)) : column < hashes_of_.size() ? hashes_of_[column] : 0;
      }
    });
  }
  [[noreturn]] static void reject(double value, std::size_t row, std::size_t column) {
    reject_unless_finite(value, row, column);
    throw InputError("the value is too large: its square overflows float64", row, column);
  }

  const Rows rows_;
  Instance x_;
  std::vector<std::string> text_;
  std::vector<std::string_view> names_, its_names_;
  std::vector<std::uint32_t> hashes_of_, hashes_;
  std::vector<double> values_;
  std::vector<std::int64_t> columns_;
  std::array<Ahead, 8> ahead_;
};

}  // namespace hinge
