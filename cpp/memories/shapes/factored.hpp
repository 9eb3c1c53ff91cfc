// The passes over a full covariance S = U D U', U unit upper triangular, D diagonal and positive.
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
#include <cstddef>
#include <cstring>
#include <vector>

#include "../arithmetic/buffer.hpp"
#include "../arithmetic/lane_sums.hpp"
#include "../../data/instance.hpp"

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

  // k is 0, and becomes Sx; `range` becomes where it is not 0.
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

}  // namespace hinge
