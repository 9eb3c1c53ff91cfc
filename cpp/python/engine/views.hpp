// What has been learned: weights, supports, covariances, statistics, the state.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "../tensors.hpp"
#include "engine.hpp"

namespace hinge {

// ---- weights ----

inline nb::object weights_of(const Engine& self, bool averaged) {
  const std::size_t columns = self.columns(), lanes = self.one_w() ? 1 : self.learner.lanes();
  std::vector<double> values(columns * lanes);
  for (std::size_t r = 0; r < lanes; ++r) self.learner.memory().copy_weights(r, averaged, values.data() + r * columns);
  return self.one_w() ? numpy_array(std::move(values)) : numpy_matrix(std::move(values), lanes, columns);
}
// w, or for many lanes a matrix of lanes x columns. (Ordinal: all lanes share one w.)
inline nb::object weights(Engine& self, bool averaged) {
  const SharedReading reading(self);
  return weights_of(self, averaged);
}
// The names and the weights of one moment.
inline nb::tuple named_weights(Engine& self, bool averaged) {
  const SharedReading reading(self);
  return nb::make_tuple(name_list(self.names), weights_of(self, averaged));
}
// w into an existing array. Columns that have not come yet have a weight of 0.
inline void write_weights(Engine& self, nb::ndarray<nb::device::cpu, double, nb::ndim<1>, nb::c_contig> to, bool averaged) {
  const SharedReading reading(self);
  const std::size_t columns = self.columns();
  if (!self.one_w() || to.size() < columns) throw InputError("there is no room for one weight per column and lane");
  self.memory().copy_weights(0, averaged, to.data());
  std::fill(to.data() + columns, to.data() + to.size(), 0.0);
}

// An intercept is the weight of the constant feature times its value: score = w.x + intercept.
inline double reported_bias(Engine& self, std::size_t lane, bool averaged) {
  const double bias = self.memory().bias(lane, averaged);
  return self.settings.fit_intercept ? bias * self.memory().constant() : bias;
}
inline double bias(Engine& self, std::size_t lane, bool averaged) {
  const SharedReading reading(self);
  self.check_lane(lane);
  return reported_bias(self, lane, averaged);
}
inline nb::object biases(Engine& self, bool averaged) {
  const SharedReading reading(self);
  std::vector<double> values(self.learner.lanes());
  for (std::size_t r = 0; r < values.size(); ++r) values[r] = reported_bias(self, r, averaged);
  return numpy_array(std::move(values));
}

// The value of the constant feature of the intercept; 0 without one, or as long as it waits for an instance.
inline double constant(Engine& self) {
  const SharedReading reading(self);
  return self.settings.fit_intercept && !self.learner.awaits_constant ? self.memory().constant() : 0;
}

// ---- supports ----

// The numbers of the examples that are supports, their coefficients (one row per support), and the vectors as CSR.
inline nb::tuple supports(Engine& self, bool averaged) {
  const SharedReading reading(self);
  if (!has_kernel(self.settings)) throw InputError("there is no kernel");
  const Supports& s = supports_of(self.learner);
  SupportArrays vectors(s);
  std::vector<double> coefficients;
  for (std::size_t i = 0; i < s.count(); ++i)
    for (std::size_t r = 0; r < s.held(); ++r)
      coefficients.push_back(averaged ? s.averaged_coefficient(i, r) : s.coefficient(i, r));
  return nb::make_tuple(numpy_array(std::vector<std::int64_t>(s.numbers)),
                        numpy_matrix(std::move(coefficients), s.count(), s.held()),
                        numpy_array(std::move(vectors.values)), numpy_array(std::move(vectors.columns)),
                        numpy_array(std::move(vectors.starts)), s.sparse);
}
inline std::size_t n_support(Engine& self) {
  const SharedReading reading(self);
  return has_kernel(self.settings) ? supports_of(self.learner).count() : 0;
}

// ---- covariances ----

inline const Shape& shape_of(Engine& self) {
  if (!has_covariance(self.settings)) throw InputError("there is no covariance: geometry is " + self.settings.geometry);
  return shaped_of(self.learner).shape();
}
inline const Scaled* scaled_of(Engine& self) {
  return self.settings.scaled ? &static_cast<const Scaled&>(self.memory()) : nullptr;
}
inline double checked_size(Engine& self, const Instance& x, std::size_t row) {
  const auto size_of = [&](const Instance& its) { return shape_of(self).size(its); };
  const Scaled* scaled = scaled_of(self);
  const double size = scaled == nullptr ? size_of(x) : scaled->with_scaled(x, size_of);
  if (!std::isfinite(size)) {
    reject_bad_values(x, row);
    throw InputError("the squared norm of the instance overflows float64", row);
  }
  return size;
}
// x'Sx of each row: how uncertain the model is in that direction.
inline nb::object uncertainty(Engine& self, const Rows& rows) {
  const SharedReading reading(self);
  shape_of(self);  // there must be one
  self.learner.check_width(rows);
  std::vector<double> sizes = room_for(rows.count()), scores(self.learner.lanes());
  {
    const WithoutGil released;
    Scratch scratch;
    Instance x = rows.blank();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      rows.take(i, x);
      const bool in_order = self.memory().read(x, Reads::product, scores.data()).in_order;
      sizes[i] = checked_size(self, in_order ? x : rows.in_order(x, i, scratch), i);
    }
  }
  return numpy_array(std::move(sizes));
}
inline double uncertainty_one(Engine& self, nb::handle x) {
  const SharedReading reading(self);
  Scratch scratch;
  // Nothing is known of new features: they have the initial variance.
  const double unseen = self.events.read(self.names, x, false, scratch, self.columns());
  const double size = checked_size(self, scratch.ordered(), none) + self.settings.variance * unseen;
  if (!std::isfinite(size)) throw InputError("the squared norm of the instance overflows float64");
  return size;
}
// From the covariance of the weights of scaled values to that of the weights that are reported, which are divided by the
// scales: S = U diag(d) U' of both.
inline void divide_by_scales(Shape::Factors& factors, const Scaled& scaled, bool has_constant) {
  const std::size_t size = factors.d.size();
  for (std::size_t i = has_constant; i < size; ++i) {
    const double scale = scaled.scaling.scale(i - has_constant);
    if (factors.u.empty()) factors.d[i] /= scale * scale;
    else
      for (std::size_t j = 0; j < size; ++j) factors.u[i * size + j] /= scale;
  }
}
// The variances d, and for a full covariance U: S = U diag(d) U'.
inline nb::tuple factors(Engine& self) {
  const SharedReading reading(self);
  Shape::Factors factors = shape_of(self).factors();
  const std::size_t size = factors.d.size();
  if (const Scaled* scaled = scaled_of(self)) divide_by_scales(factors, *scaled, self.settings.fit_intercept);
  nb::object d = numpy_array(std::move(factors.d));
  if (factors.u.empty() && self.settings.geometry == "diagonal") return nb::make_tuple(d, nb::none());
  return nb::make_tuple(d, numpy_matrix(std::move(factors.u), size, size));
}

// ---- probabilities ----

// Of the classes, one row per row of scores.
inline nb::object probabilities(Engine& self, const Matrix& scores) {
  const SharedReading reading(self);
  if (self.learner.observes == Observes::nothing) throw InputError("only classes have probabilities");
  const std::size_t count = scores.shape(0), lanes = scores.shape(1), classes = std::max<std::size_t>(2, lanes);
  std::vector<double> found(count * classes);
  for (std::size_t i = 0; i < count; ++i) {
    const double* const from = scores.data() + i * lanes;
    double* const to = found.data() + i * classes;
    if (lanes == 1)
      to[1] = self.learner.calibration.probability(from[0]), to[0] = 1 - to[1];
    else
      self.learner.calibration.probabilities(from, lanes, to);
  }
  return numpy_matrix(std::move(found), count, classes);
}
// Whether the rounds to come are the first ones over their rows.
inline void set_observes_outcomes(Engine& self, bool outcomes) {
  const Writing writing(self);
  if (self.learner.observes != Observes::nothing) self.learner.observes = outcomes ? Observes::outcomes : Observes::sizes;
}

// ---- statistics ----

inline nb::tuple statistics(Engine& self) {
  const SharedReading reading(self);
  const Supports* supports = has_kernel(self.settings) ? &supports_of(self.learner) : nullptr;
  return statistics_tuple(self.learner.statistics, supports ? supports->now.insertions : 0,
                          supports ? supports->now.removals : 0);
}
// Structured output: what the round that was just learned had predicted.
inline void count_prediction(Engine& self, bool mistake, double cost) {
  const Writing writing(self);
  Statistics& statistics = self.learner.statistics;
  statistics.mistakes += mistake;
  statistics.cost = std::min(std::numeric_limits<double>::max(), statistics.cost + cost);
}
// The sums of losses are those of one pass. (`hinge.compat`.)
inline void reset_losses(Engine& self) {
  const Writing writing(self);
  self.learner.statistics.loss = self.learner.statistics.squared_loss = 0;
}

inline Quantile& quantile_of(Engine& self) {
  if (self.learner.quantile() == nullptr) throw InputError("there is no radius by quantile");
  return *self.learner.quantile();
}
inline double tracked_radius(Engine& self) {
  const SharedReading reading(self);
  return quantile_of(self).value;
}
// Once all distances are known.
inline void set_tracked_radius(Engine& self, double radius) {
  const Writing writing(self);
  Quantile& quantile = quantile_of(self);
  if (!(radius >= 0 && std::isfinite(radius))) throw InputError("the radius must be a finite number, 0 or more");
  quantile.value = radius;
}

// ---- the whole ----

// What a file holds of the model, of one moment.
inline nb::dict state_of(Engine& self) {
  const SharedReading reading(self);
  return views_of<nb::memview>(self.model.state());
}
inline void restore_state(Engine& self, const nb::dict& state) {
  const BorrowedTensors given(state);
  const Writing writing(self);
  self.scratch.clear();
  self.model.restore(given.tensors);
}
inline std::size_t bytes(Engine& self) {
  const SharedReading reading(self);
  const std::size_t fixed = sizeof(self) + self.names.bytes() + self.events.bytes();
  return fixed + self.memory().bytes();
}

inline void bind_views(EngineClass& engine) {
  using namespace nb::literals;
  engine.def("weights", &weights, "averaged"_a)
      .def("named_weights", &named_weights, "averaged"_a)
      .def("write_weights", &write_weights, "to"_a, "averaged"_a)
      .def("bias", &bias, "lane"_a, "averaged"_a)
      .def("biases", &biases, "averaged"_a)
      .def_prop_ro("constant", &constant)
      .def("supports", &supports, "averaged"_a)
      .def_prop_ro("n_support", &n_support)
      .def(
          "uncertainty_dense", [](Engine& self, const Array& X) { return uncertainty(self, dense_rows(X)); }, "X"_a,
          nb::sig("def uncertainty_dense(self, X: object) -> object"))
      .def(
          "uncertainty_sparse",
          [](Engine& self, const Array& data, const Array& indices, const Array& indptr, std::size_t width) {
            return uncertainty(self, sparse_rows(data, indices, indptr, width));
          },
          "data"_a, "indices"_a, "indptr"_a, "width"_a)
      .def("uncertainty_one", &uncertainty_one, "x"_a.none())
      .def("factors", &factors)
      .def("probabilities", &probabilities, "scores"_a)
      .def("set_observes_outcomes", &set_observes_outcomes, "outcomes"_a)
      .def("statistics", &statistics)
      .def("count_prediction", &count_prediction, "mistake"_a, "cost"_a)
      .def("reset_losses", &reset_losses)
      .def("tracked_radius", &tracked_radius)
      .def("set_tracked_radius", &set_tracked_radius, "radius"_a)
      .def("state", &state_of)
      .def("restore", &restore_state, "state"_a)
      .def_prop_ro("n_examples", [](Engine& self) {
        const SharedReading reading(self);
        return self.learner.examples;
      })
      .def_prop_ro("n_columns", [](Engine& self) {
        const SharedReading reading(self);
        return self.columns();
      })
      .def("__sizeof__", &bytes);
}

}  // namespace hinge
