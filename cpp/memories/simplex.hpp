// Weights on a simplex, in the geometry of relative entropy: multiplicative updates (N03 section 6, S13.6).
//
//     signed     w_i = scale (p+_i - p-_i),  (p+, p-) a distribution: the features x and -x (EG+-)
//     unsigned   w_i = scale p_i,            p a distribution
// A move by `amount` along x is p_i <- p_i exp(scale amount x_i)/Z. theta is the sum of the exponents:
// p+-_i = exp(+-theta_i)/Z. So a move adds to theta what other memories add to w, features that an instance does not
// have cost nothing (lazy normalisation), underflow is never permanent, and a feature that was never seen has
// theta = 0, its initial weight. All lanes and their bias coordinates (intercepts, thresholds) share one simplex.
//
// The size of a direction v is q = (scale range(v)/2)^2, where the range includes -v if weights are signed. Then
//     2 KL(u||p) - 2 KL(u||p') >= tau (2 l - tau q - 2 l*)     (Hoeffding's inequality),
// the master inequality of S2 with twice the relative entropy in place of the squared distance: all steps of step.hpp
// apply, and 'pa' is N03's tau = 4 l/range^2.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "arithmetic/buffer.hpp"
#include "arithmetic/exponential.hpp"
#include "memory.hpp"
#include "arithmetic/sums.hpp"
#include "arithmetic/undo.hpp"

namespace hinge {

// All scalars. A rollback restores a copy; a model file contains all of them.
struct SimplexScalars {
  double alpha = 0;  // for the average: A = alpha (exp(theta) - exp(-theta)) + u
  double shift = 0;  // subtracted from all exponents
  double mass = 0;   // the sum of exp(+-theta - shift) over the coordinates with theta != 0
  double doubt = 0;  // a bound on the rounding error of `mass`
  std::int64_t touched = 0;  // the number of these coordinates
  std::int64_t tallied = 0;
  std::int64_t work = 0;  // coordinates written since the mass was last recomputed
};

class Simplex final : public Memory, public Sizes {
 public:
  struct Kind {
    double scale = 1;
    bool is_signed = true;
    bool paper = false;    // the sizes as printed in N03 (instances must be nonnegative)
    double constant = 0;   // the value of the bias coordinates in every instance
    bool shared = false;   // as in Lanes: one w for all lanes, which differ only in their bias coordinates
    bool sorted = false;
  };
  Simplex(std::size_t lanes, Kind kind, bool averaging, bool distances)
      : Memory(largest, kind.constant, distances), kind_(kind), averaging_(averaging) {
    widen(lanes);
  }

  std::size_t dimension() const override { return columns_; }
  std::size_t lanes() const override { return biases.size(); }

  std::size_t bytes() const override { return theta.bytes() + u.bytes(); }
  void check_room(std::size_t dimension) const override { check_bytes(dimension, held()); }

  void resize(std::size_t dimension) override;
  // The number of weights per column.
  std::size_t held() const { return kind_.shared ? 1 : lanes(); }
  // New lanes start at the initial weight; dropped lanes must never have moved.
  void widen(std::size_t count);
  // Continues a learner of two classes: theta for one class, -theta for the other, each with half of the weights.
  void start_from(const Simplex& one);

  Reading read(const Instance& x, Reads reads, double* scores) const override;

  Reading read_average(const Instance& x, Reads reads, double* scores) const override;

  // Weights cannot overflow; theta has a bound, like the weights of other memories.
  void admit(double amount, double /*decay*/, double square) override;

  void move(const double* amounts, double /*decay*/, const Instance& x) override;
  void move_along(const double* /*amounts*/, const Instance& /*direction*/, double /*bias_value*/) override {
    throw std::logic_error("the simplex has one geometry");
  }

  void tally() override {
    now.alpha += unit();
    now.tallied += 1;
  }

  void begin(std::size_t /*stored*/) override {
    before_ = {now, biases, bias_us, weight_bound_};
    undo_theta_.begin();
    undo_u_.begin();
  }
  void commit() override {
    undo_theta_.commit();
    undo_u_.commit();
  }
  void rollback() override {
    undo_theta_.rollback();
    undo_u_.rollback();
    columns_ = theta.size() / held();
    now = before_.now;
    biases = before_.biases;
    bias_us = before_.bias_us;
    weight_bound_ = before_.weight_bound;
    raises_ = false;
    before_growth_ = {};  // of a round in this batch: there is no growth to undo
  }

  double weight(std::size_t column, std::size_t lane, bool averaged) const override {
    const std::size_t place = column * held() + (kind_.shared ? 0 : lane);
    if (!averaged || now.tallied == 0) return unit() * up(theta[place]);
    return summed(place) / static_cast<double>(now.tallied);
  }
  double bias(std::size_t lane, bool averaged) const override {
    if (kind_.constant == 0) return 0;
    if (!averaged || now.tallied == 0) return unit() * up(biases[lane]);
    return (now.alpha * up(biases[lane]) + bias_us[lane]) / static_cast<double>(now.tallied);
  }

  // Starts at the distribution with these weights that is nearest to the uniform one. Signed:
  // w_i = scale c (e^theta - e^-theta), where c makes the masses sqrt(w_i^2/scale^2 + 4 c^2) add up to 1.
  void start_at(const double* w, std::size_t size, const double* /*biases*/) override;

  // Swaps the two classes.
  void negate();

  // ---- the sizes of constraints ----

  const Sizes* sizes(const Instance& x, double q) override;
  double between(std::size_t /*r*/, std::size_t /*s*/) const override { return q_; }
  double pair(double q) const override { return q; }
  double threshold(double q) const override { return q; }
  double moved(const double* amounts, std::size_t count) const override;

  bool projects() const override { return true; }
  double project(std::size_t r, std::size_t s, double wanted, double cap) const override;
  double project(std::size_t lane, double side, double wanted, double cap) const override;

  double weight_bound() const { return weight_bound_; }
  double largest_weight() const override {
    double largest = largest_theta();
    for (std::size_t i = 0; kind_.is_signed && i < theta.size(); ++i) largest = std::max(largest, -theta[i]);
    for (std::size_t r = 0; kind_.is_signed && r < lanes(); ++r) largest = std::max(largest, -biases[r]);
    return largest;
  }
  // Call this after a state is restored. The mass and the bound of a file may be wrong, so they are checked.
  void check_restored(double bound);

  // The state, public for saving and restoring.
  SimplexScalars now;
  Buffer<double> theta, u;
  std::vector<double> biases, bias_us;  // theta and u of the bias coordinates

 private:
  static constexpr double largest = 1e300;
  static constexpr double most_above_shift = 300;  // exp(300)^2 is still finite

  std::size_t coordinates() const { return columns_ * held() + (kind_.constant != 0 ? lanes() : 0); }
  // The weight of a coordinate, and its share of the mass, both multiplied by Z/scale.
  double up(double its_theta) const {
    if (kind_.is_signed && its_theta == 0) return 0;
    const double plus = exponential_anywhere(its_theta - now.shift);
    return kind_.is_signed ? plus - exponential_anywhere(-its_theta - now.shift) : plus;
  }
  double mass(double its_theta) const {
    const double plus = exponential_anywhere(its_theta - now.shift);
    return kind_.is_signed ? plus + exponential_anywhere(-its_theta - now.shift) : plus;
  }
  // Z. Coordinates that were never touched have a known mass, so new features and lanes need not be written.
  double total() const {
    const std::int64_t untouched = static_cast<std::int64_t>(coordinates()) - now.touched;
    return untouched == 0 ? now.mass : now.mass + static_cast<double>(untouched) * mass(0);
  }
  double unit() const { return coordinates() == 0 ? 0 : kind_.scale / total(); }
  double summed(std::size_t place) const { return now.alpha * up(theta[place]) + u[place]; }

  // The scores of all lanes, and q.
  template <class At, class BiasAt>
  Reading products(const Instance& x, double* scores, double share, const At& at, const BiasAt& bias_at) const;

  // |x - w|^2. Every weight contributes to the direction (x - w)/|x - w|: O(columns).
  template <class At>
  Reading distance(const Instance& x, const At& at) const;

  // The minimum and maximum of the coordinates of a direction.
  struct Extremes {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    void meet(double value) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
    double largest() const { return high < low ? 0 : std::max(std::abs(low), std::abs(high)); }
    double half_range(bool with_opposite) const { return with_opposite || high < low ? largest() : (high - low) / 2; }
  };

  template <class Features>
  void push(const Features& x, const double* amounts);

  // Sorts thresholds that have crossed.
  void sort_biases();

  template <class Each>
  void note(std::size_t count, const Each& each) {
    undo_theta_.note(count, each);
    if (averaging_) undo_u_.note(count, each);
  }

  template <class Features>
  void look_at_gaps(const Features& x);
  // Uniclass: moves along x - w.
  void approach(double amount);

  void add(double& its_theta, double* its_u, double more);

  // Folds if alpha is so large that alpha (exp(theta) - exp(-theta)) and u would cancel in A after a move to
  // theta = `most`.
  void fold_before(double most) {
    const double largest_sum = 64 * kind_.scale * static_cast<double>(now.tallied);
    if (now.alpha * exponential_anywhere(most - now.shift) > largest_sum) fold();
  }
  // Moves alpha's part of the average's sums to u: then A = u.
  void fold();

  // Recomputes the mass, and shifts the exponents so that exp(`coming`) is finite. (The mass may vanish by that until
  // the next call: theta is unaffected.)
  void sum_up(double coming = -std::numeric_limits<double>::infinity());
  void sum_up_mass();

  // The mass of all coordinates except those of x in some lanes and the bias coordinates of these lanes (only `bias`,
  // if given). It is summed directly: O(columns).
  template <class Features, class Lane>
  double mass_beside(const Features& x, const Lane& is_meant, std::size_t bias = none) const;

  // S13.6: alpha wanted - log sum_i p_i exp(alpha z_i) has its maximum on [0, cap] where the margin after the step,
  // which grows with alpha, equals `wanted`, or at cap. `each` calls use(theta, value) for the coordinates of the
  // constraint. `others` sums the mass of all other coordinates, for when the difference would cancel.
  template <class Each, class Others>
  double projected(double wanted, double cap, const Each& each, const Others& others) const;
  template <class Each>
  double margin_after(double alpha, double rest, const Each& each) const;

  double bytes_each() const override { return sizeof(double) * (averaging_ ? 2 : 1); }
  double largest_theta() const;
  // Undoes the growth for columns that are dropped again.
  void come_back();

  Kind kind_;
  bool averaging_;
  std::size_t columns_ = 0;
  bool raises_ = false;  // the admitted move may take an exponent beyond what the shift allows
  Instance x_;           // the instance of this round
  double q_ = 0;
  std::vector<double> gaps_;  // x - w

  struct Before {
    SimplexScalars now;
    std::vector<double> biases, bias_us;
    double weight_bound = 0;
  };
  Before before_;
  struct BeforeGrowth {
    std::size_t columns = none;
    SimplexScalars now;
    double weight_bound = 0;
    Buffer<double> u;
    std::vector<double> bias_us;
  };
  BeforeGrowth before_growth_;
  Undo<double> undo_theta_{theta}, undo_u_{u};
};

}  // namespace hinge

#include "simplex/growing.hpp"
#include "simplex/moving.hpp"
#include "simplex/projection.hpp"
#include "simplex/reading.hpp"
