// Weights in an array, in the Euclidean geometry; one lane.
//
// Held as w = scale * v, so that a decay of all weights costs O(1) (uniclass). Besides the columns there
// is one extra coordinate, in which every instance has the value `constant`: the intercept is that
// coordinate with constant 1 and start 0; a learned radius (S7) is that coordinate with constant 0 and
// start B.
//
// The average of the vectors that predicted, kept lazily (S15): with A = sum of the tallied w,
//     A = alpha * v + u.     A tally adds scale to alpha; a change of v by d subtracts alpha * d from u.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "buffer.hpp"
#include "memory.hpp"
#include "sums.hpp"

namespace hinge {

// How the extra coordinate takes part.
struct Extra {
  double constant = 0;   // its value in every instance
  bool counted = true;   // whether constant^2 counts in q (scikit-learn leaves it out)
  double rate = 1;       // its moves are scaled by this (scikit-learn: 0.01 for sparse data)
};

// Everything but the arrays; copied whole for a rollback, saved whole in a model file.
struct WeightScalars {
  double scale = 1;
  double alpha = 0;
  double extra = 0;
  double extra_sum = 0;
  double norm2 = 0;      // |w|^2 without the extra coordinate; kept for distances only
  double reach = 0;      // an upper bound of every |weight|
  std::int64_t tallied = 0;
  std::int64_t work = 0;  // values read since norm2 was last summed up afresh
};

template <class Real>
class Weights final : public Memory {
 public:
  Weights(Extra extra, double extra_start, bool averaging, bool distances)
      : extra_(extra), averaging_(averaging), distances_(distances) {
    now.extra = extra_start;
    now.reach = std::abs(extra_start);
  }

  std::size_t dimension() const override { return v.size(); }

  void resize(std::size_t dimension) override {
    v.resize(dimension);
    if (averaging_) u.resize(dimension);
  }

  Reading read(const Instance& x, Reads reads) const override {
    const InArray<Real> weight{v.data()};
    if (reads == Reads::distance) return distance(x, weight, now.scale, now.norm2, now.extra);
    return visit(x, [&](auto features) {
      const Sums s = sums(weight, features);
      const double score = now.scale * s.product + now.extra * extra_.constant;
      return Reading{score, score, s.square + (extra_.counted ? extra_.constant * extra_.constant : 0),
                     s.square};
    });
  }

  Reading read_average(const Instance& x, Reads reads) const override {
    if (now.tallied == 0) return read(x, reads);
    const double share = 1.0 / static_cast<double>(now.tallied);
    const auto weight = [this](std::size_t i) { return averaged_sum(i); };
    if (reads == Reads::distance) {  // the norm of the average is not kept: O(dimension)
      double norm2 = 0;
      for (std::size_t i = 0; i < v.size(); ++i) norm2 += (share * weight(i)) * (share * weight(i));
      return distance(x, weight, share, norm2, now.extra_sum * share);
    }
    return visit(x, [&](auto features) {
      const Sums s = sums(weight, features);
      const double score = share * (s.product + now.extra_sum * extra_.constant);
      return Reading{score, score, 0, s.square};
    });
  }

  // Every weight stays below `largest`, and v = w/scale within the range of Real.
  void admit(const double* amounts, double decay, double square) override {
    const double step = std::abs(amounts[0]) * std::max(std::sqrt(square), extra_.constant);
    double reach = decay * now.reach + step;
    const double limit = distances_ ? largest * smallest_scale : largest;
    if (!(reach <= limit)) {  // the bound may be loose: look
      double weight = std::abs(now.extra);
      for (std::size_t i = 0; i < v.size(); ++i)
        weight = std::max(weight, std::abs(now.scale * static_cast<double>(v[i])));
      reach = decay * weight + step;
      if (!(reach <= limit))
        throw Refused("the step would make a weight larger than the model can hold (dtype " +
                      std::string(sizeof(Real) == 4 ? "float32" : "float64") + ")");
    }
    now.reach = reach;
  }

  void move(const double* amounts, double decay, const Instance& x) override {
    const double amount = amounts[0];
    if (decay != 1) shrink(decay);
    const double step = amount / now.scale;
    visit(x, [&](auto features) {
      if (journaling_) journal(features);
      Real* w = v.data();
      if (!averaging_ && !distances_) {
        for (std::size_t j = 0; j < features.size; ++j) {
          Real& weight = w[features.column(j)];
          weight = static_cast<Real>(static_cast<double>(weight) + step * features.value(j));
        }
      } else {
        move_and_follow(features, step);
      }
    });
    now.extra += extra_.rate * amount * extra_.constant;
  }

  void tally() override {
    now.alpha += now.scale;
    now.extra_sum += now.extra;
    now.tallied += 1;
  }

  // Fewer values than columns: note what each move overwrites. More: a copy costs less than reading them.
  void begin(std::size_t stored) override {
    before_ = now;
    journaling_ = stored < v.size();
    if (!journaling_) copy_all();
  }
  void commit() override {
    journaling_ = copied_ = false;
    journal_.clear();
    copied_v_ = Buffer<Real>();
    copied_u_ = Buffer<double>();
  }
  void rollback() override {
    if (copied_) {
      v = std::move(copied_v_);
      u = std::move(copied_u_);
    } else {
      undo(v, u);
    }
    now = before_;
    commit();
  }

  // w_i, or that of the average; and the same of the extra coordinate.
  double weight(std::size_t i, bool averaged) const override {
    if (!averaged || now.tallied == 0) return now.scale * static_cast<double>(v[i]);
    return averaged_sum(i) / static_cast<double>(now.tallied);
  }
  double extra(bool averaged) const override {
    if (!averaged || now.tallied == 0) return now.extra;
    return now.extra_sum / static_cast<double>(now.tallied);
  }

  void start_at(const double* w, std::size_t size, double extra) override {
    resize(size);
    now.extra = extra;
    now.reach = std::abs(extra);
    for (std::size_t i = 0; i < size; ++i) {
      v[i] = static_cast<Real>(w[i]);
      now.reach = std::max(now.reach, std::abs(w[i]));
    }
    sum_up_norm();
  }

  void negate() override {
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = -v[i];
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = -u[i];
    now.extra = -now.extra;
    now.extra_sum = -now.extra_sum;
  }

  // The state, open to be saved and restored.
  WeightScalars now;
  Buffer<Real> v;
  Buffer<double> u;

 private:
  double averaged_sum(std::size_t i) const { return now.alpha * static_cast<double>(v[i]) + u[i]; }

  // |x - w|^2 = sum over the stored values of (x_i - w_i)^2, plus what w has in the other columns.
  template <class WeightAt>
  Reading distance(const Instance& x, const WeightAt& weight, double scale, double norm2,
                   double extra) const {
    return visit(x, [&](auto features) {
      double near = 0, seen = 0, square = 0;
      for (std::size_t j = 0; j < features.size; ++j) {
        const double value = features.value(j), w = scale * weight(features.column(j));
        near += (value - w) * (value - w);
        seen += w * w;
        square += value * value;
      }
      const double elsewhere = features.size == v.size() ? 0 : std::max(0.0, norm2 - seen);
      const double gap = extra_.constant - extra;
      const double plain = near + elsewhere + x.unseen;
      return Reading{plain + gap * gap, plain, 1.0, square + x.unseen};
    });
  }

  // Moves v, and keeps the average's u and the norm of w in step.
  template <class Features>
  void move_and_follow(const Features& x, double step) {
    double seen = 0, fresh = 0;
    for (std::size_t j = 0; j < x.size; ++j) {
      const std::size_t i = x.column(j);
      const double before = static_cast<double>(v[i]);
      v[i] = static_cast<Real>(before + step * x.value(j));
      const double after = static_cast<double>(v[i]);
      if (averaging_) u[i] -= now.alpha * (after - before);
      seen += before * before;
      fresh += after * after;
    }
    if (!distances_) return;
    const double scale2 = now.scale * now.scale;
    const double elsewhere = x.size == v.size() ? 0 : std::max(0.0, now.norm2 - scale2 * seen);
    now.norm2 = elsewhere + scale2 * fresh;
    now.work += static_cast<std::int64_t>(x.size);  // so that summing up costs O(values read)
    if (now.work >= static_cast<std::int64_t>(v.size())) sum_up_norm();
  }

  void sum_up_norm() {
    now.norm2 = 0;
    now.work = 0;
    if (!distances_) return;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double w = now.scale * static_cast<double>(v[i]);
      now.norm2 += w * w;
    }
  }

  static constexpr double largest = static_cast<double>(std::numeric_limits<Real>::max()) / 8;
  static constexpr double smallest_scale = sizeof(Real) == 4 ? 0x1p-32 : 0x1p-256;

  void shrink(double decay) {
    now.norm2 *= decay * decay;
    now.extra *= decay;
    now.scale *= decay;
    if (now.scale >= smallest_scale) return;
    if (journaling_) copy_all();
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (averaging_) u[i] = averaged_sum(i);
      v[i] = static_cast<Real>(now.scale * static_cast<double>(v[i]));
    }
    now.alpha = 0;
    now.scale = 1;
  }

  struct Overwritten {
    std::size_t column;
    double v, u;
  };

  template <class Features>
  void journal(const Features& x) {
    for (std::size_t j = 0; j < x.size; ++j) {
      const std::size_t i = x.column(j);
      journal_.push_back({i, static_cast<double>(v[i]), averaging_ ? u[i] : 0});
    }
  }
  void undo(Buffer<Real>& old_v, Buffer<double>& old_u) const {
    for (auto entry = journal_.rbegin(); entry != journal_.rend(); ++entry) {
      old_v[entry->column] = static_cast<Real>(entry->v);
      if (averaging_) old_u[entry->column] = entry->u;
    }
  }
  void copy_all() {
    copied_v_ = v;
    copied_u_ = u;
    undo(copied_v_, copied_u_);
    copied_ = true;
    journaling_ = false;
  }

  Extra extra_;
  bool averaging_;
  bool distances_;

  bool journaling_ = false;
  bool copied_ = false;
  WeightScalars before_;
  std::vector<Overwritten> journal_;
  Buffer<Real> copied_v_;
  Buffer<double> copied_u_;
};

}  // namespace hinge
