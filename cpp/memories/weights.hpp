// Weights in an array, in the Euclidean geometry, with one lane.
//
// w = scale * v, so that decaying all weights costs O(1) (uniclass; otherwise the scale is 1). In addition to the
// columns there is a bias coordinate, in which every instance has the value `constant`. An intercept has a positive
// constant (constant.hpp) and starts at 0. A learned radius (S7) has constant 0 and starts at B.
//
// The average of the vectors that predicted is lazy (S15). With A the sum of the tallied w,
//     A = alpha * v + u.     A tally adds scale to alpha; changing v by d subtracts alpha * d from u.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "arithmetic/buffer.hpp"
#include "memory.hpp"
#include "arithmetic/sums.hpp"

namespace hinge {

// The bias coordinate.
struct Bias {
  double constant = 0;   // its value in every instance (Memory::constant)
  bool counted = true;   // whether constant^2 counts in q (scikit-learn leaves it out)
  double rate = 1;       // its moves are scaled by this (scikit-learn: 0.01 for sparse data)
};

// All scalars. A rollback restores a copy; a model file contains all of them.
struct WeightScalars {
  double scale = 1;
  double alpha = 0;
  double bias = 0;
  double bias_sum = 0;
  double norm2 = 0;      // |w|^2 without the bias coordinate; maintained for distances only
  std::int64_t tallied = 0;
  std::int64_t work = 0;  // values read since norm2 was last recomputed
  std::int64_t filled = 0;  // columns in which w is not 0; maintained for distances only
};

template <class Real>
class Weights final : public Memory {
 public:
  Weights(Bias bias, double bias_start, bool averaging, bool distances)
      : Memory(distances ? largest * smallest_scale : largest, bias.constant, distances),
        bias_(bias),
        has_bias_(bias.constant != 0),
        averaging_(averaging),
        follows_(averaging || distances) {
    now.bias = bias_start;
    weight_bound_ = std::abs(bias_start);
  }

  std::size_t dimension() const override { return v.size(); }

  std::size_t bytes() const override { return v.bytes() + u.bytes(); }
  void check_room(std::size_t dimension) const override { check_bytes(dimension, 1); }

  void resize(std::size_t dimension) override {
    if (dimension > v.size()) check_room(dimension);
    if (averaging_) u.resize(dimension);  // may throw, so it comes before v, which defines the dimension
    v.resize(dimension);
  }

  // A distance needs sorted columns, to find those that the instance does not have.
  bool takes_any_order(Reads reads) const override { return reads == Reads::product; }

  Reading read(const Instance& x, Reads reads, double* /*scores*/) const override {
    if (reads == Reads::distance)
      return distance(x, InArray<Real>{v.data()}, now.scale, now.norm2, now.filled, now.bias);
    return visit(x, [&](const auto& features) HINGE_INLINE_LAMBDA { return read_product(features); });
  }
  template <class Features>
  HINGE_INLINE Reading read_product(const Features& x) const {
    const Sums s = sums(InArray<Real>{v.data()}, x);
    const bool in_order = !requires { x.columns; } || s.in_order();
    if (!has_bias_) return Reading{s.product, s.product, s.square, s.square, in_order};
    const double score = s.product + now.bias * constant_;
    const double q = s.square + (bias_.counted ? constant_ * constant_ : 0);
    return Reading{score, score, q, s.square, in_order};
  }

  Reading read_average(const Instance& x, Reads reads, double* scores) const override {
    if (now.tallied == 0) return read(x, reads, scores);
    const double share = 1.0 / static_cast<double>(now.tallied);
    const auto weight = [this](std::size_t i) { return averaged_sum(i); };
    if (reads == Reads::distance) {  // the norm of the average is not maintained: O(dimension)
      double norm2 = 0;
      for (std::size_t i = 0; i < v.size(); ++i) norm2 += (share * weight(i)) * (share * weight(i));
      return distance(x, weight, share, norm2, -1, now.bias_sum * share);
    }
    return visit(x, [&](auto features) {
      const Sums s = sums(weight, features);
      const double score = share * (s.product + now.bias_sum * constant_);
      return Reading{score, score, 0, s.square, s.in_order()};
    });
  }

  void move(const double* amounts, double decay, const Instance& x) override {
    visit(x, [&](const auto& features) HINGE_INLINE_LAMBDA { move_by(amounts[0], decay, x, features, constant_); });
  }
  void move_along(const double* amounts, const Instance& direction, double bias_value) override {
    visit(direction, [&](const auto& features) { move_by(amounts[0], 1, direction, features, bias_value); });
  }
  template <class Features>
  HINGE_INLINE void move_by(double amount, double decay, const Instance& x, const Features& features, double bias_value) {
    if (decay != 1) shrink(decay);
    Real* const noted = journaling_ ? journal(x) : nullptr;
    if (follows_)
      move_and_follow(features, now.scale == 1 ? amount : amount / now.scale);
    else if (noted != nullptr)
      note_and_add(noted, v.data(), features, amount);
    else
      add(v.data(), features, amount);
    if (bias_value != 0) now.bias += bias_.rate * amount * bias_value;
  }

  void tally() override {
    now.alpha += now.scale;
    now.bias_sum += now.bias;
    now.tallied += 1;
  }

  // If the batch has fewer values than the model has columns, each move records what it overwrites. Otherwise the
  // weights are copied, which costs less than reading the values. If all weights are 0, neither is needed.
  void begin(std::size_t stored) override {
    before_ = now;
    weight_bound_before_ = weight_bound_;
    all_zero_ = weight_bound_ == 0 && now.tallied == 0;  // a centre may return to 0 and leave an average
    journaling_ = stored < v.size() && !all_zero_;
    if (journaling_) std::swap(journal_, spare_);
    if (!journaling_ && !all_zero_) copy_all();
  }
  void commit() override {
    journaling_ = copied_ = false;
    copied_v_ = Buffer<Real>();
    copied_u_ = Buffer<double>();
    journal_.clear();
    if (std::max(journal_.v.size(), journal_.moved.capacity()) <= largest_spare) std::swap(journal_, spare_);
    journal_ = Journal();
  }
  void rollback() override {
    if (copied_) {
      v = std::move(copied_v_);
      u = std::move(copied_u_);
    } else if (all_zero_) {
      v.clear();
      u.clear();
    } else {
      undo(v, u);
    }
    now = before_;
    weight_bound_ = weight_bound_before_;
    commit();
  }

  // w_i, or its average.
  double weight(std::size_t i, std::size_t /*lane*/, bool averaged) const override {
    if (!averaged || now.tallied == 0) return now.scale * static_cast<double>(v[i]);
    return averaged_sum(i) / static_cast<double>(now.tallied);
  }
  double bias(std::size_t /*lane*/, bool averaged) const override {
    if (!averaged || now.tallied == 0) return now.bias;
    return now.bias_sum / static_cast<double>(now.tallied);
  }

  void copy_weights(std::size_t /*lane*/, bool averaged, double* to) const override {
    for (std::size_t i = 0; i < v.size(); ++i) to[i] = weight(i, 0, averaged);
  }

  void start_at(const double* w, std::size_t size, const double* biases) override {
    resize(size);
    now.bias = biases[0];
    for (std::size_t i = 0; i < size; ++i) v[i] = static_cast<Real>(w[i]);
    weight_bound_ = largest_weight();
    if (!(weight_bound_ <= limit_)) throw InputError("a weight to start at is larger than the model can hold");
    sum_up_norm();
  }

  // w <- -w: swaps the two classes.
  void negate() {
    // 0 - v, not -v: 0 stays 0, so negating twice changes no bit.
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0 - v[i];
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = 0 - u[i];
    now.bias = 0 - now.bias;
    now.bias_sum = 0 - now.bias_sum;
  }

  double weight_bound() const { return weight_bound_; }
  double largest_weight() const override {
    double largest = std::abs(now.bias);
    for (std::size_t i = 0; i < v.size(); ++i) largest = std::max(largest, std::abs(weight(i, 0, false)));
    return largest;
  }
  // Call this after a state is restored. The bound of a file may be wrong, so it is checked.
  void check_restored(double bound) {
    weight_bound_ = std::max(bound, largest_weight());
    count_filled();
  }

  // The state, public for saving and restoring.
  WeightScalars now;
  Buffer<Real> v;
  Buffer<double> u;

 private:
  double averaged_sum(std::size_t i) const { return now.alpha * static_cast<double>(v[i]) + u[i]; }

  // |x - w|^2 = sum over the stored values of (x_i - w_i)^2, plus the squares of w in the other columns.
  template <class WeightAt>
  Reading distance(const Instance& x, const WeightAt& weight, double scale, double norm2,
                   std::int64_t filled, double bias) const {
    return visit(x, [&](auto features) {
      if (!in_order(features)) return Reading{0, 0, 0, 0, false};
      double near = 0, seen = 0, square = 0;
      std::int64_t met = 0;
      for (std::size_t j = 0; j < features.size; ++j) {
        const double value = features.value(j), w = scale * weight(features.column(j));
        near += (value - w) * (value - w);
        seen += w * w;
        met += w != 0;
        square += value * value;
      }
      const bool all_met = met == filled || features.size == v.size();
      const double elsewhere = all_met ? 0 : norm2_elsewhere(features, weight, scale, norm2, seen);
      const double gap = constant_ - bias;
      const double plain = near + elsewhere + x.unseen;
      return Reading{plain + gap * gap, plain, 1.0, square + x.unseen};
    });
  }

  // The squared norm of w in the columns that x does not have, as a difference of norms. Where that would cancel (one
  // feature much larger than all others), it is summed directly.
  template <class Features, class WeightAt>
  double norm2_elsewhere(const Features& x, const WeightAt& weight, double scale, double norm2,
                         double seen) const {
    const double difference = std::max(0.0, norm2 - seen);
    if (difference > 1e-6 * norm2) return difference;
    double sum = 0;
    std::size_t j = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const bool stored = j < x.size && x.column(j) == i;
      j += stored;
      if (!stored) sum += (scale * weight(i)) * (scale * weight(i));
    }
    return sum;
  }

  void count_filled() {
    now.filled = 0;
    for (std::size_t i = 0; reads_distances_ && i < v.size(); ++i) now.filled += v[i] != 0;
  }

  // Moves v, and updates u and the norm of w.
  template <class Features>
  HINGE_APART void move_and_follow(const Features& x, double step) {
    double seen = 0, fresh = 0;
    for (std::size_t j = 0; j < x.size; ++j) {
      const std::size_t i = x.column(j);
      const double before = static_cast<double>(v[i]);
      v[i] = static_cast<Real>(before + step * x.value(j));
      const double after = static_cast<double>(v[i]);
      if (averaging_) u[i] -= now.alpha * (after - before);
      now.filled += (after != 0) - (before != 0);
      seen += before * before;
      fresh += after * after;
    }
    if (!reads_distances_) return;
    const double scale2 = now.scale * now.scale;
    const double elsewhere = x.size == v.size() ? 0 : std::max(0.0, now.norm2 - scale2 * seen);
    now.norm2 = elsewhere + scale2 * fresh;
    now.work += static_cast<std::int64_t>(x.size);  // amortised: recomputing costs O(values read)
    if (now.work >= static_cast<std::int64_t>(v.size())) sum_up_norm();
  }

  void sum_up_norm() {
    now.norm2 = 0;
    now.work = 0;
    count_filled();
    for (std::size_t i = 0; reads_distances_ && i < v.size(); ++i) {
      const double w = now.scale * static_cast<double>(v[i]);
      now.norm2 += w * w;
    }
  }

  double bytes_each() const override { return sizeof(Real) + (averaging_ ? sizeof(double) : 0); }

  // Every weight stays below `largest`, and v = w/scale in the range of Real.
  static constexpr double largest = static_cast<double>(std::numeric_limits<Real>::max()) / 8;
  static constexpr double smallest_scale = sizeof(Real) == 4 ? 0x1p-32 : 0x1p-256;

  void shrink(double decay) {
    now.norm2 *= decay * decay;
    now.bias *= decay;
    now.scale *= decay;
    // The average's alpha * v and u cancel if v = w/scale is large: fold before digits are lost.
    const bool cancels = averaging_ && now.alpha > 64 * now.scale * static_cast<double>(now.tallied);
    if (now.scale >= smallest_scale && !cancels) return;
    if (journaling_) copy_all();
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (averaging_) u[i] = averaged_sum(i);
      v[i] = static_cast<Real>(now.scale * static_cast<double>(v[i]));
    }
    now.alpha = 0;
    now.scale = 1;
    sum_up_norm();
  }

  // What moves have overwritten: the instance of each move, and the old values in its columns.
  struct Journal {
    std::vector<Instance> moved;
    std::size_t noted = 0;  // how many values; v and u only grow, and are reused
    std::vector<Real> v;
    std::vector<double> u;
    std::vector<std::vector<std::int64_t>> columns;  // of transient instances
    void clear() {
      moved.clear();
      noted = 0;
      columns.clear();
    }
  };

  // Where the move records the old v; nullptr if recording is unnecessary.
  HINGE_APART Real* journal(Instance x) {
    if (x.size == 0) return nullptr;
    const std::size_t at = journal_.noted, end = at + x.size;
    if (end > v.size()) {  // the same rows are visited many times
      copy_all();
      return nullptr;
    }
    if (end > journal_.v.size()) journal_.v.resize(std::max(end, 2 * at));
    if (averaging_ && end > journal_.u.size()) journal_.u.resize(journal_.v.size());
    if (x.transient) {
      const auto* columns = static_cast<const std::int64_t*>(x.columns);
      journal_.columns.emplace_back(columns, columns + x.size);
    }
    journal_.moved.push_back(x);  // nothing throws from here on: what is not recorded has not moved
    if (x.transient) journal_.moved.back().columns = journal_.columns.back().data();
    journal_.noted = end;
    if (follows_) visit(x, [&](const auto& features) { note(features, at); });
    return journal_.v.data() + at;
  }
  template <class Features>
  void note(const Features& x, std::size_t at) {
    for (std::size_t j = 0; j < x.size; ++j) journal_.v[at + j] = v[x.column(j)];
    for (std::size_t j = 0; averaging_ && j < x.size; ++j) journal_.u[at + j] = u[x.column(j)];
  }
  void undo(Buffer<Real>& old_v, Buffer<double>& old_u) const {
    std::size_t at = journal_.noted;
    for (auto x = journal_.moved.rbegin(); x != journal_.moved.rend(); ++x) {
      at -= x->size;
      visit(*x, [&](const auto& features) {
        for (std::size_t j = 0; j < features.size; ++j) {
          old_v[features.column(j)] = journal_.v[at + j];
          if (averaging_) old_u[features.column(j)] = journal_.u[at + j];
        }
      });
    }
  }
  void copy_all() {
    copied_v_ = v;
    copied_u_ = u;
    undo(copied_v_, copied_u_);
    copied_ = true;
    journaling_ = false;
  }

  Bias bias_;
  bool has_bias_;  // whether the bias is part of products
  bool averaging_;
  bool follows_;  // whether u or the norm must be updated along with v

  bool journaling_ = false;
  bool copied_ = false;
  bool all_zero_ = false;  // at the start of the batch
  WeightScalars before_;
  double weight_bound_before_ = 0;
  Journal journal_;
  // The next batch of this thread, for any learner, reuses the memory of a journal.
  static inline thread_local Journal spare_;
  static constexpr std::size_t largest_spare = std::size_t{1} << 20;
  Buffer<Real> copied_v_;
  Buffer<double> copied_u_;
};

}  // namespace hinge
