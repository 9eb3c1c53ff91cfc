// The weights of all experts: one record per column, so that a feature of an instance costs one place in memory.
//
// A record begins with the places that are summed over the instance: those of the experts that see the values as they
// come, then those that see scaled values, each part padded to whole groups of four. The other places follow. Record 0
// is that of the constant beside the features (the intercept); column i has record i + 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "../memories/arithmetic/buffer.hpp"
#include "../memories/arithmetic/lane_sums.hpp"
#include "quads.hpp"

namespace hinge {

// An instance as it came and as it was scaled: the same columns, two values each.
struct Inputs {
  Instance plain;
  const double* scaled = nullptr;  // nullptr: no expert sees them
};

struct RecordShape {
  std::size_t plain = 0;   // places summed with the values as they come, a multiple of 4
  std::size_t scaled = 0;  // places summed with the scaled values, a multiple of 4
  std::size_t plain_variances = 0;  // places of variances of the experts that see the values as they come, likewise
  std::size_t size = 0;             // all places, a multiple of 4

  std::size_t summed() const { return plain + scaled; }
};

class ExpertRecords {
 public:
  RecordShape shape;

  std::size_t columns() const { return shape.size == 0 ? 0 : values_.size() / shape.size - 1; }
  std::size_t bytes() const { return values_.bytes(); }
  double* at(std::size_t record) { return values_.data() + record * shape.size; }
  const double* at(std::size_t record) const { return values_.data() + record * shape.size; }

  void expect_use() { values_.expect_use(); }
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

  // sums[i] = the sum over the features of value * record[i], for the places that are summed. `sizes`, unless it is
  // nullptr, gains value^2 * variance, for the variances.
  void sum(const Inputs& x, double* sums, double* sizes) const {
    std::fill_n(sums, shape.summed(), 0.0);
    visit(x.plain, [&](const auto& features) {
#if defined(__x86_64__) && defined(__GNUC__)
      if (has_avx2) return sum_avx2(features, x.scaled, sums, sizes);
#endif
      sum_all(features, x.scaled, sums, sizes);
    });
  }

  // Calls each(record, value as it came, scaled value) for every feature that is not 0, while the records of the next
  // instance are prefetched.
  template <class Each>
  void for_each(const Inputs& x, const Each& each) {
    visit(x.plain, [&](const auto& features) {
#if defined(__x86_64__) && defined(__GNUC__)
      if (has_avx2) return each_avx2(features, x.scaled, each);
#endif
      each_feature(features, x.scaled, each);
    });
  }

  // Changes after `begin` can be rolled back. `note` records what an instance may overwrite, each record once; if it
  // throws (out of memory), nothing may be overwritten.
  void begin() {
    noting_ = true;
    columns_before_ = columns();
  }
  void note(const Instance& x) {
    if (!noting_) return;
    const std::size_t words = columns() / 64 + 1;
    if (noted_.size() < words) noted_.resize(std::max(words, 2 * noted_.size()));
    note_record(0);
    visit(x, [&](const auto& features) {
      for_each_nonzero(features, [&](std::size_t j) { note_record(features.column(j) + 1); });
    });
  }
  void commit() {
    noting_ = copied_ = false;
    for (const std::size_t record : fresh_) noted_[record / 64] = 0;
    for (const std::size_t record : places_) noted_[record / 64] = 0;
    fresh_ = places_ = {};
    contents_ = {};
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
  template <class Features, class Each>
  HINGE_INLINE void each_feature(const Features& x, const double* scaled, const Each& each) {
    for_each_nonzero(x, [&](std::size_t j) HINGE_INLINE_LAMBDA {
      if constexpr (requires { x.columns; })
        prefetch_record<false>(x, j + x.size);
      each(at(x.column(j) + 1), x.value(j), scaled == nullptr ? 0 : scaled[j]);
    });
  }
#if defined(__x86_64__) && defined(__GNUC__)
  template <class Features, class Each>
  HINGE_AVX2 void each_avx2(const Features& x, const double* scaled, const Each& each) {
    each_feature(x, scaled, each);
  }
#endif
  // The lines of the record of feature j of a sparse instance, into the L1 cache (`soon`) or the L2 cache. It may lie in
  // the instances that follow. (A lambda that does nothing else would be removed by the compiler.)
  template <bool soon, class Features>
  HINGE_INLINE void prefetch_record(const Features& x, std::size_t j) const {
    constexpr std::size_t line = 64;
    const std::uintptr_t record = weights_ahead(values_.data() + shape.size, shape.size, x, j);
    for (std::size_t i = 0; i < shape.size * sizeof(double) && i < most_prefetched; i += line) {
      if constexpr (soon) HINGE_PREFETCH(reinterpret_cast<const char*>(record + i));
      else HINGE_PREFETCH_LATER(reinterpret_cast<const char*>(record + i));
    }
  }

  // What a record holds is kept, unless that is 0. (Most columns are new to a new learner.)
  HINGE_INLINE void note_record(std::size_t record) {
    const std::uint64_t bit = std::uint64_t{1} << record % 64;
    if ((noted_[record / 64] & bit) == 0) [[unlikely]] keep_record(record), noted_[record / 64] |= bit;
  }
  HINGE_APART void keep_record(std::size_t record) {
    const double* const from = at(record);
    if (std::all_of(from, from + shape.size, [](double value) { return value == 0; })) return fresh_.push_back(record);
    constexpr std::size_t together = std::size_t{1} << 15;  // numbers that are allocated at once, so that none are copied
    if (contents_.empty() || contents_.back().size() + shape.size > contents_.back().capacity()) {
      contents_.emplace_back();
      contents_.back().reserve(std::max(together, shape.size));
    }
    places_.push_back(record);
    contents_.back().insert(contents_.back().end(), from, from + shape.size);
  }
  // `Together` features from j on, while the records of the next ones are prefetched.
  template <std::size_t Together, class Features>
  HINGE_INLINE void sum_some(const Features& x, const double* scaled, std::size_t j, double* sums, double* sizes) const {
    constexpr bool sparse = requires { x.columns; };
    const double* records[Together];
    Quad plain_values[Together], scaled_values[Together];
    for (std::size_t f = 0; f < Together; ++f) {
      records[f] = at(x.column(j + f) + 1);
      repeat(x.value(j + f), plain_values[f]);
      repeat(scaled == nullptr ? 0 : scaled[j + f], scaled_values[f]);
    }
    if constexpr (sparse)
      for (std::size_t f = 0; f < Together; ++f)
        prefetch_record<true>(x, j + ahead + f);
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
    add(shape.plain, shape.summed(), scaled_values);
    if (sizes == nullptr) return;
    const auto add_variances = [&](std::size_t from, std::size_t to, const Quad* values) HINGE_INLINE_LAMBDA {
      for (std::size_t g = from; g < to; g += 4) {
        Quad sum{}, group{};
        load_lanes(sizes + (g - shape.summed()), sum);
        for (std::size_t f = 0; f < Together; ++f) {
          load_variances(records[f] + g, group);
          sum = sum + values[f] * values[f] * group;
        }
        std::memcpy(sizes + (g - shape.summed()), &sum, sizeof sum);
      }
    };
    const std::size_t between = shape.summed() + shape.plain_variances;
    add_variances(shape.summed(), between, plain_values);
    add_variances(between, shape.size, scaled_values);
  }
  template <class Features>
  HINGE_INLINE void sum_all(const Features& x, const double* scaled, double* sums, double* sizes) const {
    std::size_t j = 0;
    for (; j + 4 <= x.size; j += 4) sum_some<4>(x, scaled, j, sums, sizes);
    for (; j < x.size; ++j) sum_some<1>(x, scaled, j, sums, sizes);
  }
#if defined(__x86_64__) && defined(__GNUC__)
  template <class Features>
  HINGE_AVX2 void sum_avx2(const Features& x, const double* scaled, double* sums, double* sizes) const {
    sum_all(x, scaled, sums, sizes);
  }
#endif

  // Before the shape changes: all records as they were.
  void keep_copy() {
    copy_ = values_;
    undo(copy_);
    copied_ = true;
    noting_ = false;
  }
  void undo(Buffer<double>& values) const {
    for (const std::size_t record : fresh_) std::fill_n(values.data() + record * shape.size, shape.size, 0.0);
    auto record = places_.begin();
    for (const std::vector<double>& part : contents_)
      for (std::size_t i = 0; i < part.size(); i += shape.size, ++record)
        std::copy_n(part.data() + i, shape.size, values.data() + *record * shape.size);
  }

  static constexpr std::size_t ahead = 8;  // features
  static constexpr std::size_t most_prefetched = 1024;  // bytes of a record: hardware prefetches what follows

  Buffer<double> values_;
  bool noting_ = false, copied_ = false;
  std::size_t columns_before_ = 0;
  std::vector<std::uint64_t> noted_;           // a bit per record: whether it was noted since `begin`
  std::vector<std::size_t> fresh_, places_;    // the records that were noted: those that were 0, and the others
  std::vector<std::vector<double>> contents_;  // what the others were, in turn
  Buffer<double> copy_;                        // all records, as they were
};

}  // namespace hinge
