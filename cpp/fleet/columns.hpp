// The features of an event in one record, in the order of their places.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
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
  void clear(std::size_t most) {
    if (places_.size() < most) places_.resize(most), values_.resize(most), sorted_places_.resize(most), sorted_values_.resize(most);
    size_ = 0;
    ascending_ = true;
    largest_ = 0;
  }
  // At most as many as `clear` said.
  HINGE_INLINE void add(std::uint32_t place, double value) {
    ascending_ = ascending_ && (size_ == 0 || place > largest_);
    largest_ = place > largest_ ? place : largest_;
    places_[size_] = place;
    values_[size_] = value;
    size_ += 1;
  }
  RecordColumns ordered() {
    if (ascending_) return {places_.data(), values_.data(), size_};
    if (largest_ < span && mark()) return {sorted_places_.data(), sorted_values_.data(), size_};
    return sort();
  }

 private:
  // Marks the places in a set of bits, and reads them off in order: no comparison that a processor could mispredict. False if
  // a place comes twice.
  bool mark() {
    const std::size_t words = largest_ / 64 + 1;
    std::fill_n(marks_.begin(), words, 0);
    std::uint64_t twice = 0;
    for (std::size_t j = 0; j < size_; ++j) {
      const std::uint64_t bit = std::uint64_t{1} << (places_[j] % 64);
      std::uint64_t& word = marks_[places_[j] / 64];
      twice |= word & bit;
      word |= bit;
      from_[places_[j]] = static_cast<std::uint16_t>(j);
    }
    if (twice != 0 || size_ > 0xFFFF) return false;
    std::size_t at = 0;
    for (std::size_t w = 0; w < words; ++w)
      for (std::uint64_t rest = marks_[w]; rest != 0; rest &= rest - 1) {
        const std::size_t place = w * 64 + static_cast<std::size_t>(std::countr_zero(rest));
        sorted_places_[at] = static_cast<std::uint32_t>(place);
        sorted_values_[at] = values_[from_[place]];
        at += 1;
      }
    return true;
  }
  HINGE_APART RecordColumns sort() {
    scratch_.clear();
    for (std::size_t j = 0; j < size_; ++j) scratch_.add(places_[j], values_[j]);
    const Instance x = scratch_.ordered();
    for (std::size_t j = 0; j < x.size; ++j)
      sorted_places_[j] = static_cast<std::uint32_t>(static_cast<const std::int64_t*>(x.columns)[j]);
    return {sorted_places_.data(), static_cast<const double*>(x.values), x.size};
  }

  static constexpr std::size_t span = 4096;
  std::vector<std::uint32_t> places_, sorted_places_;
  std::vector<double> values_, sorted_values_;
  std::size_t size_ = 0;
  std::uint32_t largest_ = 0;
  bool ascending_ = true;
  std::array<std::uint64_t, span / 64> marks_;
  std::array<std::uint16_t, span> from_;
  Scratch scratch_;
};

}  // namespace hinge
