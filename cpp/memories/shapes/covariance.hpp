// A full covariance, held as S = U D U', U unit upper triangular, D diagonal and positive.
//
// Bierman's update of the factors. With f = U'x, and for the columns j = 0, 1, ... in turn,
//     a_j = a_{j-1} + d_j f_j^2,  a_{-1} = 1/precision,     d_j <- d_j a_{j-1}/a_j,
//     u_j <- u_j - (f_j/a_{j-1}) k_{j-1},                    k_j = k_{j-1} + d_j f_j u_j   (old d_j and u_j),
// S^-1 has got precision * x x', and k_n = Sx, x'Sx = a_n - a_{-1} by the old S. D is only ever multiplied by positive
// numbers: S stays symmetric and positive whatever comes, also where S - gg'/(r + x'Sx) would cancel.
// f_j needs no column but the j-th: all of it is one pass, half a matrix read and written once. (CW must know x'Sx
// before it knows the precision: one pass more, which reads.)
//
// Column j of U lies in a row of memory, four of them in a block, padded to whole quads: block b has four rows of
// 4 (b + 1) numbers. A new feature is a new row at the end. Each block knows its first quad that is not 0, and an
// instance its quads that are not: sparse instances cost what their non-zeros touch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "../arithmetic/buffer.hpp"
#include "../arithmetic/lane_sums.hpp"
#include "shape.hpp"
#include "../arithmetic/undo.hpp"

namespace hinge {

// An instance as the passes read it: dense, with a list of its quads that are not 0.
struct Spread {
  Buffer<double> x;
  std::vector<std::size_t> quads;

  void take(const Instance& instance, double constant, std::size_t blocks) {
    for (const std::size_t quad : quads) std::fill_n(x.data() + 4 * quad, 4, 0.0);
    quads.clear();
    x.resize(4 * blocks);
    const std::size_t first = constant == 0 ? 0 : 1;
    if (first == 1) put(0, constant);
    visit(instance, [&](const auto& features) {
      for (std::size_t j = 0; j < features.size; ++j)
        if (features.value(j) != 0) put(features.column(j) + first, features.value(j));
    });
  }

 private:
  void put(std::size_t coordinate, double value) {
    if (quads.empty() || quads.back() != coordinate / 4) quads.push_back(coordinate / 4);
    x[coordinate] = value;
  }
};

// Four columns of U, in four rows of memory.
template <class Real>
struct BlockOf {
  Real* row[4];
  std::size_t number;

  static BlockOf at(Real* u, std::size_t b) {
    Real* const rows = u + 8 * b * (b + 1);
    const std::size_t width = 4 * (b + 1);
    return {{rows, rows + width, rows + 2 * width, rows + 3 * width}, b};
  }
};

// f = U'x of four columns, one quad of x after the other.
struct Dots {
  Quad sums[4] = {};

  template <class Real>
  HINGE_INLINE void add(const BlockOf<Real>& block, const double* x, std::size_t quad) {
    Quad values, weights;
    load_lanes(x + 4 * quad, values);
    for (int r = 0; r < 4; ++r) {
      load_lanes(block.row[r] + 4 * quad, weights);
      sums[r] = sums[r] + weights * values;
    }
  }
  // With the block's own coordinates, in which U is 1 on its diagonal.
  template <class Real>
  HINGE_INLINE void finish(const BlockOf<Real>& block, const double* x, double* f) const {
    const double* own = x + 4 * block.number;
    for (int r = 0; r < 4; ++r) {
      f[r] = (sums[r][0] + sums[r][1]) + (sums[r][2] + sums[r][3]);
      for (int i = 0; i < r; ++i) f[r] += block.row[r][4 * block.number + static_cast<std::size_t>(i)] * own[i];
      f[r] += own[r];
    }
  }
};

// The quads of x that a block meets: those from its first one on, up to its own. Blocks are met one after the other.
struct Met {
  const std::size_t* quads = nullptr;
  std::size_t count = 0;
  bool own = false;  // whether x is not 0 in the block's own coordinates

  explicit Met(const Spread& spread) : all_(&spread.quads) {}

  HINGE_INLINE void meet(std::size_t first, std::size_t b) {
    const std::vector<std::size_t>& all = *all_;
    while (below_ < all.size() && all[below_] < b) ++below_;
    own = below_ < all.size() && all[below_] == b;
    count = 0;
    if (below_ == 0 || all[below_ - 1] < first) return;
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(below_);
    const auto begin = first == 0 ? all.begin() : std::lower_bound(all.begin(), end, first);
    quads = all.data() + (begin - all.begin());
    count = static_cast<std::size_t>(end - begin);
  }
  bool any() const { return count > 0 || own; }
  // Whether x is 0 in no quad up to b.
  bool all_up_to(std::size_t b) const { return below_ + own == b + 1; }

  template <class Real>
  HINGE_INLINE void dots(const BlockOf<Real>& block, const double* x, double* f) const {
    Dots dots;
    if (count > 0 && quads[count - 1] - quads[0] + 1 == count)
      for (std::size_t quad = quads[0]; quad < quads[0] + count; ++quad) dots.add(block, x, quad);
    else
      for (std::size_t k = 0; k < count; ++k) dots.add(block, x, quads[k]);
    dots.finish(block, x, f);
  }

 private:
  const std::vector<std::size_t>* all_;
  std::size_t below_ = 0;  // how many quads of x come before the block's own
};

// The update of four columns, and of k, from the quad `first` on: u <- u + shift k, k <- k + share u, column by column.
struct Change {
  double shift[4], share[4];
  Quad shifts[4], shares[4];

  HINGE_INLINE void spread() {
    for (int r = 0; r < 4; ++r) {
      shifts[r] = Quad{shift[r], shift[r], shift[r], shift[r]};
      shares[r] = Quad{share[r], share[r], share[r], share[r]};
    }
  }
  HINGE_INLINE void quad(const BlockOf<double>& block, double* k, std::size_t i) const {
    Quad gain, u;
    load_lanes(k + i, gain);
    for (int r = 0; r < 4; ++r) {
      load_lanes(block.row[r] + i, u);
      const Quad moved = u + shifts[r] * gain;
      gain = gain + shares[r] * u;
      std::memcpy(block.row[r] + i, &moved, sizeof moved);
    }
    std::memcpy(k + i, &gain, sizeof gain);
  }
  // The block's own coordinates.
  HINGE_INLINE void finish(const BlockOf<double>& block, double* k) const {
    double* own = k + 4 * block.number;
    for (int r = 0; r < 4; ++r) {
      for (int i = 0; i < r; ++i) {
        double& u = block.row[r][4 * block.number + static_cast<std::size_t>(i)];
        const double before = u;
        u = before + shift[r] * own[i];
        own[i] += share[r] * before;
      }
      own[r] += share[r];
    }
  }
  HINGE_INLINE void apply(const BlockOf<double>& block, std::size_t first, double* k) {
    spread();
    for (std::size_t i = 4 * first; i < 4 * block.number; i += 4) quad(block, k, i);
    finish(block, k);
  }
  // The same from the first quad on, and f of the next block, whose columns come from memory meanwhile.
  HINGE_INLINE void apply_and_look_ahead(const BlockOf<double>& block, const BlockOf<double>& next, const double* x,
                                         double* k, double* f) {
    spread();
    Dots dots;
    for (std::size_t i = 0; i < 4 * block.number; i += 4) {
      quad(block, k, i);
      dots.add(next, x, i / 4);
    }
    dots.add(next, x, block.number);
    dots.finish(next, x, f);
    finish(block, k);
  }
};

// Quads, from the one to before the other.
struct Range {
  std::size_t begin = 0, end = 0;
};

// The arrays of a covariance, and the passes over them.
struct Factored {
  std::size_t blocks;
  double* u;
  double* d;
  std::size_t* first;  // of each block: its first quad that is not 0

  HINGE_INLINE static double size(std::size_t blocks, const double* u, const double* d, const std::size_t* first,
                                  const Spread& spread, double* all_f) {
    double sum = 0;
    Met met(spread);
    for (std::size_t b = 0; b < blocks; ++b) {
      double f[4] = {};
      met.meet(first[b], b);
      if (met.any()) met.dots(BlockOf<const double>::at(u, b), spread.x.data(), f);
      for (int r = 0; r < 4; ++r) sum += d[4 * b + r] * f[r] * f[r];
      if (all_f != nullptr) std::copy_n(f, 4, all_f + 4 * b);
    }
    return sum;
  }

  // k is 0, and becomes U D f.
  HINGE_INLINE void product(const double* f, double* k) const {
    for (std::size_t b = 0; b < blocks; ++b) {
      Change change{};
      for (int r = 0; r < 4; ++r) change.share[r] = d[4 * b + r] * f[4 * b + r];
      change.apply(BlockOf<double>::at(u, b), first[b], k);
    }
  }

  // k is 0, and becomes Sx; `range` tells where it is not 0 any more.
  HINGE_INLINE double narrow(const Spread& spread, double precision, double* k, Range& range) const {
    double sum = 0, f[4];
    std::size_t from = blocks;  // the first quad in which k is not 0
    bool known = false;         // whether f is known already
    Met met(spread);
    const double start = 1 / precision;
    const double* const x = spread.x.data();
    for (std::size_t b = 0; b < blocks; ++b) {
      met.meet(first[b], b);
      if (!known && !met.any()) continue;
      const BlockOf<double> block = BlockOf<double>::at(u, b);
      if (!known) met.dots(block, x, f);
      known = false;
      if (f[0] == 0 && f[1] == 0 && f[2] == 0 && f[3] == 0) continue;  // in its range, but not met
      Change change{};
      for (int r = 0; r < 4; ++r) {
        double& variance = d[4 * b + r];
        const double before = start + sum;
        change.share[r] = variance * f[r];
        sum += change.share[r] * f[r];
        change.shift[r] = -f[r] / before;
        variance *= before / (start + sum);
      }
      from = first[b] = std::min({from, first[b], b});
      range = {from, b + 1};
      known = from == 0 && b + 1 < blocks && first[b + 1] == 0 && met.all_up_to(b);
      if (known)
        change.apply_and_look_ahead(block, BlockOf<double>::at(u, b + 1), x, k, f);
      else
        change.apply(block, from, k);
    }
    return sum;
  }

  // Calls use(begin, end) for the stretches of u that `narrow` would write.
  template <class Use>
  void each_written(const Spread& spread, const Use& use) const {
    std::size_t from = blocks;
    Met met(spread);
    for (std::size_t b = 0; b < blocks; ++b) {
      met.meet(first[b], b);
      if (!met.any()) continue;
      from = std::min({from, first[b], b});
      for (const double* row : BlockOf<double>::at(u, b).row)
        use(static_cast<std::size_t>(row - u) + 4 * from, static_cast<std::size_t>(row - u) + 4 * (b + 1));
    }
  }
};

#if defined(__x86_64__) && defined(__GNUC__)
HINGE_AVX2 inline double size_avx2(std::size_t blocks, const double* u, const double* d, const std::size_t* first,
                                   const Spread& spread, double* f) {
  return Factored::size(blocks, u, d, first, spread, f);
}
HINGE_AVX2 inline void product_avx2(const Factored& factored, const double* f, double* k) { factored.product(f, k); }
HINGE_AVX2 inline double narrow_avx2(const Factored& factored, const Spread& spread, double precision, double* k,
                                     Range& range) {
  return factored.narrow(spread, precision, k, range);
}
#endif

class Covariance final : public Shape {
 public:
  // `most`: the bytes that it may take.
  Covariance(double constant, double variance, double most) : Shape(constant, variance), most_(most) { resize(0); }

  void resize(std::size_t columns) override {
    const std::size_t size = columns + bias_count(), blocks = (size + 3) / 4;
    if (blocks > first_.size()) {
      if (const double bytes = bytes_of(blocks); bytes > most_)
        throw InputError("a full covariance of " + std::to_string(columns) + " features" +
                      (bias_count() == 0 ? "" : " and the intercept") + " needs " + in_words(bytes) +
                      ", the limit is " + in_words(most_) + " (max_covariance); geometry='diagonal' needs " +
                      in_words(8.0 * static_cast<double>(size)));
      u_.resize(8 * blocks * (blocks + 1));
      k_.resize(4 * blocks), f_.resize(4 * blocks);
    }
    d_.resize(4 * blocks, variance_);
    const std::size_t known = first_.size();
    first_.resize(blocks);
    for (std::size_t b = known; b < blocks; ++b) first_[b] = b;
    if (blocks < known) u_.resize(8 * blocks * (blocks + 1));
    columns_ = columns;
  }

  double size(const Instance& x) const override {
    thread_local Spread spread;  // several threads may ask
    spread.take(x, constant_, first_.size());
    return size_of(spread, nullptr);
  }
  double aim(const Instance& x) override {
    spread_.take(x, constant_, first_.size());
    const double sum = size_of(spread_, f_.data());
    const Factored factored = factored_();
    forget_direction();
    range_ = {0, first_.size()};
#if defined(__x86_64__) && defined(__GNUC__)
    has_avx2 ? product_avx2(factored, f_.data(), k_.data()) : factored.product(f_.data(), k_.data());
#else
    factored.product(f_.data(), k_.data());
#endif
    bias_ = bias_count() == 0 ? 0 : k_[0];
    return sum;
  }
  double narrow(const Instance& x, double precision) override {
    if (2 * x.size > columns_) u_.expect_use();  // sparse ones may leave most of it untouched
    spread_.take(x, constant_, first_.size());
    const Factored factored = factored_();
    if (in_batch_) note(factored);
    forget_direction();
#if defined(__x86_64__) && defined(__GNUC__)
    const double sum = has_avx2 ? narrow_avx2(factored, spread_, precision, k_.data(), range_)
                                : factored.narrow(spread_, precision, k_.data(), range_);
#else
    const double sum = factored.narrow(spread_, precision, k_.data(), range_);
#endif
    const double least = least_variance();
    for (std::size_t j = 4 * range_.begin; j < 4 * range_.end; ++j) d_[j] = std::max(d_[j], least);
    bias_ = bias_count() == 0 ? 0 : k_[0];
    return sum;
  }

  // Dense, or if most of it is 0 sparse.
  Instance direction(const Instance& /*x*/) const override {
    Instance g;
    g.values = k_.data() + bias_count();
    g.size = columns_;
    if (8 * (range_.end - range_.begin) > columns_) return g;
    values_.clear();
    places_.clear();
    for (std::size_t i = std::max(bias_count(), 4 * range_.begin); i < std::min(4 * range_.end, columns_ + bias_count()); ++i) {
      if (k_[i] == 0) continue;
      values_.push_back(k_[i]);
      places_.push_back(static_cast<std::int64_t>(i - bias_count()));
    }
    g.values = values_.data();
    g.columns = places_.data();
    g.limit = columns_;
    g.size = values_.size();
    g.layout = Layout::sparse64;
    g.transient = true;
    return g;
  }

  void begin() override {
    Shape::begin();
    undo_.begin();
    in_batch_ = true;
  }
  void commit() override {
    undo_.commit();
    in_batch_ = noted_ = false;
    before_ = {};
  }
  void rollback() override {
    Shape::rollback();
    undo_.rollback();
    if (noted_) {
      const std::size_t columns = columns_;
      d_ = std::move(before_.d);
      first_ = std::move(before_.first);
      u_.resize(8 * first_.size() * (first_.size() + 1));
      resize(columns);
    }
    commit();
  }

  std::vector<double> save() const override {
    const std::size_t size = columns_ + bias_count();
    std::vector<double> state{added_};
    state.insert(state.end(), d_.begin(), d_.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::size_t j = 0; j < size; ++j) state.insert(state.end(), row(j), row(j) + j);
    return state;
  }
  void restore(const double* state, std::size_t count, std::size_t columns) override {
    const std::size_t size = columns + bias_count();
    if (count != 1 + size + size * (size - (size > 0)) / 2) throw InputError("the covariance does not fit the learner");
    resize(columns);
    const double* from = state + 1;
    for (std::size_t j = 0; j < size; ++j)
      if (!(from[j] > 0 && from[j] <= variance_ * (1 + 1e-9))) throw InputError("a variance is not positive");
    std::copy_n(from, size, d_.begin());
    from += size;
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t i = 0; i < j; ++i, ++from) {
        if (!(std::abs(*from) <= largest_ratio)) throw InputError("the covariance is not one of a learner");
        row(j)[i] = *from;
        if (*from != 0) first_[j / 4] = std::min(first_[j / 4], i / 4);
      }
    if (!(state[0] >= 0 && state[0] <= largest_ratio / variance_))
      throw InputError("the covariance is not one of a learner");
    added_ = state[0];
    for (std::size_t j = 0; j < size; ++j)  // what it says of itself must be about what the variances say
      if (!(d_[j] >= least_variance() * (1 - 1e-6))) throw InputError("the covariance is not one of a learner");
  }
  std::size_t bytes() const override { return static_cast<std::size_t>(bytes_of(first_.size())); }

  Factors factors() const override {
    const std::size_t size = columns_ + bias_count();
    Factors factors{{d_.begin(), d_.begin() + static_cast<std::ptrdiff_t>(size)}, std::vector<double>(size * size)};
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t i = 0; i < j; ++i) factors.u[i * size + j] = row(j)[i];
      factors.u[j * size + j] = 1;
    }
    return factors;
  }

 private:
  // Exactly 1/d_j <= 1/variance + added: it is at most the j-th entry on the diagonal of S^-1. Numbers of very different
  // sizes may round d_j far below that; it is kept near it, as `least_size` takes for granted.
  double least_variance() const { return 1 / (1 / variance_ + 1e19 * added_); }

  static double bytes_of(std::size_t blocks) {
    return 64 * static_cast<double>(blocks) * static_cast<double>(blocks + 1);
  }
  static std::string in_words(double bytes) {
    const char* const units[] = {"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
    int unit = 0;
    for (; bytes >= 1000 && unit < 6; ++unit) bytes /= 1000;
    char text[32];
    std::snprintf(text, sizeof text, "%.4g %s", bytes, units[unit]);
    return text;
  }

  double* row(std::size_t j) { return BlockOf<double>::at(u_.data(), j / 4).row[j % 4]; }
  const double* row(std::size_t j) const { return BlockOf<const double>::at(u_.data(), j / 4).row[j % 4]; }
  Factored factored_() { return {first_.size(), u_.data(), d_.data(), first_.data()}; }
  double size_of(const Spread& spread, double* f) const {
#if defined(__x86_64__) && defined(__GNUC__)
    if (has_avx2) return size_avx2(first_.size(), u_.data(), d_.data(), first_.data(), spread, f);
#endif
    return Factored::size(first_.size(), u_.data(), d_.data(), first_.data(), spread, f);
  }
  // k is 0 again. (It may have been longer: before columns were given up.)
  void forget_direction() {
    std::fill(k_.data() + 4 * range_.begin, k_.data() + 4 * range_.end, 0.0);
    range_ = {};
  }
  // What the update is about to overwrite.
  void note(const Factored& factored) {
    if (!noted_) before_ = {d_, first_};
    noted_ = true;
    if (!undo_.noting()) return;
    std::size_t count = 0;
    factored.each_written(spread_, [&](std::size_t begin, std::size_t end) { count += end - begin; });
    undo_.note(count, [&](const auto& note_one) {
      factored.each_written(spread_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t place = begin; place < end; ++place) note_one(place);
      });
    });
  }

  double most_;
  std::size_t columns_ = 0;
  Buffer<double> u_;
  std::vector<double> d_;
  std::vector<std::size_t> first_;
  Spread spread_;
  Buffer<double> f_, k_;
  Range range_;  // where k_ is not 0
  mutable std::vector<double> values_;  // of a sparse direction, and its columns
  mutable std::vector<std::int64_t> places_;

  struct Before {
    std::vector<double> d;
    std::vector<std::size_t> first;
  };
  Before before_;
  bool in_batch_ = false, noted_ = false;
  Undo<double> undo_{u_};
};

}  // namespace hinge
