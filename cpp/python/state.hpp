// What a model file holds of a learner, and back: arrays of numbers, one function a memory.
//     v, u      the weights, and what the average keeps beside them
//     extras    many lanes: the extra coordinates, then their sums
//     reals     6 numbers of the memory, 5 of the statistics, 3 of a radius by quantile
//     counts    2 of the memory, 6 of the learner
//     shape     a covariance
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "../model/build.hpp"
#include "arrays.hpp"
#include "supports_state.hpp"

namespace hinge {

struct Numbers {
  std::vector<double> reals;
  std::vector<std::int64_t> counts;
};

template <class Number>
nb::object array_of(const Buffer<Number>& buffer) {
  return memory_view(std::vector<Number>(buffer.data(), buffer.data() + buffer.size()));
}
inline nb::object joined(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> both(first);
  both.insert(both.end(), second.begin(), second.end());
  return memory_view(std::move(both));
}

template <class Real>
Numbers save(const Weights<Real>& w, bool /*averaging*/, nb::dict& state) {
  state["v"] = array_of(w.v);
  state["u"] = array_of(w.u);
  return {{w.now.scale, w.now.alpha, w.now.bias, w.now.bias_sum, w.now.norm2, w.largest_weight()},
          {w.now.tallied, w.now.work}};
}
template <class Real>
Numbers save(const Lanes<Real>& w, bool averaging, nb::dict& state) {
  const std::size_t size = w.dimension() * w.held();
  std::vector<Real> v(size);
  std::vector<double> u(averaging ? size : 0);
  w.save(v.data(), u.data());
  state["v"] = memory_view(std::move(v));
  state["u"] = memory_view(std::move(u));
  state["extras"] = joined(w.biases, w.bias_sums);
  return {{1, 0, 0, 0, 0, w.largest_weight()}, {w.tallied, 0}};
}
inline Numbers save(const Simplex& w, bool /*averaging*/, nb::dict& state) {
  state["v"] = array_of(w.theta);
  state["u"] = array_of(w.u);
  state["extras"] = joined(w.biases, w.bias_us);
  return {{1, w.now.alpha, w.now.shift, w.now.mass, w.now.doubt, std::max(w.weight_bound(), w.largest_weight())}, {w.now.tallied, w.now.work}};
}

// The same, checked already.
struct State {
  const void* v;
  const double* u;
  std::size_t columns, size;  // of v; u is as long, or empty
  bool averaging;
  const double* extras;
  const double* reals;
  const std::int64_t* counts;
};

template <class Real>
void restore(Weights<Real>& w, const State& s) {
  w.resize(s.columns);
  std::copy_n(static_cast<const Real*>(s.v), s.size, w.v.data());
  if (s.averaging) std::copy_n(s.u, s.size, w.u.data());
  w.now = WeightScalars{s.reals[0], s.reals[1], s.reals[2], s.reals[3], s.reals[4], s.counts[0], s.counts[1], 0};
  w.check_restored(s.reals[5]);
}
template <class Real>
void restore(Lanes<Real>& w, const State& s) {
  std::copy_n(s.extras, w.lanes(), w.biases.begin());
  std::copy_n(s.extras + w.lanes(), w.lanes(), w.bias_sums.begin());
  w.tallied = s.counts[0];
  w.restore(static_cast<const Real*>(s.v), s.u, s.columns, s.reals[5]);
}
inline void restore(Simplex& w, const State& s) {
  w.resize(s.columns);
  std::copy_n(static_cast<const double*>(s.v), s.size, w.theta.data());
  if (s.averaging) std::copy_n(s.u, s.size, w.u.data());
  std::copy_n(s.extras, w.lanes(), w.biases.begin());
  std::copy_n(s.extras + w.lanes(), w.lanes(), w.bias_us.begin());
  w.now = SimplexScalars{s.reals[1], s.reals[2], s.reals[3], s.reals[4], 0, s.counts[0], s.counts[1]};
  w.check_restored(s.reals[5]);
}

// Calls function(memory) with the memory that holds the weights, as what it is.
template <class Function>
decltype(auto) with_flat(const Settings& s, Memory& memory, Function&& function) {
  Memory& flat = memory.flat();
  if (s.geometry == "entropy") return function(static_cast<Simplex&>(flat));
  if (lanes_of(s) > 0)
    return s.single ? function(static_cast<Lanes<float>&>(flat)) : function(static_cast<Lanes<double>&>(flat));
  return s.single ? function(static_cast<Weights<float>&>(flat)) : function(static_cast<Weights<double>&>(flat));
}

template <class Memory_>
struct RealOf {
  using type = double;
};
template <class Real>
struct RealOf<Weights<Real>> {
  using type = Real;
};
template <class Real>
struct RealOf<Lanes<Real>> {
  using type = Real;
};

inline nb::dict state_of(const Settings& s, Learner& learner) {
  nb::dict state;
  Numbers numbers;
  if (has_kernel(s))
    save_supports(learner, state, numbers.reals, numbers.counts);
  else
    numbers = with_flat(s, learner.memory(), [&](const auto& w) { return save(w, s.average_from > 0, state); });
  const Statistics& t = learner.statistics;
  numbers.reals.insert(numbers.reals.end(), {t.loss, t.squared_loss, t.largest_q, t.progress, t.cost});
  if (const Quantile* q = learner.quantile()) numbers.reals.insert(numbers.reals.end(), {q->value, q->spread, q->seen});
  numbers.counts.insert(numbers.counts.end(), {t.rounds, t.mistakes, t.updates, learner.awaits_first ? 1 : 0, t.capped, t.weighted});
  state["reals"] = memory_view(std::move(numbers.reals));
  state["counts"] = memory_view(std::move(numbers.counts));
  if (has_covariance(s)) state["shape"] = memory_view(static_cast<Shaped&>(learner.memory()).shape().save());
  return state;
}

// `names`: how many columns have names, `limit`: how many columns there may be.
inline void restore_state(const Settings& s, Learner& learner, const Array& v, const Doubles& u, const Doubles& reals,
                          const Order& counts, const std::optional<Doubles>& extras,
                          const std::optional<Doubles>& shape, std::size_t names, std::size_t limit, bool hashing) {
  const bool has_extras = lanes_of(s) > 0 || s.geometry == "entropy", averaging = s.average_from > 0;
  const auto finite = [](const auto* values, std::size_t count) {
    return std::all_of(values, values + count, [](auto value) { return std::isfinite(value); });
  };
  with_flat(s, learner.memory(), [&]<class W>(W& w) {
    using Real = typename RealOf<std::remove_const_t<W>>::type;
    const std::size_t each = s.task == "ordinal" ? 1 : w.lanes(), size = v.size() / each;
    if (v.ndim() != 1 || v.dtype() != nb::dtype<Real>() || (v.size() > 1 && v.stride(0) != 1) ||
        size * each != v.size() || size > limit || u.size() != (averaging ? v.size() : 0) ||
        reals.size() != reals_of(learner) ||
        counts.size() != 8 || size < names || (hashing && size > names) || has_extras != extras.has_value() ||
        has_covariance(s) != shape.has_value() || (has_extras && extras->size() != 2 * w.lanes()))
      throw InputError("the state does not fit the settings of the learner");
    const auto countable = [](std::int64_t value) { return value >= 0 && value < std::int64_t{1} << 62; };
    if (!finite(static_cast<const Real*>(v.data()), v.size()) || !finite(u.data(), u.size()) ||
        !finite(reals.data(), reals.size()) || !(reals.data()[0] > 0) ||
        (s.task != "uniclass" && reals.data()[0] != 1) ||  // nothing else decays
        (has_extras && !finite(extras->data(), extras->size())) ||
        (shape && !finite(shape->data(), shape->size())) ||
        !std::all_of(counts.data(), counts.data() + counts.size(), countable) ||
        counts.data()[5] > (s.start_at_first ? 1 : 0))  // a first instance is awaited by uniclass only
      throw InputError("the state is not one that a learner can be in");
    restore(w, State{v.data(), u.data(), size, v.size(), averaging, has_extras ? extras->data() : nullptr,
                     reals.data(), counts.data()});
    if (shape) static_cast<Shaped&>(learner.memory()).shape().restore(shape->data(), shape->size(), size);
  });
  const double* r = reals.data();
  const std::int64_t* c = counts.data();
  learner.statistics = Statistics{c[2], c[3], c[4], r[6], r[7], r[8], r[9], r[10], c[6], c[7]};
  learner.awaits_first = c[5] != 0;
  restore_quantile(learner, r);
}

}  // namespace hinge
