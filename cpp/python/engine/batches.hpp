// Batches: arrays and lists of events. The loops run without the GIL.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "targets.hpp"

namespace hinge {

struct Passes {
  std::optional<Order> order;
  double tolerance = -1;
  std::int64_t max_updates = std::numeric_limits<std::int64_t>::max(), first = -1;
  bool repeats = false;
};
// Where the scores of a batch go, if they are wanted: one row per visit, one column per lane.
struct ScoresWanted {
  std::optional<WritableMatrix> to;
  bool averaged = false;

  void put(Batch& batch, std::size_t lanes, std::size_t known) const {
    if (!to) return;
    if (to->shape(0) != batch.count || to->shape(1) != lanes)
      throw InputError("scores must have " + std::to_string(batch.count) + " rows of " + std::to_string(lanes));
    batch.scores = to->data();
    batch.averaged = averaged;
    batch.known = known;
  }
};

inline std::size_t learn_rows(Engine& self, const Rows& rows, Targets& targets, const Passes& passes,
                              const ScoresWanted& scores = {}) {
  const Writing writing(self);
  Batch batch;
  batch.rows = &rows;
  targets.put(batch, self.many_lanes());
  batch.order = passes.order ? passes.order->data() : nullptr;
  batch.count = passes.order ? passes.order->size() : rows.count();
  batch.tolerance = passes.tolerance;
  batch.max_updates = passes.max_updates;
  batch.first = passes.first;
  batch.repeats = passes.repeats;
  const std::size_t known = self.columns();
  scores.put(batch, self.learner.lanes(), known);
  try {
    self.model.make_room(rows.width());
    const WithoutGil released;
    return self.learner.learn(batch, answer_signals);
  } catch (...) {
    self.memory().resize(known);
    throw;
  }
}

inline std::size_t count_of(const nb::list& events) { return events.size(); }
inline std::size_t count_of(const EventPart& events) { return events.count(); }
// How many features they have, if that is known.
inline std::size_t features_of(const nb::list&) { return 0; }
inline std::size_t features_of(const EventPart& events) { return events.size(); }

// Events, in a list or of a text, as CSR arrays. New features get columns, but not those of events whose weight is 0.
struct EventRows {
  std::vector<double> values;
  std::vector<std::int64_t> columns, starts{0};
  std::vector<std::size_t> dimensions;  // how many columns there are with each event

  template <class Several>
  void read(Engine& self, const Several& events, std::size_t known, const double* weights) {
    const std::size_t count = count_of(events), expected = features_of(events);
    values.reserve(expected), columns.reserve(expected);
    for (std::size_t i = 0; i < count; ++i) {
      try {
        self.read_event(events, i, weights != nullptr ? weights[i] : 1);
      } catch (InputError& error) {
        error.row = i;
        throw;
      }
      const Instance x = self.scratch.ordered();
      const auto* its_values = static_cast<const double*>(x.values);
      const auto* its_columns = static_cast<const std::int64_t*>(x.columns);
      values.insert(values.end(), its_values, its_values + x.size);
      columns.insert(columns.end(), its_columns, its_columns + x.size);
      starts.push_back(static_cast<std::int64_t>(columns.size()));
      dimensions.push_back(std::max(known, self.names.columns()));
    }
  }
};

// Events as one batch: all or none.
template <class Several>
std::size_t learn_events(Engine& self, const Several& events, const std::optional<Array>& y,
                               const std::optional<Classes>& classes, const std::optional<Order>& label_starts,
                               const std::optional<Doubles>& weights, const std::optional<WritableMatrix>& scores,
                               bool averaged) {
  const Writing writing(self);
  Targets targets(y, classes, label_starts, weights, count_of(events));
  std::size_t presented = 0;
  self.with_new_features([&](std::size_t known) {
    EventRows read;
    read.read(self, events, known, weights ? weights->data() : nullptr);
    const std::size_t width = std::max(known, self.names.columns());
    const Rows rows = Rows::sparse(read.values.data(), Precision::double_, read.columns.data(), true, read.starts.data(),
                                   true, read.dimensions.size(), width, read.values.size());
    Batch batch;
    batch.rows = &rows;
    targets.put(batch, self.many_lanes());
    batch.count = rows.count();
    batch.dimensions = read.dimensions.data();
    ScoresWanted{scores, averaged}.put(batch, self.learner.lanes(), known);
    const WithoutGil released;
    presented = self.learner.learn(batch, answer_signals);
  });
  return presented;
}

// Events as CSR arrays, for several passes over them. Their features are known from here on.
template <class Several>
nb::tuple read_events(Engine& self, const Several& events) {
  const Writing writing(self);
  EventRows read;
  self.with_new_features([&](std::size_t known) {
    read.read(self, events, known, nullptr);
    self.memory().resize(std::max(known, self.names.columns()));
  });
  return nb::make_tuple(numpy_array(std::move(read.values)), numpy_array(std::move(read.columns)),
                        numpy_array(std::move(read.starts)), self.columns());
}

// One score per row, or one per lane in each row.
inline nb::object score_rows(Engine& self, const Rows& rows, bool averaged) {
  std::vector<double> scores;
  std::size_t lanes = 1;
  {
    const SharedReading reading(self);
    lanes = self.learner.lanes();
    scores = room_for(rows.count(), lanes);
    const WithoutGil released;
    self.learner.score(rows, averaged, scores.data());
  }
  return lanes == 1 ? numpy_array(std::move(scores)) : numpy_matrix(std::move(scores), rows.count(), lanes);
}

// After several passes over the same rows.
inline void forget_rows(Engine& self) {
  const Writing writing(self);
  self.learner.forget_rows();
}

inline void bind_batches(EngineClass& engine) {
  using namespace nb::literals;
  engine
      .def(
          "learn_dense",
          [](Engine& self, const Array& X, const std::optional<Array>& y, const std::optional<Classes>& classes,
             const std::optional<Order>& label_starts, const std::optional<Doubles>& weights,
             const std::optional<Order>& order, double tolerance, std::int64_t max_updates, std::int64_t first,
             bool repeats) {
            const Rows rows = dense_rows(X);
            Targets targets(y, classes, label_starts, weights, rows.count());
            return learn_rows(self, rows, targets, {order, tolerance, max_updates, first, repeats});
          },
          "X"_a, "y"_a.none(), "classes"_a.none() = nb::none(), "label_starts"_a.none() = nb::none(),
          "weights"_a.none() = nb::none(), "order"_a.none() = nb::none(), "tolerance"_a = -1.0,
          "max_updates"_a = INT64_MAX, "first"_a = -1, "repeats"_a = false)
      .def(
          "learn_sparse",
          [](Engine& self, const Array& data, const Array& indices, const Array& indptr, std::size_t width,
             const std::optional<Array>& y, const std::optional<Classes>& classes,
             const std::optional<Order>& label_starts, const std::optional<Doubles>& weights,
             const std::optional<Order>& order, double tolerance, std::int64_t max_updates, std::int64_t first,
             bool repeats, const std::optional<WritableMatrix>& scores, bool averaged) {
            const Rows rows = sparse_rows(data, indices, indptr, width);
            Targets targets(y, classes, label_starts, weights, rows.count());
            return learn_rows(self, rows, targets, {order, tolerance, max_updates, first, repeats}, {scores, averaged});
          },
          "data"_a, "indices"_a, "indptr"_a, "width"_a, "y"_a.none(), "classes"_a.none() = nb::none(),
          "label_starts"_a.none() = nb::none(), "weights"_a.none() = nb::none(), "order"_a.none() = nb::none(),
          "tolerance"_a = -1.0, "max_updates"_a = INT64_MAX, "first"_a = -1, "repeats"_a = false,
          "scores"_a.none().noconvert() = nb::none(), "averaged"_a = false)
      .def("learn_dicts", &learn_events<nb::list>, "events"_a, "y"_a.none(), "classes"_a.none() = nb::none(),
           "label_starts"_a.none() = nb::none(), "weights"_a.none() = nb::none(),
           "scores"_a.none().noconvert() = nb::none(), "averaged"_a = false)
      .def("learn_dicts", &learn_events<EventPart>, "events"_a, "y"_a.none(), "classes"_a.none() = nb::none(),
           "label_starts"_a.none() = nb::none(), "weights"_a.none() = nb::none(),
           "scores"_a.none().noconvert() = nb::none(), "averaged"_a = false)
      .def("read_dicts", &read_events<nb::list>, "events"_a)
      .def("read_dicts", &read_events<EventPart>, "events"_a)
      .def("forget_rows", &forget_rows)
      .def(
          "score_dense", [](Engine& self, const Array& X, bool averaged) { return score_rows(self, dense_rows(X), averaged); },
          "X"_a, "averaged"_a, nb::sig("def score_dense(self, X: object, averaged: bool) -> object"))
      .def(
          "score_sparse",
          [](Engine& self, const Array& data, const Array& indices, const Array& indptr, std::size_t width, bool averaged,
             const std::optional<Doubles>& unseen) {
            const Rows rows = sparse_rows(data, indices, indptr, width);
            if (unseen && unseen->size() != rows.count()) throw InputError("there must be one unseen length for each row");
            return score_rows(self, unseen ? rows.with_unseen(unseen->data()) : rows, averaged);
          },
          "data"_a, "indices"_a, "indptr"_a, "width"_a, "averaged"_a, "unseen"_a.none() = nb::none());
}

}  // namespace hinge
