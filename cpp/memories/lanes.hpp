// Weights for many lanes in the Euclidean geometry: one lane per label (multi-prototype). In ordinal regression all
// lanes share one w, and each has its own bias coordinate, its threshold.
//
// The weights of a feature are contiguous: v[column * stride + lane]. In the bias coordinates every instance has the
// value `constant`: a positive one for intercepts (0 without them), -1 for thresholds. Averages are lazy, as in weights.hpp:
// A = tallied * v + u.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "arithmetic/buffer.hpp"
#include "arithmetic/lane_sums.hpp"
#include "memory.hpp"
#include "arithmetic/undo.hpp"
#include "weights.hpp"

namespace hinge {

template <class Real>
class Lanes final : public Memory {
 public:
  struct Kind {
    double constant = 0;   // the value of the bias coordinates in every instance
    bool shared = false;   // all lanes share their weights, and differ only in their bias coordinates
    bool sorted = false;   // the bias coordinates are sorted after each move
  };

  Lanes(std::size_t lanes, Kind kind, bool averaging)
      : Memory(largest, kind.constant, false), kind_(kind), averaging_(averaging) {
    widen(lanes);
  }

  std::size_t dimension() const override { return columns_; }
  std::size_t lanes() const override { return biases.size(); }

  std::size_t bytes() const override { return v.bytes() + u.bytes(); }
  // Without the spare lanes of `widen`: a loaded model has none.
  void check_room(std::size_t dimension) const override {
    check_bytes(dimension, kind_.shared ? 1 : padded<Real>(held()));
  }

  void resize(std::size_t dimension) override {
    if (dimension > columns_) check_room(dimension);
    if (averaging_) u.resize(dimension * stride_);  // may throw: `columns_` comes last
    v.resize(dimension * stride_);
    columns_ = dimension;
  }

  // New lanes start at 0; dropped lanes must never have moved.
  void widen(std::size_t lanes) {
    const std::size_t held = kind_.shared ? 1 : lanes;
    if (held > stride_) {
      check_bytes(columns_, kind_.shared ? 1 : padded<Real>(held));
      const std::size_t stride = kind_.shared ? 1 : padded<Real>(std::max(held, stride_ + stride_ / 2));
      Buffer<Real> wider_v = spread(v, stride);
      if (averaging_) u = spread(u, stride);
      v = std::move(wider_v);
      stride_ = stride;
    }
    if (moving_.capacity() < lanes) moving_.reserve(std::max(lanes, 2 * moving_.capacity()));  // moves do not allocate
    bias_sums.resize(lanes);
    biases.resize(lanes);
  }

  // Continues a learner of two classes: w/2 for one class, -w/2 for the other.
  void start_from(const Weights<Real>& w) {
    resize(w.dimension());
    for (std::size_t i = 0; i < columns_; ++i) {
      v[i * stride_ + 1] = w.v[i] / 2;
      v[i * stride_] = 0 - w.v[i] / 2;
      if (!averaging_) continue;
      u[i * stride_ + 1] = w.u[i] / 2;
      u[i * stride_] = 0 - w.u[i] / 2;
    }
    biases[1] = w.now.bias / 2, biases[0] = 0 - biases[1];
    bias_sums[1] = w.now.bias_sum / 2, bias_sums[0] = 0 - bias_sums[1];
    tallied = w.now.tallied;
    weight_bound_ = w.weight_bound() / 2;
  }

  bool takes_any_order(Reads /*reads*/) const override { return true; }

  Reading read(const Instance& x, Reads /*reads*/, double* scores) const override {
    return visit(x, [&](const auto& features) {
      const Sums s = kind_.shared ? sums(InArray<Real>{v.data()}, features) : sums(Nothing{}, features);
      if (!s.in_order()) return Reading{0, 0, 0, 0, false};
      if (kind_.shared)
        std::fill_n(scores, lanes(), s.product);
      else
        scores_of(features, scores);
      Reading reading = finish(scores, biases.data(), 1, s.square);
      if constexpr (!std::is_same_v<Real, double>)  // a sum that overflows float32 may be finite in float64
        if (!kind_.shared && !std::isfinite(reading.score)) [[unlikely]] {
          sum_in_doubles(features, scores);
          reading = finish(scores, biases.data(), 1, s.square);
        }
      return reading;
    });
  }

  Reading read_average(const Instance& x, Reads reads, double* scores) const override {
    if (tallied == 0) return read(x, reads, scores);
    return visit(x, [&](auto features) {
      const Sums s = sums(Nothing{}, features);
      if (!s.in_order()) return Reading{0, 0, 0, 0, false};
      std::fill_n(scores, lanes(), 0.0);
      for (std::size_t j = 0; j < features.size; ++j)
        for (std::size_t r = 0; r < held(); ++r)
          scores[r] += features.value(j) * averaged_sum(features.column(j) * stride_ + r);
      if (kind_.shared) std::fill_n(scores, lanes(), scores[0]);
      return finish(scores, bias_sums.data(), 1.0 / static_cast<double>(tallied), s.square);
    });
  }

  void move(const double* amounts, double /*decay*/, const Instance& x) override {
    move_along(amounts, x, constant_);
  }
  void move_along(const double* amounts, const Instance& x, double bias_value) override {
    moving_.clear();
    if (kind_.shared) {
      double total = 0;
      for (std::size_t r = 0; r < lanes(); ++r) total += amounts[r];
      moving_.push_back({0, total});
    } else {
      for_each_nonzero(DenseFeatures<double>{amounts, lanes()},
                       [&](std::size_t r) { moving_.push_back({r, amounts[r]}); });
    }
    visit(x, [&](auto features) {
      const auto each = [&](const auto& note) {
        for (std::size_t j = 0; j < features.size; ++j)
          for (const Moving& m : moving_) note(features.column(j) * stride_ + m.lane);
      };
      undo_v_.note(features.size * moving_.size(), each);
      if (averaging_) undo_u_.note(features.size * moving_.size(), each);
      const double alpha = static_cast<double>(tallied);
      const auto add = [&](std::size_t j, const Moving& m) HINGE_INLINE_LAMBDA {
        const std::size_t place = features.column(j) * stride_ + m.lane;
        const double before = static_cast<double>(v[place]);
        v[place] = static_cast<Real>(before + m.amount * features.value(j));
        if (averaging_) u[place] -= alpha * (static_cast<double>(v[place]) - before);
      };
      constexpr std::size_t few = 4;  // up to this lane by lane, otherwise feature by feature
      if (moving_.size() <= few)
        for (const Moving& m : moving_)
          for (std::size_t j = 0; j < features.size; ++j) add(j, m);
      else
        for (std::size_t j = 0; j < features.size; ++j)
          for (const Moving& m : moving_) add(j, m);
    });
    if (bias_value != 0 && kind_.shared)
      for (std::size_t r = 0; r < lanes(); ++r) biases[r] += amounts[r] * bias_value;
    else if (bias_value != 0)
      for (const Moving& m : moving_) biases[m.lane] += m.amount * bias_value;
    if (kind_.sorted) std::sort(biases.begin(), biases.end());
  }

  void tally() override {
    for (std::size_t r = 0; r < lanes(); ++r) bias_sums[r] += biases[r];
    tallied += 1;
  }

  // Each move records what it overwrites, until a copy of all weights is cheaper. If all weights are 0, neither is
  // needed.
  void begin(std::size_t stored) override {
    if (stored >= columns_) v.expect_use(), u.expect_use();
    before_ = {biases, bias_sums, tallied, weight_bound_};
    const bool all_zero = weight_bound_ == 0 && tallied == 0;
    undo_v_.begin(all_zero);
    undo_u_.begin(all_zero);
  }
  void commit() override {
    undo_v_.commit();
    undo_u_.commit();
  }
  void rollback() override {
    undo_v_.rollback();
    undo_u_.rollback();
    columns_ = v.size() / stride_;
    biases = before_.biases;
    bias_sums = before_.bias_sums;
    tallied = before_.tallied;
    weight_bound_ = before_.weight_bound;
  }

  double weight(std::size_t column, std::size_t lane, bool averaged) const override {
    const std::size_t place = column * stride_ + (kind_.shared ? 0 : lane);
    if (!averaged || tallied == 0) return static_cast<double>(v[place]);
    return averaged_sum(place) / static_cast<double>(tallied);
  }
  double bias(std::size_t lane, bool averaged) const override {
    return averaged && tallied > 0 ? bias_sums[lane] / static_cast<double>(tallied) : biases[lane];
  }

  void start_at(const double* w, std::size_t size, const double* start_biases) override {
    resize(size);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t r = 0; r < held(); ++r) v[i * stride_ + r] = static_cast<Real>(w[r * size + i]);
    std::copy_n(start_biases, lanes(), biases.begin());
    weight_bound_ = largest_weight();
    if (!(weight_bound_ <= limit_)) throw InputError("a weight to start at is larger than the model can hold");
  }

  double weight_bound() const { return weight_bound_; }
  double largest_weight() const override {
    double largest = 0;
    for (const double bias : biases) largest = std::max(largest, std::abs(bias));
    for (std::size_t i = 0; i < v.size(); ++i) largest = std::max(largest, std::abs(static_cast<double>(v[i])));
    return largest;
  }
  // The weights and the sums of the average, with padding: `stride` per column.
  Real* padded_weights() { return v.data(); }
  double* padded_sums() { return u.data(); }
  std::size_t stride() const { return stride_; }
  // The number of weights per column.
  std::size_t held() const { return kind_.shared ? 1 : lanes(); }
  // Writes the state without padding: dimension() x held() numbers.
  void save(Real* to_v, double* to_u) const {
    for (std::size_t i = 0; i < columns_; ++i) {
      std::copy_n(v.data() + i * stride_, held(), to_v + i * held());
      if (averaging_) std::copy_n(u.data() + i * stride_, held(), to_u + i * held());
    }
  }
  void restore(const Real* from_v, const double* from_u, std::size_t size, double bound) {
    resize(size);
    for (std::size_t i = 0; i < columns_; ++i) {
      std::copy_n(from_v + i * held(), held(), v.data() + i * stride_);
      if (averaging_) std::copy_n(from_u + i * held(), held(), u.data() + i * stride_);
    }
    weight_bound_ = std::max(bound, largest_weight());  // a file may hold a wrong bound
  }

  // The rest of the state, public for saving and restoring.
  std::vector<double> biases, bias_sums;
  std::int64_t tallied = 0;

 private:
  static constexpr double largest = static_cast<double>(std::numeric_limits<Real>::max()) / 8;

  struct Moving {
    std::size_t lane;
    double amount;
  };

  double averaged_sum(std::size_t place) const {
    return static_cast<double>(tallied) * static_cast<double>(v[place]) + u[place];
  }

  template <class Features>
  void scores_of(const Features& x, double* scores) const {
    constexpr std::size_t small = 128;
    if constexpr (std::is_same_v<Real, double>)
      if (stride_ == lanes()) return lane_sums(v.data(), stride_, x, scores);
    Real few[small];  // padding lanes are summed too
    const std::unique_ptr<Real[]> many(stride_ <= small ? nullptr : new Real[stride_]);  // not set to 0: lane_sums does
    Real* const sums = stride_ <= small ? few : many.get();
    lane_sums(v.data(), stride_, x, sums);
    std::copy_n(sums, lanes(), scores);
  }
  template <class Features>
  HINGE_APART void sum_in_doubles(const Features& x, double* scores) const {
    std::fill_n(scores, lanes(), 0.0);
    for (std::size_t j = 0; j < x.size; ++j)
      for (std::size_t r = 0; r < lanes(); ++r)
        scores[r] += x.value(j) * static_cast<double>(v[x.column(j) * stride_ + r]);
  }

  // Adds the biases. The sum of all scores is not finite if one of them is not. It is computed in four parts, so that
  // no addition waits for the previous one.
  Reading finish(double* scores, const double* bias, double share, double square) const {
    double parts[4] = {};
    const auto finished = [&](std::size_t r) HINGE_INLINE_LAMBDA {
      return scores[r] = share * (scores[r] + bias[r] * constant_);
    };
    const std::size_t count = lanes();
    std::size_t r = 0;
    for (; r + 4 <= count; r += 4)
      for (std::size_t k = 0; k < 4; ++k) parts[k] += finished(r + k);
    for (; r < count; ++r) parts[0] += finished(r);
    const double all = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    const double q = square + (kind_.shared ? 0 : constant2_);
    return Reading{all, all, q, square, true};
  }

  template <class Number>
  Buffer<Number> spread(const Buffer<Number>& narrow, std::size_t stride) const {
    Buffer<Number> wide;
    wide.resize(columns_ * stride);
    for (std::size_t i = 0; i < columns_; ++i) std::copy_n(narrow.data() + i * stride_, stride_, wide.data() + i * stride);
    return wide;
  }

  double bytes_each() const override { return sizeof(Real) + (averaging_ ? sizeof(double) : 0); }

  Kind kind_;
  bool averaging_;
  std::size_t columns_ = 0;
  std::size_t stride_ = 0;
  Buffer<Real> v;
  Buffer<double> u;
  std::vector<Moving> moving_;

  struct Before {
    std::vector<double> biases, bias_sums;
    std::int64_t tallied = 0;
    double weight_bound = 0;
  };
  Before before_;
  Undo<Real> undo_v_{v};
  Undo<double> undo_u_{u};
};

}  // namespace hinge
