// The part of the Python module that has fleets.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "engine/engine.hpp"
#include "../fleet/ingest.hpp"
#include "fleet/engine.hpp"
#include "fleet/files.hpp"
#include "fleet/module.hpp"
#include "fleet/rounds.hpp"
#include "tensors.hpp"

namespace hinge {
namespace {

using namespace nb::literals;
using Names_ = std::optional<nb::list>;
using Class = nb::class_<FleetEngine>;

WhenFull when_full(const std::string& name) {
  if (name == "error") return WhenFull::reject;
  if (name == "ignore") return WhenFull::ignore;
  if (name == "evict") return WhenFull::evict;
  throw InputError("at a limit: 'error', 'ignore' or 'evict', not " + name);
}

// What is not an option of the fleet is a setting of its learners.
FleetOptions options_from(nb::kwargs given) {
  FleetOptions options;
  const auto take = [&](const char* name, auto& to) {
    if (!given.contains(name)) return;
    convert(given[name], to, name);
    nb::del(given[name]);
  };
  std::string keys = "error", features = "error";
  take("shared", options.shared), take("personal", options.personal), take("closed", options.closed);
  take("max_keys", options.max_keys), take("at_max_keys", keys);
  take("max_features_per_key", options.max_features), take("at_max_features", features);
  take("max_shared_features", options.max_shared_features), take("max_labels", options.max_labels);
  take("max_names", options.max_names), take("memory", options.memory);
  options.at_max_keys = when_full(keys);
  options.at_max_features = when_full(features);
  options.settings = settings_from(given);
  return options;
}

void bind_learning(Class& fleet) {
  fleet
      .def("learn_one", [](FleetEngine& self, nb::handle key, nb::handle x, nb::handle y, double weight) {
        learn_event(self, key, x, y, weight, false);
      }, "key"_a.none(), "x"_a.none(), "y"_a.none(), "weight"_a = 1.0)
      .def("round_one", [](FleetEngine& self, nb::handle key, nb::handle x, nb::handle y, double weight) {
        return learn_event(self, key, x, y, weight, true);
      }, "key"_a.none(), "x"_a.none(), "y"_a.none(), "weight"_a = 1.0)
      .def("learn_events", [](FleetEngine& self, nb::handle keys, const nb::list& events, const std::optional<nb::list>& labels,
                              const std::optional<Order>& codes, const std::optional<Doubles>& targets,
                              const std::optional<Doubles>& weights, bool predicts) {
        const FleetWriting writing(self);
        const KeyList listed = key_list(self.fleet.keys, keys);
        const FleetTargets truths(self, labels, codes, targets, weights, events.size());
        FeatureList features(self.fleet.names);
        read_events(features, events);
        ListedFeatures its{features};
        return learn_batch(self, listed, truths, its, features.size(), predicts);
      }, "keys"_a, "events"_a, "labels"_a.none(), "codes"_a.none(), "targets"_a.none(), "weights"_a.none(), "predicts"_a)
      .def("learn_dense", [](FleetEngine& self, nb::handle keys, const Array& X, const Names_& names, const std::optional<nb::list>& labels,
                             const std::optional<Order>& codes, const std::optional<Doubles>& targets,
                             const std::optional<Doubles>& weights, bool predicts) {
        const FleetWriting writing(self);
        const KeyList listed = key_list(self.fleet.keys, keys);
        const Rows rows = dense_rows(X);
        const FleetTargets truths(self, labels, codes, targets, weights, rows.count());
        RowFeatures features(rows, names);
        return learn_batch(self, listed, truths, features, rows.count(), predicts);
      }, "keys"_a, "X"_a, "names"_a.none(), "labels"_a.none(), "codes"_a.none(), "targets"_a.none(), "weights"_a.none(), "predicts"_a)
      .def("learn_sparse", [](FleetEngine& self, nb::handle keys, const Array& data, const Array& indices, const Array& indptr,
                              std::size_t width, const Names_& names, const std::optional<nb::list>& labels,
                              const std::optional<Order>& codes, const std::optional<Doubles>& targets,
                              const std::optional<Doubles>& weights, bool predicts) {
        const FleetWriting writing(self);
        const KeyList listed = key_list(self.fleet.keys, keys);
        const Rows rows = sparse_rows(data, indices, indptr, width);
        const FleetTargets truths(self, labels, codes, targets, weights, rows.count());
        RowFeatures features(rows, names);
        return learn_batch(self, listed, truths, features, rows.count(), predicts);
      }, "keys"_a, "data"_a, "indices"_a, "indptr"_a, "width"_a, "names"_a.none(), "labels"_a.none(), "codes"_a.none(),
           "targets"_a.none(), "weights"_a.none(), "predicts"_a);
}

// Learns lines of JSON, and returns what was predicted for each of them.
nb::object ingest(FleetEngine& self, const nb::bytes& text, std::string key, std::string label, std::string weight,
                  const std::vector<std::string>& aside, std::size_t max_line, bool learns) {
  const FleetWriting writing(self);
  JsonMeaning meaning;
  meaning.key = std::move(key), meaning.label = std::move(label), meaning.weight = std::move(weight);
  meaning.aside = aside;
  meaning.within = {"features", "x"};
  JsonBatch batch(self.fleet, std::move(meaning), max_line);
  FleetPredictions predictions(self, 0, true);
  {
    const WithoutGil released;
    batch.read({text.c_str(), text.size()});
    predictions = FleetPredictions(self, batch.size(), true);
    try {
      if (learns) self.fleet.learn_many(batch.size(), batch, true, predictions, answer_signals);
      else self.fleet.score_many(batch.size(), batch, predictions, answer_signals);
    } catch (InputError& error) {
      if (error.row != none) error.line = batch.line(error.row), error.row = none;
      throw;
    }
  }
  self.notice_labels();
  return predictions.result(self);
}

void bind_scores(Class& fleet) {
  fleet.def("ingest", &ingest, "text"_a, "key"_a, "label"_a, "weight"_a = "", "aside"_a = std::vector<std::string>(),
            "max_line"_a = std::size_t{1} << 24, "learns"_a = true)
      .def("learn_listed", &learn_listed, "keys"_a, "events"_a, "y"_a, "weights"_a.none(), "ages"_a, "predicts"_a = false,
           "scores"_a = false)
      .def("score_listed", &score_listed, "keys"_a, "events"_a, "scores"_a = false)
      .def("predict_one", &predict_event, "key"_a.none(), "x"_a.none())
      .def("scores_one", &scores_of_event, "key"_a.none(), "x"_a.none())
      .def("score_events", [](FleetEngine& self, nb::handle keys, const nb::list& events, bool predicts) {
        const SharedReading reading(self);
        const KeyList listed = key_list(self.fleet.keys, keys);
        FeatureList features(self.fleet.names);
        read_events(features, events);
        ListedFeatures its{features};
        return score_batch(self, listed, its, features.size(), predicts);
      }, "keys"_a, "events"_a, "predicts"_a)
      .def("score_dense", [](FleetEngine& self, nb::handle keys, const Array& X, const Names_& names, bool predicts) {
        const SharedReading reading(self);
        const KeyList listed = key_list(self.fleet.keys, keys);
        const Rows rows = dense_rows(X);
        RowFeatures features(rows, names);
        return score_batch(self, listed, features, rows.count(), predicts);
      }, "keys"_a, "X"_a, "names"_a.none(), "predicts"_a)
      .def("score_sparse", [](FleetEngine& self, nb::handle keys, const Array& data, const Array& indices, const Array& indptr,
                              std::size_t width, const Names_& names, bool predicts) {
        const SharedReading reading(self);
        const KeyList listed = key_list(self.fleet.keys, keys);
        const Rows rows = sparse_rows(data, indices, indptr, width);
        RowFeatures features(rows, names);
        return score_batch(self, listed, features, rows.count(), predicts);
      }, "keys"_a, "data"_a, "indices"_a, "indptr"_a, "width"_a, "names"_a.none(), "predicts"_a);
}

// What function() reads while nobody learns.
template <class Function>
auto read(FleetEngine& self, const Function& function) {
  const SharedReading reading(self);
  return function();
}

// The user of a key, or KeyError.
std::uint32_t found_user(const FleetEngine& self, nb::handle key) {
  const nb::object plain = plain_key(key);
  const Key bytes(plain);
  const std::uint32_t user = self.fleet.keys.find(*bytes, self.fleet.keys.tag_of(*bytes));
  if (user != Users::nobody) return user;
  PyErr_SetObject(PyExc_KeyError, plain.ptr());
  throw nb::python_error();
}
// None is what all keys share.
std::uint32_t user_or_nobody(const FleetEngine& self, nb::handle key) {
  return key.is_none() && self.fleet.options.shared ? Users::nobody : found_user(self, key);
}

void add_up(Statistics& all, const Statistics& one) {
  all.rounds += one.rounds, all.mistakes += one.mistakes, all.updates += one.updates;
  all.loss += one.loss, all.squared_loss += one.squared_loss, all.progress += one.progress, all.cost += one.cost;
  all.largest_q = std::max(all.largest_q, one.largest_q);
  all.capped += one.capped, all.weighted += one.weighted;
}

// The names of the features of a record, their weights (one row each), and the biases times the constant.
nb::tuple weights_of_record(FleetEngine& self, nb::handle key) {
  const SharedReading reading(self);
  const Fleet& fleet = self.fleet;
  const std::uint32_t user = user_or_nobody(self, key);
  const RecordLook look = fleet.keys.look(user);
  const Record& record = *look;
  const std::size_t features = record.head().features, lanes = FleetWeights(fleet).lanes_of(record);
  nb::list names;
  std::vector<double> weights(features * lanes), biases(lanes);
  for (std::size_t place = 0; place < features; ++place) {
    names.append(name_object(fleet.names.name_of(record.hashes()[place])));
    for (std::size_t r = 0; r < lanes; ++r) weights[place * lanes + r] = FleetWeights(fleet).lane_weight(record, place, r);
  }
  const double constant = FleetWeights(fleet).constant_of(user);
  for (std::size_t r = 0; r < lanes; ++r) biases[r] = FleetWeights(fleet).lane_bias(record, r) * constant;
  return nb::make_tuple(names, numpy_matrix(std::move(weights), features, lanes), numpy_array(std::move(biases)));
}

constexpr std::size_t summary_size = 7;
std::array<double, summary_size> summary_of(const Record& record) {
  const RecordHead& h = record.head();
  return {static_cast<double>(h.features), static_cast<double>(h.statistics.rounds), static_cast<double>(h.statistics.mistakes),
          static_cast<double>(h.statistics.updates), h.statistics.cost, h.statistics.loss, static_cast<double>(h.bytes)};
}

// For each feature of x that is not 0: its name, its value, its shared and its personal weight. A fleet whose keys have models
// of their own has personal weights only.
nb::list look_up_features(FleetEngine& self, nb::handle key, nb::handle x, std::size_t lane) {
  const SharedReading reading(self);
  const Fleet& fleet = self.fleet;
  const nb::object plain = plain_key(key);
  const Key bytes(plain);
  const std::uint32_t user = fleet.keys.find(*bytes, fleet.keys.tag_of(*bytes));
  const auto weight_in = [&](const Record& record, std::uint32_t hash) {
    std::uint32_t place = Record::missing;
    record.find(&hash, 1, &place);
    return place == Record::missing ? 0.0 : FleetWeights(fleet).lane_weight(record, place, lane);
  };
  std::optional<RecordLook> personal;
  if (user != Users::nobody) personal.emplace(fleet.keys.look(user));
  nb::list found;
  Records::for_each(x, [&](nb::handle borrowed, double value) {
    const nb::object name = nb::borrow(borrowed);
    const std::uint32_t hash = feature_hash(*Key(name));
    const double shared = fleet.options.shared ? weight_in(fleet.keys.record(Users::nobody), hash) : 0;
    const double its = personal ? weight_in(**personal, hash) : 0;
    found.append(nb::make_tuple(name, value, shared, fleet.options.shared ? fleet.options.personal * its : its));
  });
  return found;
}
// The shared and the personal part of the intercept.
nb::tuple intercepts(FleetEngine& self, nb::handle key, std::size_t lane) {
  const SharedReading reading(self);
  const Fleet& fleet = self.fleet;
  const nb::object plain = plain_key(key);
  const Key bytes(plain);
  const std::uint32_t user = fleet.keys.find(*bytes, fleet.keys.tag_of(*bytes));
  const auto bias_in = [&](std::uint32_t its) {
    return its == Users::nobody && !fleet.options.shared ? 0.0 : FleetWeights(fleet).lane_bias(*fleet.keys.look(its), lane);
  };
  const double constant = FleetWeights(fleet).constant_of(user);
  if (!fleet.options.shared) return nb::make_tuple(0.0, constant * bias_in(user));
  const double its = user == Users::nobody ? 0 : fleet.options.personal * bias_in(user);
  return nb::make_tuple(constant * bias_in(Users::nobody), constant * its);
}

void bind_keys(Class& fleet) {
  fleet.def("__len__", [](FleetEngine& self) { return read(self, [&] { return self.fleet.keys.size(); }); })
      .def("__contains__", [](FleetEngine& self, nb::handle key) {
        const SharedReading reading(self);
        const nb::object plain = plain_key(key);
        const Key bytes(plain);
        return self.fleet.keys.find(*bytes, self.fleet.keys.tag_of(*bytes)) != Users::nobody;
      }, "key"_a.none())
      .def("remove", [](FleetEngine& self, nb::handle key) {
        const FleetWriting writing(self);
        self.fleet.remove(found_user(self, key));
      }, "key"_a.none())
      .def("keys", [](FleetEngine& self) {
        const SharedReading reading(self);
        nb::list keys;
        for (std::uint32_t user = 0; user < self.fleet.keys.slots(); ++user)
          if (self.fleet.keys.exists(user)) keys.append(name_object(self.fleet.keys.look(user)->key()));
        return keys;
      })
      .def("statistics", [](FleetEngine& self, nb::handle key) {
        const SharedReading reading(self);
        return statistics_of(self.fleet.keys.look(user_or_nobody(self, key))->head().statistics);
      }, "key"_a.none())
      .def("totals", [](FleetEngine& self) {
        const SharedReading reading(self);
        Statistics all;
        for (std::uint32_t user = 0; user < self.fleet.keys.slots(); ++user)
          if (self.fleet.keys.exists(user)) add_up(all, self.fleet.keys.look(user)->head().statistics);
        return statistics_of(all);
      })
      .def("counts", [](FleetEngine& self, nb::handle key) {  // features, ignored features, bytes
        const SharedReading reading(self);
        const RecordLook look = self.fleet.keys.look(user_or_nobody(self, key));
        const RecordHead& head = look->head();
        return nb::make_tuple(head.features, head.ignored, head.bytes);
      }, "key"_a.none())
      .def("labels_of", [](FleetEngine& self, nb::handle key) {
        const SharedReading reading(self);
        std::vector<std::uint32_t> ids;
        self.fleet.labels_for(key.is_none() ? Users::nobody : found_user(self, key), ids);  // None: of a new key
        nb::list labels;
        for (const std::uint32_t id : ids) labels.append(self.label(id));
        return labels;
      }, "key"_a.none())
      .def("weights", &weights_of_record, "key"_a.none())
      .def("constant", [](FleetEngine& self, nb::handle key) {
        const SharedReading reading(self);
        return self.fleet.keys.look(user_or_nobody(self, key))->head().constant;
      }, "key"_a.none())
      // For each key: features, rounds, mistakes, updates, cost, loss and bytes.
      .def("summary", [](FleetEngine& self) {
        const SharedReading reading(self);
        std::vector<double> numbers;
        for (std::uint32_t user = 0; user < self.fleet.keys.slots(); ++user)
          if (self.fleet.keys.exists(user))
            for (const double number : summary_of(*self.fleet.keys.look(user))) numbers.push_back(number);
        const std::size_t rows = numbers.size() / summary_size;
        return numpy_matrix(std::move(numbers), rows, summary_size);
      })
      // The keys with the largest of such a number (a column of `summary`), and that number.
      .def("top", [](FleetEngine& self, std::size_t count, std::size_t column) {
        const SharedReading reading(self);
        std::vector<std::pair<double, std::uint32_t>> found;
        for (std::uint32_t user = 0; user < self.fleet.keys.slots(); ++user)
          if (self.fleet.keys.exists(user)) found.emplace_back(-summary_of(*self.fleet.keys.look(user))[column], user);
        const std::size_t most = std::min(count, found.size());
        std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end());
        nb::list top;
        for (std::size_t i = 0; i < most; ++i)
          top.append(nb::make_tuple(name_object(self.fleet.keys.look(found[i].second)->key()), -found[i].first));
        return top;
      }, "count"_a, "column"_a)
      .def("intercepts", &intercepts, "key"_a.none(), "lane"_a)
      .def("look_up", &look_up_features, "key"_a.none(), "x"_a.none(), "lane"_a)
      .def("export", [](FleetEngine& self, nb::handle key) {
        const SharedReading reading(self);
        return views_of<nb::memview>(exported(self.fleet, user_or_nobody(self, key))->state());
      }, "key"_a.none());
}

void bind_whole(Class& fleet) {
  fleet.def("__init__", [](FleetEngine* self, const nb::kwargs& options) { new (self) FleetEngine(options_from(options)); },
            nb::sig("def __init__(self, **options: object) -> None"), "options"_a)
      .def("set_labels", [](FleetEngine& self, const nb::list& labels) {
        const FleetWriting writing(self);
        std::vector<Label> all;
        for (nb::handle label : labels) all.push_back(checked_label(label));
        self.fleet.set_labels(all);
        self.notice_labels();
      }, "labels"_a)
      .def_prop_ro("labels", [](FleetEngine& self) { return self.label_objects; })
      .def_prop_ro("clock", [](FleetEngine& self) { return read(self, [&] { return self.fleet.clock; }); })
      .def_prop_ro("n_ignored", [](FleetEngine& self) { return read(self, [&] { return self.fleet.ignored; }); })
      .def_prop_ro("n_names", [](FleetEngine& self) { return read(self, [&] { return self.fleet.names.size(); }); })
      .def_prop_ro("record_bytes", [](FleetEngine& self) { return read(self, [&] { return self.fleet.keys.record_bytes(); }); })
      .def_prop_ro("n_cold", [](FleetEngine& self) { return read(self, [&] { return self.fleet.keys.cold(); }); })
      .def_prop_ro("file_bytes", [](FleetEngine& self) { return read(self, [&] { return self.fleet.keys.file_bytes(); }); })
      .def("__sizeof__", [](FleetEngine& self) { return read(self, [&] { return self.fleet.bytes(); }); });
}

void bind_files(Class& fleet) {
  fleet.def("save", &save_changes, "path"_a, "since"_a, "header"_a)
      .def("changes", &changes_as_bytes, "since"_a, "header"_a)
      .def("has_been", [](FleetEngine& self, const std::string& maker, std::uint64_t clock) {
        const SharedReading reading(self);
        return clock == 0 || Lineage::contains(self.fleet.lineage.parts(), self.fleet.clock, maker, clock);
      }, "maker"_a, "clock"_a)
      .def("apply", &apply_changes, "changes"_a);
}

}  // namespace

void define_fleet(nb::module_& m) {
  nb::class_<OpenChanges>(m, "FleetChanges")
      .def_static("of_bytes", &open_changes, "changes"_a, "source"_a)
      .def_static("of_file", &open_changes_file, "path"_a, "source"_a)
      .def_prop_ro("header", [](const OpenChanges& self) { return text_of(self.head.header); });
  Class fleet(m, "Fleet");
  bind_whole(fleet);
  bind_learning(fleet);
  bind_scores(fleet);
  bind_keys(fleet);
  bind_files(fleet);
}

}  // namespace hinge
