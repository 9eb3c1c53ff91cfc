// Changes of a learner in the stream: its rule, its labels, the names of its columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"

namespace hinge {

inline void change_rule(Engine& self, const std::string& step, double C, double margin, double epsilon, double beta) {
  const Writing writing(self);
  Settings changed = self.settings;
  changed.step = step;
  changed.C = C;
  changed.margin = margin;
  changed.epsilon = epsilon;
  changed.beta = beta;
  self.learner.change_rule(build_rule(changed));
  self.settings = std::move(changed);
}

// w has as many entries for each lane (in turn) as there are columns, `biases` one per lane.
inline void start_at(Engine& self, const Doubles& w, const Doubles& biases) {
  const Writing writing(self);
  const std::size_t lanes = self.one_w() ? 1 : self.learner.lanes();
  if (w.size() % lanes != 0 || biases.size() != self.learner.lanes())
    throw InputError("w1 does not have the same number of weights for each label");
  const double limit = self.settings.single ? std::numeric_limits<float>::max() / 8 : HUGE_VAL;
  double square = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    square += w.data()[i] * w.data()[i];
    if (!(std::abs(w.data()[i]) <= limit) || !std::isfinite(square))
      throw InputError("w1 is too large: weight " + std::to_string(i) + " of it is more than the model can hold");
  }
  std::vector<double> coordinates(biases.data(), biases.data() + biases.size());
  for (double& bias : coordinates) {
    if (!self.settings.fit_intercept || bias == 0) continue;
    if (self.learner.awaits_constant) throw InputError("an intercept to start at needs an intercept_value");
    bias /= self.memory().constant();
  }
  self.model.make_room(w.size() / lanes);
  self.memory().start_at(w.data(), w.size() / lanes, coordinates.data());
  self.learner.awaits_first = false;
}

// ---- labels ----

// Nothing of Python runs between a change of the labels and of their names: an interrupt finds both or none. The old
// names are destroyed by the caller, when the lock is free.
inline void put_labels(Engine& self, LabelNames& names, std::vector<Label>& labels) {
  std::swap(self.label_names, names);
  std::swap(self.model.labels, labels);
}

// The names of the labels. `swapped`: the two classes change places.
inline void name_labels(Engine& self, nb::object given, bool swapped) {
  LabelNames names(std::move(given));
  auto labels = labels_of(names.known);
  const Writing writing(self);
  const bool binary = is_binary(self.settings);
  if (binary && labels.size() > 2) throw InputError("there are not two classes");
  if (swapped && self.many_lanes()) throw InputError("there are not two classes");
  if (swapped) self.model.swap_classes();
  if (binary) self.settings.labels = std::max<std::size_t>(1, labels.size());
  put_labels(self, names, labels);
}

// `count` labels, with the weights of their constraints, and their names.
inline void set_labels(Engine& self, std::size_t count, const std::optional<Doubles>& nu, nb::object given) {
  LabelNames names(std::move(given));
  auto labels = labels_of(names.known);
  const Writing writing(self);
  const Settings& settings = self.settings;
  if (settings.task == "ordinal" || !settings.cost.empty()) throw InputError("the labels cannot change");
  for (std::size_t r = count + settings.learned_threshold; self.many_lanes() && r < self.learner.lanes(); ++r)
    if (self.memory().lane_moved(r)) throw InputError("a label that has learned cannot be given up");
  Settings changed = settings;
  changed.labels = count;
  changed.nu = nu ? std::vector<double>(nu->data(), nu->data() + nu->size()) : std::vector<double>();
  auto rule = build_rule(changed);
  if (settings.task != "prototype") add_labels(self.learner, settings, changed);
  self.learner.change_rule(std::move(rule));
  self.settings = std::move(changed);
  if (!names.labels.is_none()) put_labels(self, names, labels);
}

// The engine of the same learner without scaling takes the weights of one of scaled values.
inline void take_unscaled(Engine& self, Engine& scaled) {
  const Writing writing(self);
  const SharedReading reading(scaled);
  self.model.take_unscaled(scaled.model);
}

// ---- names of columns ----

// Names the first columns, in their order.
inline void name_columns(Engine& self, const nb::list& names) {
  const Writing writing(self);
  const std::size_t known = self.names.columns();
  if (self.names.hashing() && names.size() > 0) throw InputError("hashed columns have no names (hash_bits)");
  try {
    for (nb::handle name : names) self.names.add_new(*Key(Records::plain_name(name)));
    self.add_named_columns();
  } catch (...) {
    self.names.truncate(known);
    throw;
  }
}
inline void number_columns(Engine& self) {
  const Writing writing(self);
  self.number_columns();
}
inline void forget_columns(Engine& self, std::size_t columns) {
  const Writing writing(self);
  self.forget(columns);
}

inline nb::list column_names(Engine& self) {
  const SharedReading reading(self);
  return name_list(self.names);
}
inline std::size_t n_names(const Engine& self) { return self.names.hashing() ? 0 : self.names.columns(); }
inline nb::object name_of(Engine& self, std::size_t column) {
  const SharedReading reading(self);
  if (column >= n_names(self)) throw InputError("column " + std::to_string(column) + " has no name");
  return name_object(self.names.key(column));
}

inline void bind_settings_and_labels(EngineClass& engine) {
  using namespace nb::literals;
  engine.def("change_rule", &change_rule, "step"_a, "C"_a, "margin"_a, "epsilon"_a, "beta"_a = 0.01)
      .def("start_at", &start_at, "w"_a, "biases"_a)
      .def("take_unscaled", &take_unscaled, "scaled"_a)
      .def("name_labels", &name_labels, "labels"_a.none(), "swapped"_a = false)
      .def("set_labels", &set_labels, "count"_a, "nu"_a.none() = nb::none(), "labels"_a.none() = nb::none())
      .def_prop_ro("labels", [](const Engine& self) { return self.label_names.labels; })
      .def("name_columns", &name_columns, "names"_a)
      .def("number_columns", &number_columns)
      .def("forget", &forget_columns, "columns"_a)
      .def("names", &column_names)
      .def("name_of", &name_of, "column"_a)
      .def_prop_ro("n_names", &n_names)
      .def_prop_rw(  // how often a feature was left out because it was new and there was no more room
          "n_ignored", [](const Engine& self) { return self.names.ignored; },
          [](Engine& self, std::size_t count) { self.names.ignored = count; });
}

}  // namespace hinge
