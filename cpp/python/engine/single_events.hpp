// Single events: dicts of named features.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "../named_block.hpp"
#include "engine.hpp"
#include "targets.hpp"

namespace hinge {

// ---- learning ----

// `is_read`: its features are in the scratch already, and all of them have columns.
inline void learn_held(Engine& self, nb::handle x, const Truth& truth, double weight, bool is_read = false) {
  if (self.settings.task == "prototype") throw InputError("each label has its own features: give a block of them");
  self.with_new_features([&](std::size_t) {
    if (!is_read) self.read_event(x, weight);
    self.add_named_columns();
    self.learner.learn_one(self.scratch.ordered(), truth, weight);
  });
}
// `counts`: whether it is one of the examples of the stream.
inline void learn_event(Engine& self, nb::handle x, Truth truth, double weight, bool counts) {
  const Writing writing(self);
  const std::int64_t examples = self.learner.examples;
  // The sign of the first of two classes, encoded before there were more.
  if (truth.value == -1 && self.settings.task == "classification" && self.many_lanes()) truth.value = 0;
  learn_held(self, x, truth, weight);
  if (!counts) self.learner.examples = examples;
}
inline void learn_one(Engine& self, nb::handle x, double target, double weight, bool counts) {
  learn_event(self, x, Truth{target}, weight, counts);
}
inline void learn_one_labels(Engine& self, nb::handle x, const Order& labels, double weight, bool counts) {
  check_ascending(labels.data(), labels.size(), none);
  learn_event(self, x, Truth{0, labels.data(), labels.size()}, weight, counts);
}

// ---- scores ----

// `x`: a dict, or the events of a text and which of them.
template <class... Event>
void score_event(Engine& self, bool averaged, double* scores, const Event&... x) {
  Scratch scratch = std::move(self.scratch);  // a value may run Python, and so another thread that reads
  self.scratch.clear();
  const double unseen = self.events.read(self.names, x..., false, scratch, self.columns());
  Instance instance = scratch.ordered();
  instance.unseen = unseen;
  try {
    self.learner.score_one(instance, averaged, scores);
    self.scratch = std::move(scratch);
  } catch (InputError& error) {
    self.name_the_feature(error);
    throw;
  }
}
inline double score_one(Engine& self, nb::handle x, bool averaged) {
  const SharedReading reading(self);
  if (self.learner.lanes() != 1) throw InputError("there are several scores: use scores_one");
  double score = 0;
  score_event(self, averaged, &score, x);
  return score;
}
inline nb::object scores_one(Engine& self, nb::handle x, bool averaged) {
  const SharedReading reading(self);
  std::vector<double> scores(self.learner.lanes());
  score_event(self, averaged, scores.data(), x);
  return numpy_array(std::move(scores));
}
// A row for each event of a text, a column for each lane.
inline nb::object score_events(Engine& self, const EventPart& events, bool averaged) {
  const SharedReading reading(self);
  const std::size_t lanes = self.learner.lanes();
  std::vector<double> scores = room_for(events.count(), lanes);
  for (std::size_t i = 0; i < events.count(); ++i) {
    try {
      score_event(self, averaged, scores.data() + i * lanes, events, i);
    } catch (InputError& error) {
      error.row = i;
      throw;
    }
  }
  return numpy_matrix(std::move(scores), events.count(), lanes);
}

// For each feature that is not 0: (name, value, column, weight); no column and 0 for unknown names.
inline nb::list look_up(Engine& self, nb::handle x, std::size_t lane, bool averaged) {
  const SharedReading reading(self);
  self.check_lane(lane);
  nb::list found;
  Records::for_each(x, [&](nb::handle borrowed, double value) {
    const nb::object name = nb::borrow(borrowed);  // to make a tuple may run a finalizer, which may change x
    const Hashed h = self.events.place(self.names, name, self.columns());
    if (h.column == none)
      found.append(nb::make_tuple(name, value, nb::none(), 0.0));
    else
      found.append(nb::make_tuple(name, h.sign * value, h.column, self.memory().weight(h.column, lane, averaged)));
  });
  return found;
}

// ---- labels by their names ----

// The label of the highest score, or of the sign; None before the first one is known.
inline nb::object predicted_label(Engine& self, nb::handle x, bool averaged) {
  const std::size_t lanes = self.learner.lanes(), known = self.label_names.known.size();
  double few[16];
  std::vector<double> many(lanes > 16 ? lanes : 0);
  double* scores = lanes > 16 ? many.data() : few;
  score_event(self, averaged, scores, x);
  if (known == 0) return nb::none();
  // While a batch brings new labels, there may be lanes whose labels have no names yet.
  const std::size_t place =
      self.many_lanes() ? static_cast<std::size_t>(std::max_element(scores, scores + std::min(lanes, known)) - scores)
                        : scores[0] > 0;
  return self.label_names.known[std::min(place, known - 1)];
}
inline nb::object predict_label(Engine& self, nb::handle x, bool averaged) {
  const SharedReading reading(self);
  return predicted_label(self, x, averaged);
}
// The truth that a label stands for; nothing if it is new, or there are fewer than two labels.
inline std::optional<Truth> truth_of(const Engine& self, nb::handle label) {
  PyObject* const codes = self.label_names.codes.ptr();
  PyObject* code = PyDict_GetItemWithError(codes, label.ptr());
  if (code != nullptr && PyDict_GET_SIZE(codes) >= 2) return Truth{PyFloat_AS_DOUBLE(code)};
  PyErr_Clear();  // it may not even be hashable
  return std::nullopt;
}
// Learns an event with one of the known labels. False, and nothing is done, if `truth_of` has none.
inline bool learn_label(Engine& self, nb::handle x, nb::handle label, double weight) {
  const Writing writing(self);
  const std::optional<Truth> truth = truth_of(self, label);
  if (truth) learn_held(self, x, *truth, weight);
  return truth.has_value();
}
// The prediction for an event, and then its round; x is read once. NotImplemented, and nothing is done, where
// `learn_label` does nothing.
inline nb::object round_label(Engine& self, nb::handle x, nb::handle label, double weight, bool averaged) {
  const Writing writing(self);
  const std::optional<Truth> truth = truth_of(self, label);
  if (!truth) return nb::borrow(Py_NotImplemented);
  nb::object predicted = predicted_label(self, x, averaged);
  const bool named = self.names.hashing() || self.names.columns() >= self.columns();
  learn_held(self, x, *truth, weight, named && self.events.complete());
  return predicted;
}

// ---- single-prototype ranking: names of features, and for each label the values of its own vector in them ----

inline void learn_named_block(Engine& self, const nb::list& names, const Matrix& values, double target,
                              const std::optional<Order>& labels, double weight) {
  const Writing writing(self);
  if (labels) check_ascending(labels->data(), labels->size(), none);
  self.with_new_features([&](std::size_t) {
    const NamedBlock columns(self.names, self.settings, names, values, weight != 0);
    self.add_named_columns();
    const Truth truth = labels ? Truth{0, labels->data(), labels->size()} : Truth{target};
    learn_block(self.learner, columns.block, truth, weight);
  });
}
inline nb::object score_named_block(Engine& self, const nb::list& names, const Matrix& values, bool averaged) {
  const SharedReading reading(self);
  const NamedBlock columns(self.names, self.settings, names, values, false);
  std::vector<double> scores(values.shape(0));
  score_block(self.memory(), columns.block, averaged, scores.data());
  return numpy_array(std::move(scores));
}

inline void bind_single_events(EngineClass& engine) {
  using namespace nb::literals;
  engine.def("learn_one", &learn_one, "x"_a.none(), "target"_a = 0.0, "weight"_a = 1.0, "counts"_a = true)
      .def("learn_one_labels", &learn_one_labels, "x"_a.none(), "labels"_a, "weight"_a = 1.0, "counts"_a = true)
      .def("learn_label", &learn_label, "x"_a.none(), "label"_a.none(), "weight"_a)
      .def("round_label", &round_label, "x"_a.none(), "label"_a.none(), "weight"_a, "averaged"_a)
      .def("predict_label", &predict_label, "x"_a.none(), "averaged"_a)
      .def("score_one", &score_one, "x"_a.none(), "averaged"_a)
      .def("scores_one", &scores_one, "x"_a.none(), "averaged"_a)
      .def("score_events", &score_events, "events"_a, "averaged"_a)
      .def("look_up", &look_up, "x"_a.none(), "lane"_a, "averaged"_a)
      .def("learn_block", &learn_named_block, "names"_a, "values"_a, "target"_a = 0.0, "labels"_a.none() = nb::none(),
           "weight"_a = 1.0)
      .def("score_block", &score_named_block, "names"_a, "values"_a, "averaged"_a);
}

}  // namespace hinge
