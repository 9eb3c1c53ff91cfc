// Weights on a simplex, in the geometry of relative entropy: multiplicative updates (N03 section 6, S13.6).
//
//     signed     w_i = scale (p+_i - p-_i),  (p+, p-) a distribution: the features x and -x (EG+-)
//     unsigned   w_i = scale p_i,            p a distribution
// A move by `amount` along x is p_i <- p_i exp(scale amount x_i)/Z. Held as theta, the sum of what was in the exponents:
// p+-_i = exp(+-theta_i)/Z. So a move adds to theta as one of other memories adds to w, features that an instance has
// not cost nothing (lazy normalisation), nothing underflows for good, and a feature that was never seen has theta = 0,
// the weight of the start. All lanes are on one simplex, and so are their extra coordinates (intercepts, thresholds).
//
// The size of a direction v is q = (scale range(v)/2)^2, where -v counts if weights are signed: then
//     2 KL(u||p) - 2 KL(u||p') >= tau (2 l - tau q - 2 l*)     (Hoeffding's inequality),
// the master inequality of S2 with twice the relative entropy for the squared distance: every step of step.hpp can be
// taken, and 'pa' is N03's tau = 4 l/range^2.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "../rules/root.hpp"
#include "arithmetic/buffer.hpp"
#include "arithmetic/exponential.hpp"
#include "memory.hpp"
#include "arithmetic/sums.hpp"
#include "arithmetic/undo.hpp"

namespace hinge {

// Everything but the arrays; copied whole for a rollback, saved whole in a model file.
struct SimplexScalars {
  double alpha = 0;  // the average's: A = alpha (exp(theta) - exp(-theta)) + u
  double shift = 0;  // taken off all exponents
  double mass = 0;   // the sum of exp(+-theta - shift) over the coordinates with theta != 0
  double doubt = 0;  // what rounding may have done to it
  std::int64_t touched = 0;  // how many these are
  std::int64_t tallied = 0;
  std::int64_t work = 0;  // coordinates written since the mass was last summed up afresh
};

class Simplex final : public Memory, public Sizes {
 public:
  struct Kind {
    double scale = 1;
    bool is_signed = true;
    bool paper = false;    // the sizes as printed in N03 (instances must not be negative)
    double constant = 0;   // the value of the extra coordinates in every instance
    bool shared = false;   // as in Lanes: one w for all lanes, which differ in their extra coordinates
    bool sorted = false;
  };
  Simplex(std::size_t lanes, Kind kind, bool averaging, bool distances)
      : Memory(largest, kind.constant * kind.constant, distances), kind_(kind), averaging_(averaging) {
    widen(lanes);
  }

  std::size_t dimension() const override { return columns_; }
  std::size_t lanes() const override { return extras.size(); }

  std::size_t bytes() const override { return theta.bytes() + u.bytes(); }
  void check_room(std::size_t dimension) const override { check_bytes(dimension, held()); }

  void resize(std::size_t dimension) override {
    const std::size_t before = columns_;
    if (dimension > before) check_room(dimension);
    for (std::size_t i = dimension * held(); averaging_ && i < u.size(); ++i) u[i] = 0;  // given up
    if (averaging_) u.resize(dimension * held());
    theta.resize(dimension * held());
    columns_ = dimension;
    if (dimension < before) return come_back();
    if (kind_.is_signed || dimension == before) return;
    if (now.shift < 0) {  // a new weight would be infinite beside what was pushed down: the exponents are shifted anew
      before_growth_ = {before, now, reach_, u, extra_us};
      sum_up();
    }
    reach_ = std::max(reach_, 0.0);
    // Unsigned weights begin above 0, and the average of those that are new has nothing of earlier rounds.
    for (std::size_t i = before; i < columns_ && averaging_; ++i) u[i] = -now.alpha * up(0);
  }
  // How many weights a column has.
  std::size_t held() const { return kind_.shared ? 1 : lanes(); }
  // New lanes start at the weight of the start; lanes that are given up must never have moved.
  void widen(std::size_t count) {
    const std::size_t before = lanes();
    if (before > 0 && columns_ > 0 && !kind_.shared) {
      if (count > before) check_bytes(columns_, count);
      Buffer<double> wide_theta, wide_u;
      wide_theta.resize(columns_ * count);
      if (averaging_) wide_u.resize(columns_ * count);
      for (std::size_t i = 0; i < columns_; ++i)
        for (std::size_t r = 0; r < std::min(before, count); ++r) {
          wide_theta[i * count + r] = theta[i * before + r];
          if (averaging_) wide_u[i * count + r] = u[i * before + r];
        }
      theta = std::move(wide_theta);
      u = std::move(wide_u);
    }
    extra_us.resize(count);
    extras.resize(count);
  }
  // Goes on from a learner of two classes: theta for the one, -theta for the other, each with half of the weights.
  void start_from(const Simplex& one) {
    resize(one.dimension());
    const auto split = [](double value, double& low, double& high) {
      high = value;
      low = 0 - value;
    };
    for (std::size_t i = 0; i < columns_; ++i) {
      split(one.theta[i], theta[i * lanes()], theta[i * lanes() + 1]);
      if (averaging_) split(one.u[i] / 2, u[i * lanes()], u[i * lanes() + 1]);
    }
    split(one.extras[0], extras[0], extras[1]);
    split(one.extra_us[0] / 2, extra_us[0], extra_us[1]);
    now = one.now;
    now.alpha /= 2;
    reach_ = one.reach_;
    sum_up();
  }

  Reading read(const Instance& x, Reads reads, double* scores) const override {
    if (reads == Reads::distance)
      return distance(x, [&, share = unit()](std::size_t place) { return share * up(theta[place]); });
    double one = 0;
    double* const to = lanes() == 1 ? &one : scores;
    return products(x, to, unit(), [&](std::size_t place) { return up(theta[place]); },
                    [&](std::size_t lane) { return up(extras[lane]); });
  }

  Reading read_average(const Instance& x, Reads reads, double* scores) const override {
    if (now.tallied == 0) return read(x, reads, scores);
    const double share = 1 / static_cast<double>(now.tallied);
    if (reads == Reads::distance)
      return distance(x, [&](std::size_t place) { return share * summed(place); });
    double one = 0;
    double* const to = lanes() == 1 ? &one : scores;
    return products(x, to, share, [&](std::size_t place) { return summed(place); },
                    [&](std::size_t lane) { return now.alpha * up(extras[lane]) + extra_us[lane]; });
  }

  // Weights cannot overflow; theta is bounded as the weights of other memories are.
  void admit(double amount, double /*decay*/, double square) override {
    const double more = reads_distances_ ? kind_.scale : 0;  // |x - w| <= |x| + |w|
    const double length = std::sqrt(square) + more;
    Memory::admit(kind_.scale * amount, 1, length * length);
    if (reach_ > now.shift + most_above_shift)  // the bound may have become loose
      reach_ = look_for_reach() + kind_.scale * amount * std::sqrt(length * length + constant2_);
    raises_ = reach_ > now.shift + most_above_shift;
  }

  void move(const double* amounts, double /*decay*/, const Instance& x) override {
    if (reads_distances_) visit(x, [&](const auto& features) { look_at_gaps(features); });
    before_growth_ = {};
    if (raises_) sum_up(reach_);
    if (reads_distances_)
      approach(amounts[0]);
    else
      visit(x, [&](const auto& features) { push(features, amounts); });
    if (raises_) sum_up();  // by what has become of theta
    raises_ = false;
    if (kind_.sorted) sort_extras();
    if (now.work >= static_cast<std::int64_t>(coordinates()) || now.doubt > 1e-10 * total()) sum_up();
  }
  void move_along(const double* /*amounts*/, const Instance& /*direction*/, double /*beside*/) override {
    throw std::logic_error("the simplex has one geometry");
  }

  void tally() override {
    now.alpha += unit();
    now.tallied += 1;
  }

  void begin(std::size_t /*stored*/) override {
    before_ = {now, extras, extra_us, reach_};
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
    extras = before_.extras;
    extra_us = before_.extra_us;
    reach_ = before_.reach;
    raises_ = false;
    before_growth_ = {};  // of a round of the batch: there is nothing to come back to
  }

  double weight(std::size_t column, std::size_t lane, bool averaged) const override {
    const std::size_t place = column * held() + (kind_.shared ? 0 : lane);
    if (!averaged || now.tallied == 0) return unit() * up(theta[place]);
    return summed(place) / static_cast<double>(now.tallied);
  }
  double extra(std::size_t lane, bool averaged) const override {
    if (kind_.constant == 0) return 0;
    if (!averaged || now.tallied == 0) return unit() * up(extras[lane]);
    return (now.alpha * up(extras[lane]) + extra_us[lane]) / static_cast<double>(now.tallied);
  }

  // The distribution nearest to the uniform one that has these weights. Signed: w_i = scale c (e^theta - e^-theta) with
  // c such that the masses sqrt(w_i^2/scale^2 + 4 c^2) add up to 1.
  void start_at(const double* w, std::size_t size, const double* /*extras*/) override {
    resize(size);
    double sum = 0, least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < size * held(); ++i) sum += std::abs(w[i]), least = std::min(least, w[i]);
    const double count = static_cast<double>(coordinates());
    if (!kind_.is_signed && kind_.constant != 0) {  // the rest is the intercept's
      const double rest = kind_.scale - sum;
      if (!(rest > 0)) throw InputError("w1 must add up to less than scale: the intercept has a part of it");
      extras[0] = logarithm(rest / kind_.scale * count);
      sum = kind_.scale;
    }
    if (kind_.is_signed ? !(sum < kind_.scale) : !(least > 0 && std::abs(sum - kind_.scale) <= 1e-9 * kind_.scale))
      throw InputError(kind_.is_signed ? "w1 is outside of the simplex: the sum of |w1| must be below scale"
                                    : "w1 is outside of the simplex: it must be positive, with the sum scale");
    double low = 0, high = 1 / (2 * std::max(1.0, count));
    const auto masses = [&](double c) {
      double mass = 2 * c * (count - static_cast<double>(size * held()));
      for (std::size_t i = 0; i < size * held(); ++i) mass += hypotenuse(w[i] / kind_.scale, 2 * c);
      return mass;
    };
    for (int step = 0; kind_.is_signed && step < 200; ++step) {
      const double middle = (low + high) / 2;
      (masses(middle) > 1 ? high : low) = middle;
    }
    const double c = (low + high) / 2;
    for (std::size_t r = 0; r < held(); ++r)
      for (std::size_t i = 0; i < size; ++i) {
        const double weight = w[r * size + i] / kind_.scale;
        theta[i * held() + r] = kind_.is_signed ? inverse_sinh(weight / (2 * c)) : logarithm(weight * count);
      }
    reach_ = look_for_reach();
    sum_up();
  }

  // The two classes change places.
  void negate() {
    for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = 0 - theta[i];
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = 0 - u[i];
    extras[0] = 0 - extras[0], extra_us[0] = 0 - extra_us[0];
  }

  // ---- the sizes of constraints ----

  const Sizes* sizes(const Instance& x, double q) override {
    if (kind_.paper) visit(x, [](const auto& features) {
      for (std::size_t j = 0; j < features.size; ++j)
        if (features.value(j) < 0)
          throw InputError("entropy_step='paper' is for values of 0 and more", none, features.column(j));
    });
    x_ = x;
    q_ = q;
    return this;
  }
  double between(std::size_t /*r*/, std::size_t /*s*/) const override { return q_; }
  double pair(double q) const override { return q; }
  double threshold(double q) const override { return q; }
  double moved(const double* amounts, std::size_t count) const override {
    double most = 0, total = 0;
    for (std::size_t r = 0; r < count; ++r) {
      most = std::max(most, std::abs(amounts[r]));
      total += amounts[r];
    }
    if (!kind_.shared) return q_ * most * most;
    const double along = visit(x_, [&](const auto& features) {
      double largest = 0;
      for (std::size_t j = 0; j < features.size; ++j) largest = std::max(largest, std::abs(features.value(j)));
      return largest;
    });
    const double size = kind_.scale * std::max(std::abs(total) * along, most * std::abs(kind_.constant));
    return size * size;
  }

  bool projects() const override { return true; }
  double project(std::size_t r, std::size_t s, double wanted, double cap) const override {
    return visit(x_, [&](const auto& features) {
      return projected(wanted, cap, [&](const auto& use) {  // x at r, -x at s
        for (std::size_t j = 0; j < features.size; ++j) {
          const std::size_t place = features.column(j) * lanes();
          use(theta[place + r], features.value(j));
          use(theta[place + s], -features.value(j));
        }
        if (kind_.constant != 0) use(extras[r], kind_.constant), use(extras[s], -kind_.constant);
      }, [&] { return mass_beside(features, [&](std::size_t lane) { return lane == r || lane == s; }); });
    });
  }
  double project(std::size_t lane, double side, double wanted, double cap) const override {
    return visit(x_, [&](const auto& features) {
      return projected(wanted, cap, [&](const auto& use) {
        for (std::size_t j = 0; j < features.size; ++j) use(theta[features.column(j)], side * features.value(j));
        use(extras[lane], side * kind_.constant);
      }, [&] { return mass_beside(features, [&](std::size_t other) { return kind_.shared || other == lane; }, lane); });
    });
  }

  double reach() const { return reach_; }
  // After a state was restored: what it says of itself is not believed where it matters.
  void check_restored(double reach) {
    const SimplexScalars said = now;
    sum_up_mass();
    if (!std::isfinite(now.mass) || !(std::abs(now.mass - said.mass) <= 1e-6 * now.mass + 1e-300))
      throw InputError("the weights are not on the simplex");
    const std::int64_t touched = now.touched;
    now = said;
    now.touched = touched;
    reach_ = std::max(reach, look_for_reach());
  }

  // The state, open to be saved and restored.
  SimplexScalars now;
  Buffer<double> theta, u;
  std::vector<double> extras, extra_us;  // theta and u of the extra coordinates

 private:
  static constexpr double largest = 1e300;
  static constexpr double most_above_shift = 300;  // exp(300)^2 is still a number

  std::size_t coordinates() const { return columns_ * held() + (kind_.constant != 0 ? lanes() : 0); }
  // The weight of a coordinate, and its share of the mass, both times Z/scale.
  double up(double its_theta) const {
    if (kind_.is_signed && its_theta == 0) return 0;
    const double plus = exponential_anywhere(its_theta - now.shift);
    return kind_.is_signed ? plus - exponential_anywhere(-its_theta - now.shift) : plus;
  }
  double mass(double its_theta) const {
    const double plus = exponential_anywhere(its_theta - now.shift);
    return kind_.is_signed ? plus + exponential_anywhere(-its_theta - now.shift) : plus;
  }
  // Z: so much is known of what was never touched that new features and lanes need not be written down.
  double total() const {
    const std::int64_t untouched = static_cast<std::int64_t>(coordinates()) - now.touched;
    return untouched == 0 ? now.mass : now.mass + static_cast<double>(untouched) * mass(0);
  }
  double unit() const { return coordinates() == 0 ? 0 : kind_.scale / total(); }
  double summed(std::size_t place) const { return now.alpha * up(theta[place]) + u[place]; }

  // The scores of all lanes, and q.
  template <class At, class ExtraAt>
  Reading products(const Instance& x, double* scores, double share, const At& at, const ExtraAt& extra_at) const {
    return visit(x, [&](const auto& features) {
      if (!in_order(features)) return Reading{0, 0, 0, 0, false};
      double square = 0;
      Extremes values;
      std::fill_n(scores, lanes(), 0.0);
      for (std::size_t j = 0; j < features.size; ++j) {
        const double value = features.value(j);
        square += value * value;
        values.meet(value);
        if (value == 0) continue;
        for (std::size_t r = 0; r < held(); ++r) scores[r] += value * at(features.column(j) * held() + r);
      }
      if (kind_.shared) std::fill_n(scores, lanes(), scores[0]);
      if (features.size < columns_) values.meet(0);
      if (kind_.constant != 0) values.meet(kind_.constant);
      double all = 0;
      for (std::size_t r = 0; r < lanes(); ++r) {
        if (kind_.constant != 0) scores[r] += kind_.constant * extra_at(r);
        scores[r] *= share;
        all += scores[r];
      }
      const double size = kind_.scale * (kind_.paper ? values.largest() / 2 : values.half_range(kind_.is_signed));
      return Reading{all, all, size * size, square, true};
    });
  }

  // |x - w|^2. Every weight has a part in the direction (x - w)/|x - w|: O(columns).
  template <class At>
  Reading distance(const Instance& x, const At& at) const {
    return visit(x, [&](const auto& features) {
      if (!in_order(features)) return Reading{0, 0, 0, 0, false};
      double square = 0, near = 0;
      Extremes gaps;
      std::size_t j = 0;
      for (std::size_t i = 0; i < columns_; ++i) {
        const bool stored = j < features.size && features.column(j) == i;
        const double value = stored ? features.value(j) : 0, gap = value - at(i);
        j += stored;
        square += value * value;
        near += gap * gap;
        gaps.meet(gap);
      }
      const double plain = near + x.unseen;
      const double part = kind_.paper ? std::sqrt(8.0) * gaps.largest() : gaps.half_range(kind_.is_signed);
      const double size = plain > 0 ? kind_.scale * part / std::sqrt(plain) : 0;
      return Reading{plain, plain, size * size, square + x.unseen, true};
    });
  }

  // max and min of the coordinates of a direction.
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
  void push(const Features& x, const double* amounts) {
    double total = 0;
    for (std::size_t r = 0; r < lanes(); ++r) total += amounts[r];
    const double* const its_amounts = kind_.shared ? &total : amounts;
    const auto each = [&](const auto& use) {
      for (std::size_t j = 0; j < x.size; ++j)
        for (std::size_t r = 0; r < held(); ++r)
          if (its_amounts[r] != 0) use(x.column(j) * held() + r, its_amounts[r] * x.value(j));
    };
    note(x.size * held(), [&](const auto& note_one) { each([&](std::size_t place, double) { note_one(place); }); });
    if (averaging_) {
      double most = 0;
      each([&](std::size_t place, double more) {
        most = std::max(most, std::abs(theta[place] + kind_.scale * more));
      });
      for (std::size_t r = 0; r < lanes() && kind_.constant != 0; ++r)
        most = std::max(most, std::abs(extras[r] + kind_.scale * amounts[r] * kind_.constant));
      fold_before(most);
    }
    each([&](std::size_t place, double more) {
      add(theta[place], averaging_ ? &u[place] : nullptr, kind_.scale * more);
    });
    for (std::size_t r = 0; r < lanes() && kind_.constant != 0; ++r)
      add(extras[r], averaging_ ? &extra_us[r] : nullptr, kind_.scale * amounts[r] * kind_.constant);
  }

  // Thresholds that have crossed change places.
  void sort_extras() {
    if (std::is_sorted(extras.begin(), extras.end())) return;
    for (std::size_t r = 0; r < lanes() && averaging_; ++r) extra_us[r] += now.alpha * up(extras[r]);
    std::sort(extras.begin(), extras.end());
    for (std::size_t r = 0; r < lanes() && averaging_; ++r) extra_us[r] -= now.alpha * up(extras[r]);
  }

  template <class Each>
  void note(std::size_t count, const Each& each) {
    undo_theta_.note(count, each);
    if (averaging_) undo_u_.note(count, each);
  }

  template <class Features>
  void look_at_gaps(const Features& x) {
    const double share = unit();
    gaps_.resize(columns_);
    for (std::size_t i = 0; i < columns_; ++i) gaps_[i] = -share * up(theta[i]);
    for (std::size_t j = 0; j < x.size; ++j) gaps_[x.column(j)] += x.value(j);
  }
  // Uniclass: along x - w.
  void approach(double amount) {
    note(columns_, [&](const auto& note_one) {
      for (std::size_t i = 0; i < columns_; ++i) note_one(i);
    });
    double most = 0;
    for (std::size_t i = 0; i < columns_; ++i) most = std::max(most, std::abs(theta[i] + kind_.scale * amount * gaps_[i]));
    if (averaging_) fold_before(most);
    for (std::size_t i = 0; i < columns_; ++i)
      add(theta[i], averaging_ ? &u[i] : nullptr, kind_.scale * amount * gaps_[i]);
  }

  void add(double& its_theta, double* its_u, double more) {
    if (more == 0) return;
    const double before = its_theta, after = before + more;
    if (its_u != nullptr) *its_u -= now.alpha * (up(after) - up(before));
    const double mass_before = before == 0 ? 0 : mass(before), mass_after = after == 0 ? 0 : mass(after);
    now.mass += mass_after - mass_before;
    now.touched += (after != 0) - (before != 0);
    now.doubt += std::numeric_limits<double>::epsilon() * (mass_before + mass_after + now.mass);
    now.work += 1;
    its_theta = after;
  }

  // After a move to a theta of `most`, alpha (exp(theta) - exp(-theta)) and u would cancel in A if alpha is too large for it.
  void fold_before(double most) {
    if (now.alpha * exponential_anywhere(most - now.shift) > 64 * kind_.scale * static_cast<double>(now.tallied)) fold();
  }
  // The average's sums without alpha: A = u.
  void fold() {
    if (!averaging_ || now.alpha == 0) return;
    undo_u_.note(u.size(), [&](const auto& note) {
      for (std::size_t i = 0; i < u.size(); ++i) note(i);
    });
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += now.alpha * up(theta[i]);
    for (std::size_t r = 0; r < lanes(); ++r) extra_us[r] += now.alpha * up(extras[r]);
    now.alpha = 0;
  }

  // Sums up the mass afresh; and shifts the exponents so that exp(`coming`) is still a number. (If that makes the mass
  // vanish, it does so only until the next time: theta is what it is.)
  void sum_up(double coming = -std::numeric_limits<double>::infinity()) {
    const double most = std::max(look_for_reach(), coming);
    const double shift = std::abs(most) <= most_above_shift || !std::isfinite(most) ? 0 : most;
    if (shift != now.shift) {
      fold();
      now.shift = shift;
    }
    sum_up_mass();
  }
  void sum_up_mass() {
    now.mass = now.doubt = 0;
    now.touched = now.work = 0;
    const auto meet = [&](double its_theta) {
      if (its_theta == 0) return;
      now.mass += mass(its_theta);
      now.touched += 1;
    };
    for (std::size_t i = 0; i < theta.size(); ++i) meet(theta[i]);
    for (const double extra : extras) meet(extra);
  }

  // The mass of all coordinates but those of x in some lanes, and the extra coordinates of these (of `extra` alone, if
  // it is given): summed up, O(columns).
  template <class Features, class Lane>
  double mass_beside(const Features& x, const Lane& is_meant, std::size_t extra = none) const {
    double sum = 0;
    std::size_t j = 0;
    for (std::size_t i = 0; i < columns_; ++i) {
      const bool stored = j < x.size && x.column(j) == i;
      j += stored;
      for (std::size_t r = 0; r < held(); ++r)
        if (!stored || !is_meant(r)) sum += mass(theta[i * held() + r]);
    }
    for (std::size_t r = 0; r < lanes() && kind_.constant != 0; ++r)
      if (extra == none ? !is_meant(r) : r != extra) sum += mass(extras[r]);
    return sum;
  }

  // S13.6: the maximum of alpha wanted - log sum_i p_i exp(alpha z_i) on [0, cap] is where the margin after the step,
  // which grows with alpha, is what was wanted, or cap. `each` calls use(theta, value) for the constraint's coordinates.
  // `others`: sums up the mass of all other coordinates, if it cannot be had as a difference.
  template <class Each, class Others>
  double projected(double wanted, double cap, const Each& each, const Others& others) const {
    const double all = total();
    double rest = all;
    each([&](double its_theta, double /*value*/) { rest -= mass(its_theta); });
    if (!(rest > 1e-6 * all)) rest = others();
    const auto gap = [&](double alpha) { return margin_after(alpha, rest, each) - wanted; };
    const double below = gap(0), above = gap(cap);
    if (!(below < 0)) return 0;
    if (!(above > 0)) return cap;
    return root(gap, 0, below, cap, above);
  }
  template <class Each>
  double margin_after(double alpha, double rest, const Each& each) const {
    const double step = alpha * kind_.scale;
    double shift = now.shift;
    each([&](double its_theta, double value) { shift = std::max(shift, std::abs(its_theta + step * value)); });
    if (shift <= now.shift + most_above_shift) shift = now.shift;
    double sum = rest * exponential_anywhere(now.shift - shift), lead = 0;
    each([&](double its_theta, double value) {
      const double after = its_theta + step * value;
      const double plus = exponential_anywhere(after - shift), minus = exponential_anywhere(-after - shift);
      sum += plus + minus;
      lead += value * (plus - minus);
    });
    return kind_.scale * lead / sum;
  }

  double bytes_each() const override { return sizeof(double) * (averaging_ ? 2 : 1); }
  double look_for_reach() const override {
    double reach = largest_theta();
    for (std::size_t i = 0; kind_.is_signed && i < theta.size(); ++i) reach = std::max(reach, -theta[i]);
    for (std::size_t r = 0; kind_.is_signed && r < lanes(); ++r) reach = std::max(reach, -extras[r]);
    return reach;
  }
  double largest_theta() const {
    double most = now.touched == static_cast<std::int64_t>(coordinates()) && now.touched > 0
                      ? -std::numeric_limits<double>::infinity() : 0;
    const auto meet = [&](double its_theta) {
      if (its_theta != 0) most = std::max(most, its_theta);
    };
    for (std::size_t i = 0; i < theta.size(); ++i) meet(theta[i]);
    for (const double extra : extras) meet(extra);
    return most;
  }
  // The columns that were added last are given up: what was done to make room for them never was.
  void come_back() {
    if (before_growth_.columns != columns_ || before_growth_.u.size() != u.size()) return;
    now = before_growth_.now;
    reach_ = before_growth_.reach;
    u = before_growth_.u;
    extra_us = before_growth_.extra_us;
    before_growth_ = {};
  }

  Kind kind_;
  bool averaging_;
  std::size_t columns_ = 0;
  bool raises_ = false;  // the move that was admitted may take an exponent beyond what the shift allows
  Instance x_;           // of the round
  double q_ = 0;
  std::vector<double> gaps_;  // x - w

  struct Before {
    SimplexScalars now;
    std::vector<double> extras, extra_us;
    double reach = 0;
  };
  Before before_;
  struct BeforeGrowth {
    std::size_t columns = none;
    SimplexScalars now;
    double reach = 0;
    Buffer<double> u;
    std::vector<double> extra_us;
  };
  BeforeGrowth before_growth_;
  Undo<double> undo_theta_{theta}, undo_u_{u};
};

}  // namespace hinge
