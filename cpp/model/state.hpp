// The learned state of a learner as named tensors, and back. Scalars with their default value and empty vectors are
// omitted.
//     v, u                  the weights (one row per column), and the corresponding sums of the average
//     biases, bias_sums     many lanes: their bias coordinates, and the sums of these
//     shape                 a covariance
//     scales                of the columns (scaling.hpp)
//     calibration           of probabilities (rounds/calibration.hpp)
//     weight_bound, ...     scalars, one entry each (the functions `each_field`)
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <vector>

#include "build.hpp"
#include "tensors.hpp"

namespace hinge {

// Calls field(name, member) for each scalar of a part, with its name in a file.
template <class Function>
void each_field(const Statistics*, Function&& field) {
  using S = Statistics;
  field("rounds", &S::rounds), field("mistakes", &S::mistakes), field("updates", &S::updates), field("loss", &S::loss);
  field("squared_loss", &S::squared_loss), field("largest_q", &S::largest_q), field("progress", &S::progress);
  field("cost", &S::cost), field("capped", &S::capped), field("weighted", &S::weighted);
}
template <class Function>
void each_field(const WeightScalars*, Function&& field) {
  using S = WeightScalars;
  field("scale", &S::scale), field("alpha", &S::alpha), field("bias", &S::bias), field("bias_sum", &S::bias_sum);
  field("norm2", &S::norm2), field("tallied", &S::tallied), field("work", &S::work);
}
template <class Function>
void each_field(const SimplexScalars*, Function&& field) {
  using S = SimplexScalars;
  field("alpha", &S::alpha), field("shift", &S::shift), field("mass", &S::mass), field("doubt", &S::doubt);
  field("tallied", &S::tallied), field("work", &S::work);
}
template <class Function>
void each_field(const SupportScalars*, Function&& field) {
  using S = SupportScalars;
  field("scale", &S::scale), field("alpha", &S::alpha), field("norm2", &S::norm2), field("sum_norm2", &S::sum_norm2);
  field("sum_product", &S::sum_product), field("origin", &S::origin), field("tallied", &S::tallied);
  field("insertions", &S::insertions), field("removals", &S::removals);
}
template <class Function>
void each_field(const Quantile*, Function&& field) {
  using S = Quantile;
  field("quantile_value", &S::value), field("quantile_spread", &S::spread), field("quantile_seen", &S::seen);
}

template <class Fields>
void save_fields(const Fields& fields, Tensors& to) {
  const Fields defaults;
  each_field(&fields, [&](const char* name, auto member) { to.put_number(name, fields.*member, defaults.*member); });
}
template <class Fields>
Fields loaded_fields(const Tensors& from, Fields fields = Fields()) {
  each_field(&fields, [&](const char* name, auto member) { from.get(name, fields.*member); });
  return fields;
}
template <class Number>
std::vector<Number> all_of(const Buffer<Number>& buffer) {
  return std::vector<Number>(buffer.data(), buffer.data() + buffer.size());
}

// ---- one memory each ----

template <class Real>
void save(const Weights<Real>& w, bool /*averaging*/, Tensors& to) {
  to.put("v", all_of(w.v));
  to.put_unless_empty("u", all_of(w.u));
  save_fields(w.now, to);
  to.put_number("weight_bound", w.largest_weight());
}
template <class Real>
void save(const Lanes<Real>& w, bool averaging, Tensors& to) {
  const std::size_t size = w.dimension() * w.held();
  std::vector<Real> v(size);
  std::vector<double> u(averaging ? size : 0);
  w.save(v.data(), u.data());
  to.put("v", std::move(v));
  to.put_unless_empty("u", std::move(u));
  to.put("biases", w.biases);
  if (averaging) to.put("bias_sums", w.bias_sums);
  to.put_number("tallied", w.tallied);
  to.put_number("weight_bound", w.largest_weight());
}
inline void save(const Simplex& w, bool averaging, Tensors& to) {
  to.put("v", all_of(w.theta));
  to.put_unless_empty("u", all_of(w.u));
  to.put("biases", w.biases);
  if (averaging) to.put("bias_sums", w.bias_us);
  save_fields(w.now, to);
  to.put_number("weight_bound", w.weight_bound());
}

// The validated arrays of a memory.
template <class Real>
struct SavedWeights {
  std::size_t columns, size;
  const Real* v;
  const double* u;  // nullptr without an average
  double bound;
};
template <class Real, class W>
SavedWeights<Real> loaded_weights(const Settings& s, const W& w, const Tensors& from) {
  const std::size_t each = s.task == "ordinal" ? 1 : w.lanes(), size = from.length("v");
  if (size % each != 0) Tensors::misfit("v");
  const bool averaging = s.average_from > 0;
  const double* u = from.vector<double>("u", averaging ? size : 0);
  double bound = 0;
  from.get("weight_bound", bound);
  return {size / each, size, from.vector<Real>("v", size), averaging ? u : nullptr, bound};
}

// The average's sums of the biases; 0 without an average.
inline std::vector<double> loaded_bias_sums(const Settings& s, std::size_t lanes, const Tensors& from) {
  auto sums = from.copy<double>("bias_sums", s.average_from > 0 ? lanes : 0);
  sums.resize(lanes);
  return sums;
}

template <class Real>
void restore(Weights<Real>& w, const Settings& s, const SavedWeights<Real>& saved, const Tensors& from) {
  const auto now = loaded_fields<WeightScalars>(from);
  if (!(now.scale > 0) || (s.task != "uniclass" && now.scale != 1)) Tensors::impossible("scale");  // uniclass decays w
  w.resize(saved.columns);
  std::copy_n(saved.v, saved.size, w.v.data());
  if (saved.u != nullptr) std::copy_n(saved.u, saved.size, w.u.data());
  w.now = now;
  w.check_restored(saved.bound);
}
template <class Real>
void restore(Lanes<Real>& w, const Settings& s, const SavedWeights<Real>& saved, const Tensors& from) {
  auto biases = from.copy<double>("biases", w.lanes()), sums = loaded_bias_sums(s, w.lanes(), from);
  std::int64_t tallied = 0;
  from.get("tallied", tallied);
  w.biases = std::move(biases);
  w.bias_sums = std::move(sums);
  w.tallied = tallied;
  w.restore(saved.v, saved.u, saved.columns, saved.bound);
}
inline void restore(Simplex& w, const Settings& s, const SavedWeights<double>& saved, const Tensors& from) {
  auto biases = from.copy<double>("biases", w.lanes()), sums = loaded_bias_sums(s, w.lanes(), from);
  const auto now = loaded_fields<SimplexScalars>(from);
  w.resize(saved.columns);
  std::copy_n(saved.v, saved.size, w.theta.data());
  if (saved.u != nullptr) std::copy_n(saved.u, saved.size, w.u.data());
  w.biases = std::move(biases);
  w.bias_us = std::move(sums);
  w.now = now;
  w.check_restored(saved.bound);
}

// Calls function(memory) with the memory of the weights in its actual type.
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
template <template <class> class Memory_, class Real>
struct RealOf<Memory_<Real>> {
  using type = Real;
};

// ---- the learner around it ----

// The scalars that every learner has. They are loaded before anything is changed.
struct Progress {
  Statistics statistics;
  bool awaits_first = false;
  double constant = 0;  // of the intercept, if the first instance has set it
  Quantile quantile;
  Calibration calibration;

  static void save_calibration(Calibration calibration, Tensors& to) {
    std::vector<double> numbers;
    calibration.each_number([&](double number) { numbers.push_back(number); });
    to.put("calibration", std::move(numbers));
  }
  static bool has_calibration(const Learner& learner, const Statistics& statistics) {
    return learner.observes != Observes::nothing && statistics.rounds > 0;
  }
  static void save(const Settings& s, Learner& learner, Tensors& to) {
    save_fields(learner.statistics, to);
    to.put_number("awaits_first", learner.awaits_first);
    if (waits_for_constant(s) && !learner.awaits_constant) to.put_number("constant", learner.memory().constant());
    if (const Quantile* quantile = learner.quantile()) save_fields(*quantile, to);
    if (has_calibration(learner, learner.statistics)) save_calibration(learner.calibration, to);
  }
  Progress(const Settings& s, Learner& learner, const Tensors& from) : statistics(loaded_fields<Statistics>(from)) {
    from.get("awaits_first", awaits_first);
    if (awaits_first && !s.start_at_first) Tensors::impossible("awaits_first");  // only uniclass awaits one
    from.get("constant", constant);
    int exponent = 0;
    const bool is_power = constant == 0 || std::frexp(constant, &exponent) == 0.5;
    const bool is_needed = waits_for_constant(s) && statistics.rounds > 0;
    if (!is_power || (constant != 0 && !waits_for_constant(s)) || (constant == 0 && is_needed))
      Tensors::impossible("constant");
    if (from.has("calibration") != has_calibration(learner, statistics)) Tensors::misfit("calibration");
    if (from.has("calibration")) {
      const double* numbers = from.vector<double>("calibration", Calibration::numbers);
      calibration.each_number([&](double& number) { number = *numbers++; });
      if (!calibration.makes_sense()) Tensors::impossible("calibration");
    }
    if (learner.quantile() == nullptr) return;
    quantile = loaded_fields(from, *learner.quantile());
    if (!quantile.makes_sense()) throw InputError("the radius is invalid");
  }
  // Call this before anything that depends on the constant is restored.
  void put_constant(Learner& learner) const {
    if (constant == 0) return;
    learner.memory().set_constant(constant);
    learner.awaits_constant = false;
  }
  void put(Learner& learner) const {
    learner.statistics = statistics;
    learner.awaits_first = awaits_first;
    learner.calibration = calibration;
    if (learner.quantile() != nullptr) *learner.quantile() = quantile;
  }
};

inline void restore_scales(Scaling& scaling, const Tensors& from, std::size_t columns) {
  const std::size_t size = from.has("scales") ? from.length("scales") : 0;
  if (size != 2 * columns) Tensors::misfit("scales");
  if (size > 0) scaling.restore(from.vector<double>("scales", size), size);
}

inline void save_weights(const Settings& s, Learner& learner, Tensors& to) {
  with_flat(s, learner.memory(), [&](const auto& w) { save(w, s.average_from > 0, to); });
  if (s.scaled) to.put_unless_empty("scales", static_cast<Scaled&>(learner.memory()).scaling.save());
  if (has_covariance(s)) to.put("shape", shaped_of(learner).shape().save());
  Progress::save(s, learner, to);
}

// `names`: the number of columns with names.
inline void restore_weights(const Settings& s, Learner& learner, const Tensors& from, std::size_t names) {
  if (has_covariance(s) != from.has("shape") || from.has("biases") != (lanes_of(s) > 0 || s.geometry == "entropy"))
    Tensors::misfit("shape and biases");
  const Progress progress(s, learner, from);
  progress.put_constant(learner);
  with_flat(s, learner.memory(), [&]<class W>(W& w) {
    const auto saved = loaded_weights<typename RealOf<W>::type>(s, w, from);
    if (saved.columns < names || saved.columns > column_limit(s)) Tensors::misfit("v");
    const std::size_t size = has_covariance(s) ? from.length("shape") : 0;
    const double* shape = has_covariance(s) ? from.vector<double>("shape", size) : nullptr;
    restore(w, s, saved, from);
    if (shape != nullptr) shaped_of(learner).shape().restore(shape, size, saved.columns);
    if (s.scaled) restore_scales(static_cast<Scaled&>(learner.memory()).scaling, from, saved.columns);
  });
  progress.put(learner);
}

}  // namespace hinge
