// The weights of all experts: one record per column, so that a feature of an instance costs one place in memory.
//
// A record begins with the places that are summed over the instance: those of the experts that see the values as they
// come, then those that see scaled values, each part padded to whole groups of four. The other places follow. Record 0
// is that of the constant beside the features (the intercept); column i has record i + 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "../memories/arithmetic/buffer.hpp"
#include "../memories/arithmetic/lane_sums.hpp"

namespace hinge {

// An instance as it came and as it was scaled: the same columns, two values each.
struct Inputs {
  Instance plain;
  const double* scaled = nullptr;  // nullptr: no expert sees them
};

struct RecordShape {
  std::size_t plain = 0;   // places summed with the values as they come, a multiple of 4
  std::size_t scaled = 0;  // places summed with the scaled values, a multiple of 4
  std::size_t size = 0;    // all places, a multiple of 4
};

class ExpertRecords {
 public:
  RecordShape shape;

  std::size_t columns() const { return shape.size == 0 ? 0 : values_.size() / shape.size - 1; }
  std::size_t bytes() const { return values_.bytes(); }
  double* at(std::size_t record) { return values_.data() + record * shape.size; }
  const double* at(std::size_t record) const { return values_.data() + record * shape.size; }

  void resize(std::size_t columns) { values_.resize((columns + 1) * shape.size); }
  // Another shape: copy(from, to) fills each new record, which is 0, from the old one.
  template <class Copy>
  void change(RecordShape next, const Copy& copy) {
    if (noting_) keep_copy();
    const std::size_t count = columns() + 1;
    ExpertRecords other;
    other.shape = next;
    other.values_.resize(count * next.size);
    for (std::size_t i = 0; i < count; ++i) copy(std::as_const(*this).at(i), other.at(i));
    values_ = std::move(other.values_);
    shape = next;
  }

  // sums[i] = the sum over the features of value * record[i], for the places that are summed.
  void sum(const Inputs& x, double* sums) const {
    std::fill_n(sums, shape.plain + shape.scaled, 0.0);
    visit(x.plain, [&](const auto& features) {
#if defined(__x86_64__) && defined(__GNUC__)
      if (has_avx2) return sum_avx2(features, x.scaled, sums);
#endif
      sum_all(features, x.scaled, sums);
    });
  }

  // Calls each(record, value as it came, scaled value) for every feature that is not 0.
  template <class Each>
  void for_each(const Inputs& x, const Each& each) {
    visit(x.plain, [&](const auto& features) {
      for_each_nonzero(features, [&](std::size_t j) {
        each(at(features.column(j) + 1), features.value(j), x.scaled == nullptr ? 0 : x.scaled[j]);
      });
    });
  }

  // Changes after `begin` can be rolled back. `note` records what an instance may overwrite; if it throws (out of
  // memory), nothing is recorded.
  void begin() {
    noting_ = true;
    columns_before_ = columns();
  }
  void note(const Instance& x) {
    if (!noting_) return;
    const std::size_t wanted = (x.size + 1) * shape.size;
    if (noted_.size() + wanted > values_.size() / 2) return keep_copy();
    grow(noted_, wanted), grow(places_, x.size + 1);
    const auto add = [&](std::size_t record) {
      places_.push_back(record);
      noted_.insert(noted_.end(), at(record), at(record) + shape.size);
    };
    add(0);
    visit(x, [&](const auto& features) {
      for_each_nonzero(features, [&](std::size_t j) { add(features.column(j) + 1); });
    });
  }
  void commit() {
    noting_ = copied_ = false;
    places_ = {};
    noted_ = {};
    copy_ = {};
  }
  void rollback(RecordShape before) {
    if (copied_) values_ = std::move(copy_);
    else undo(values_);
    shape = before;
    values_.resize((columns_before_ + 1) * shape.size);
    commit();
  }

 private:
  // Room for `more` entries. A vector that reserves exactly what it needs would be copied at each round.
  template <class Entry>
  static void grow(std::vector<Entry>& entries, std::size_t more) {
    const std::size_t wanted = entries.size() + more;
    if (wanted > entries.capacity()) entries.reserve(std::max(wanted, 2 * entries.capacity()));
  }
  // `Together` features from j on, while the records of the next ones are prefetched.
  template <std::size_t Together, class Features>
  HINGE_INLINE void sum_some(const Features& x, const double* scaled, std::size_t j, double* sums) const {
    constexpr bool sparse = requires { x.columns; };
    const double* records[Together];
    Quad plain_values[Together], scaled_values[Together];
    for (std::size_t f = 0; f < Together; ++f) {
      records[f] = at(x.column(j + f) + 1);
      repeat(x.value(j + f), plain_values[f]);
      repeat(scaled == nullptr ? 0 : scaled[j + f], scaled_values[f]);
    }
    if constexpr (sparse)
      for (std::size_t f = 0; f < Together; ++f) {
        const auto next = weights_ahead(values_.data() + shape.size, shape.size, x, j + ahead + f);
        for (std::size_t i = 0; i < shape.size; i += 8)
          HINGE_PREFETCH(reinterpret_cast<const char*>(next + i * sizeof(double)));
      }
    const auto add = [&](std::size_t from, std::size_t to, const Quad* values) HINGE_INLINE_LAMBDA {
      for (std::size_t g = from; g < to; g += 4) {
        Quad sum{}, group{};
        load_lanes(sums + g, sum);
        for (std::size_t f = 0; f < Together; ++f) {
          load_lanes(records[f] + g, group);
          sum = sum + group * values[f];
        }
        std::memcpy(sums + g, &sum, sizeof sum);
      }
    };
    add(0, shape.plain, plain_values);
    add(shape.plain, shape.plain + shape.scaled, scaled_values);
  }
  template <class Features>
  HINGE_INLINE void sum_all(const Features& x, const double* scaled, double* sums) const {
    std::size_t j = 0;
    for (; j + 4 <= x.size; j += 4) sum_some<4>(x, scaled, j, sums);
    for (; j < x.size; ++j) sum_some<1>(x, scaled, j, sums);
  }
#if defined(__x86_64__) && defined(__GNUC__)
  template <class Features>
  HINGE_AVX2 void sum_avx2(const Features& x, const double* scaled, double* sums) const {
    sum_all(x, scaled, sums);
  }
#endif

  void keep_copy() {
    if (!noting_) return;
    copy_ = values_;
    undo(copy_);
    copied_ = true;
    noting_ = false;
    places_ = {};
    noted_ = {};
  }
  void undo(Buffer<double>& values) const {
    for (std::size_t i = places_.size(); i-- > 0;)
      std::copy_n(noted_.data() + i * shape.size, shape.size, values.data() + places_[i] * shape.size);
  }

  static constexpr std::size_t ahead = 8;  // features

  Buffer<double> values_;
  bool noting_ = false, copied_ = false;
  std::size_t columns_before_ = 0;
  std::vector<std::size_t> places_;  // the records that were overwritten since `begin`, in turn
  std::vector<double> noted_;        // what they were
  Buffer<double> copy_;              // all records, as they were
};

}  // namespace hinge
