// The features of an event in one record, in the order of their places.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../data/rows.hpp"

namespace hinge {

// Distinct places in a record, in ascending order, and the values of the event.
struct RecordColumns {
  const std::uint32_t* places = nullptr;
  const double* values = nullptr;
  std::size_t size = 0;
};

// Puts features in order. Those of a place that comes twice are added up, as `Scratch` does it.
class ColumnOrder {
 public:
  // Those of an event, of which it knows all places. The columns may point to what is given.
  RecordColumns ordered(const std::uint32_t* places, const double* values, std::size_t size) {
    bool falls = false;
    for (std::size_t j = 1; j < size; ++j) falls |= places[j] <= places[j - 1];
    if (!falls) return {places, values, size};
    if (sorted_places_.size() < size) sorted_places_.resize(size), sorted_values_.resize(size);
    const bool sorted = size <= few ? rank(places, values, size) : mark(places, values, size);
    if (sorted) return {sorted_places_.data(), sorted_values_.data(), size};
    return sort(places, values, size);
  }
  // The same without the features whose place is `none`.
  RecordColumns ordered_known(const std::uint32_t* places, const double* values, std::size_t size, std::uint32_t none) {
    if (places_.size() < size) places_.resize(size), values_.resize(size);
    std::size_t known = 0;
    for (std::size_t j = 0; j < size; ++j) {
      places_[known] = places[j];
      values_[known] = values[j];
      known += places[j] != none;
    }
    return ordered(places_.data(), values_.data(), known);
  }

 private:
  // Counts for each place how many are smaller, without a branch on it. False if a place comes twice.
  bool rank(const std::uint32_t* places, const double* values, std::size_t size) {
    std::array<std::int32_t, few> numbers;  // places are below 2^30
    for (std::size_t j = 0; j < size; ++j) numbers[j] = static_cast<std::int32_t>(places[j]);
    const std::size_t end = (size + 3) / 4 * 4;
    for (std::size_t j = size; j < end; ++j) numbers[j] = std::numeric_limits<std::int32_t>::max();
    std::size_t ranks = 0;
    for (std::size_t j = 0; j < size; ++j) {
      std::int32_t smaller = 0;
      for (std::size_t k = 0; k < end; ++k) smaller += numbers[k] < numbers[j];
      const auto at = static_cast<std::size_t>(smaller);
      sorted_places_[at] = places[j];
      sorted_values_[at] = values[j];
      ranks += at;
    }
    return 2 * ranks == size * (size - 1);
  }
  // Marks the places in a set of bits, and reads them off in order: no comparison that a processor could mispredict. False if
  // a place is large, or comes twice (so there are at most `span` of them).
  bool mark(const std::uint32_t* places, const double* values, std::size_t size) {
    std::uint32_t largest = 0;
    for (std::size_t j = 0; j < size; ++j) largest = std::max(largest, places[j]);
    if (largest >= span) return false;
    const std::size_t words = largest / 64 + 1;
    std::fill_n(marks_.begin(), words, 0);
    std::uint64_t twice = 0;
    for (std::size_t j = 0; j < size; ++j) {
      const std::uint64_t bit = std::uint64_t{1} << (places[j] % 64);
      std::uint64_t& word = marks_[places[j] / 64];
      twice |= word & bit;
      word |= bit;
      from_[places[j]] = static_cast<std::uint16_t>(j);
    }
    if (twice != 0) return false;
    std::size_t at = 0;
    for (std::size_t w = 0; w < words; ++w)
      for (std::uint64_t rest = marks_[w]; rest != 0; rest &= rest - 1) {
        const std::size_t place = w * 64 + static_cast<std::size_t>(std::countr_zero(rest));
        sorted_places_[at] = static_cast<std::uint32_t>(place);
        sorted_values_[at] = values[from_[place]];
        at += 1;
      }
    return true;
  }
  HINGE_APART RecordColumns sort(const std::uint32_t* places, const double* values, std::size_t size) {
    scratch_.clear();
    for (std::size_t j = 0; j < size; ++j) scratch_.add(places[j], values[j]);
    const Instance x = scratch_.ordered();
    for (std::size_t j = 0; j < x.size; ++j)
      sorted_places_[j] = static_cast<std::uint32_t>(static_cast<const std::int64_t*>(x.columns)[j]);
    return {sorted_places_.data(), static_cast<const double*>(x.values), x.size};
  }

  static constexpr std::size_t few = 32, span = 4096;
  std::vector<std::uint32_t> places_, sorted_places_;
  std::vector<double> values_, sorted_values_;
  std::array<std::uint64_t, span / 64> marks_;
  std::array<std::uint16_t, span> from_;
  Scratch scratch_;
};

}  // namespace hinge
