// What Python holds: a fleet with the labels of Python, safe to use from several threads.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "../../fleet/export.hpp"
#include "../labels.hpp"
#include "../locks.hpp"
#include "../settings.hpp"
#include "events.hpp"

namespace hinge {

struct FleetEngine : Guarded {
  explicit FleetEngine(FleetOptions options) : fleet(std::move(options)), features(fleet.names) {}

  Fleet fleet;
  FeatureList features;  // of single events
  nb::list label_objects;  // in the order of their numbers
  nb::dict label_ids;

  // Held while a snapshot is written. (One that a fork interrupted has no thread any more.)
  std::unique_lock<std::mutex> snapshots() {
    { const SharedReading checked(*this); }  // a call from within a call of this fleet would wait for itself
    if (snapshot_forks_ != forks) {
      (void)snapshot_.release();
      snapshot_ = std::make_unique<std::mutex>();
      snapshot_forks_ = forks;
      fleet.keys.end_past();
    }
    std::unique_lock<std::mutex> turn(*snapshot_, std::try_to_lock);
    if (!turn.owns_lock()) {
      if (snapshot_thread_ == std::this_thread::get_id())
        throw std::runtime_error("the fleet is busy: this thread is saving it, and a signal handler wants to save it, too");
      const WithoutGil released;
      turn.lock();
    }
    snapshot_thread_ = std::this_thread::get_id();
    return turn;
  }
  // A process that was forked has a copy of the fleet.
  void notice_copy() {
    if (lineage_forks_ == forks) return;
    lineage_forks_ = forks;
    fleet.lineage.disown();
  }
  // The labels are those of another fleet now.
  void relabel() {
    label_objects.clear();
    label_ids.clear();
    notice_labels();
  }
  // What was learned may have brought labels.
  void notice_labels() {
    while (label_objects.size() < fleet.labels.size()) {
      const auto id = static_cast<std::uint32_t>(label_objects.size());
      nb::object label;
      std::visit([&]<class Value>(const Value& value) {
        if constexpr (std::is_same_v<Value, std::string>) label = name_object(value);
        else label = nb::cast(value);
      }, fleet.labels[id]);
      label_objects.append(label);
      label_ids[label] = id;
    }
  }
  // The number of a label that is known.
  std::uint32_t id_of(nb::handle label) const {
    PyObject* const id = PyDict_GetItemWithError(label_ids.ptr(), label.ptr());
    if (id != nullptr) return static_cast<std::uint32_t>(PyLong_AsUnsignedLong(id));
    PyErr_Clear();  // it may not even be hashable
    return LabelTable::unknown;
  }
  nb::object label(std::uint32_t id) const {
    return id == LabelTable::unknown ? nb::none() : nb::object(label_objects[id]);
  }

 private:
  std::unique_ptr<std::mutex> snapshot_ = std::make_unique<std::mutex>();
  std::atomic<std::thread::id> snapshot_thread_;
  unsigned snapshot_forks_ = forks, lineage_forks_ = forks;
};
struct FleetWriting : Writing {
  explicit FleetWriting(FleetEngine& self) : Writing(self) { self.notice_copy(); }
};

// As `statistics_of` in src/hinge/fleet/view.py reads them.
inline nb::tuple statistics_of(const Statistics& s) {
  return nb::make_tuple(s.rounds, s.mistakes, s.updates, s.loss, s.squared_loss, s.largest_q, s.progress, s.cost, s.capped, s.weighted);
}

// A label that Python has checked and simplified (data/labels.py).
inline Label checked_label(nb::handle label) {
  return label_of(nb::module_::import_("hinge.data.labels").attr("plain")(label));
}

inline double checked_number(nb::handle y) {
  return nb::cast<double>(nb::module_::import_("hinge.data.targets").attr("number")(y));
}

// The truth of an event.
struct FleetTruth {
  FleetTruth(const FleetEngine& self, nb::handle y) {
    if (!self.fleet.is_classification()) {
      target = PyFloat_Check(y.ptr()) ? PyFloat_AS_DOUBLE(y.ptr()) : checked_number(y);
      return;
    }
    id = self.id_of(y);
    if (id == LabelTable::unknown) label = checked_label(y);
  }
  void put(FleetEvent& e) const {
    e.target = target;
    e.label = &label;
    e.label_id = id;
  }
  double target = 0;
  std::uint32_t id = LabelTable::unknown;
  Label label = false;
};

// ---- one event ----

inline nb::object predicted(const FleetEngine& self, const FleetScores& scores) {
  if (!self.fleet.is_classification()) return nb::float_(scores.lanes[0]);
  return self.label(scores.predicted());
}

// An event of Python while it is learned or scored.
struct HeldEvent {
  HeldEvent(FleetEngine& self, nb::handle given, nb::handle x, FeatureList& features)
      : key_object(plain_key(given)), key(key_object) {
    e.key = *key;
    e.tag = self.fleet.keys.tag_of(e.key);
    self.fleet.keys.prefetch_head(e.tag);  // it arrives while the dict is read
    features.clear();
    add_event(features, x);
    features.finish();
    e.x = features[0];
    self.fleet.keys.prefetch_record(e.tag);
  }
  nb::object key_object;
  Key key;
  FleetEvent e;
};

inline nb::object learn_event(FleetEngine& self, nb::handle key, nb::handle x, nb::handle y, double weight, bool predicts) {
  const FleetWriting writing(self);
  HeldEvent event(self, key, x, self.features);
  const FleetTruth truth(self, y);
  truth.put(event.e);
  event.e.weight = weight;
  FleetScores before;
  self.fleet.learn(event.e, predicts ? &before : nullptr);
  nb::object prediction = predicts ? predicted(self, before) : nb::none();
  self.notice_labels();
  return prediction;
}
inline FleetScores score_event(FleetEngine& self, nb::handle key, nb::handle x) {
  FeatureList features(self.fleet.names);
  const HeldEvent event(self, key, x, features);
  FleetScores scores;
  self.fleet.score(event.e, scores);
  return scores;
}
inline nb::object predict_event(FleetEngine& self, nb::handle key, nb::handle x) {
  const SharedReading reading(self);
  return predicted(self, score_event(self, key, x));
}
// The labels and their scores, one for each lane.
inline nb::tuple scores_of_event(FleetEngine& self, nb::handle key, nb::handle x) {
  const SharedReading reading(self);
  const FleetScores scores = score_event(self, key, x);
  nb::list labels;
  for (const std::uint32_t id : scores.labels) labels.append(self.label(id));
  return nb::make_tuple(labels, scores.lanes);
}

// ---- many ----

// Truths and weights of a batch. Labels are numbered: `codes` are places in `labels`.
struct FleetTargets {
  FleetTargets(const FleetEngine& self, const std::optional<nb::list>& labels, const std::optional<Order>& codes,
               const std::optional<Doubles>& targets, const std::optional<Doubles>& given, std::size_t count) {
    if (labels) {
      for (nb::handle label : *labels) {
        ids.push_back(self.id_of(label));
        all.push_back(ids.back() == LabelTable::unknown ? checked_label(label) : Label(false));
      }
    }
    const std::size_t truths = codes ? codes->size() : targets ? targets->size() : none;
    if (truths != none && truths != count)
      throw InputError("y has " + std::to_string(truths) + " entries for " + std::to_string(count) + " rows");
    if (given && given->size() != count)
      throw InputError("sample_weight has " + std::to_string(given->size()) + " entries for " + std::to_string(count) + " rows");
    places = codes ? codes->data() : nullptr;
    numbers = targets ? targets->data() : nullptr;
    weights = given ? given->data() : nullptr;
  }
  void put(std::size_t i, FleetEvent& e) const {
    if (numbers != nullptr) e.target = numbers[i];
    if (weights != nullptr) e.weight = weights[i];
    if (places == nullptr) return;
    const auto place = static_cast<std::size_t>(places[i]);
    if (place >= all.size()) throw InputError("there is no such label", i);
    e.label = &all[place];
    e.label_id = ids[place];
  }
  std::vector<Label> all;
  std::vector<std::uint32_t> ids;
  const std::int64_t* places;
  const double *numbers, *weights;
};

// What is predicted for many events: numbers of labels, or numbers.
struct FleetPredictions {
  FleetPredictions(const FleetEngine& self, std::size_t count, bool wanted) : is_wanted(wanted) {
    if (!wanted) return;
    if (self.fleet.is_classification()) labels.resize(count);
    else numbers = room_for(count);
  }
  void operator()(std::size_t row, const FleetScores& scores) {
    if (!is_wanted) return;
    if (!labels.empty()) labels[row] = static_cast<std::int32_t>(scores.predicted());  // unknown: -1
    else numbers[row] = scores.lanes[0];
  }
  nb::object result(const FleetEngine& self) {
    if (!is_wanted) return nb::none();
    return self.fleet.is_classification() ? numpy_array(std::move(labels)) : numpy_array(std::move(numbers));
  }
  bool is_wanted;
  std::vector<std::int32_t> labels;
  std::vector<double> numbers;
};

// All scores of many events: they may differ in their labels.
struct FleetScoreList {
  void operator()(std::size_t /*row*/, const FleetScores& of) {
    scores.insert(scores.end(), of.lanes.begin(), of.lanes.end());
    for (const std::uint32_t id : of.labels) labels.push_back(static_cast<std::int32_t>(id));
    starts.push_back(static_cast<std::int64_t>(scores.size()));
    label_starts.push_back(static_cast<std::int64_t>(labels.size()));
  }
  nb::tuple result() {
    return nb::make_tuple(numpy_array(std::move(scores)), numpy_array(std::move(starts)), numpy_array(std::move(labels)),
                          numpy_array(std::move(label_starts)));
  }
  std::vector<double> scores;
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> starts{0}, label_starts{0};
};

// Events whose features are in a list, or in the rows of an array.
template <class FeaturesOf, class Targets = FleetTargets>
struct FleetBatch {
  const KeyList& keys;
  const Targets* targets;
  FeaturesOf& features;

  std::uint32_t tag(std::size_t i) const { return keys.tag(i); }
  FeaturesAhead features_ahead(std::size_t i) const { return features.ahead(i); }
  void operator()(std::size_t i, FleetEvent& e) const {
    e.key = keys.key(i);
    e.tag = keys.tag(i);
    e.x = features(i);
    if (targets != nullptr) targets->put(i, e);
  }
};
struct ListedFeatures {
  const FeatureList& list;
  FeaturesAhead ahead(std::size_t i) const { return list.ahead(i); }
  EventFeatures operator()(std::size_t i) const { return list[i]; }
};

template <class FeaturesOf>
nb::object learn_batch(FleetEngine& self, const KeyList& keys, const FleetTargets& targets, FeaturesOf& features,
                       std::size_t count, bool predicts) {
  if (keys.size() != count)
    throw InputError("there are " + std::to_string(keys.size()) + " keys for " + std::to_string(count) + " rows");
  FleetPredictions predictions(self, count, predicts);
  {
    const WithoutGil released;
    self.fleet.learn_many(count, FleetBatch<FeaturesOf>{keys, &targets, features}, predicts, predictions, answer_signals);
  }
  self.notice_labels();
  return predictions.result(self);
}
template <class FeaturesOf>
nb::object score_batch(FleetEngine& self, const KeyList& keys, FeaturesOf& features, std::size_t count, bool predicts) {
  if (keys.size() != count)
    throw InputError("there are " + std::to_string(keys.size()) + " keys for " + std::to_string(count) + " rows");
  FleetPredictions predictions(self, count, predicts);
  FleetScoreList scores;
  const FleetBatch<FeaturesOf> batch{keys, nullptr, features};
  {
    const WithoutGil released;
    if (predicts) self.fleet.score_many(count, batch, predictions, answer_signals);
    else self.fleet.score_many(count, batch, scores, answer_signals);
  }
  return predicts ? predictions.result(self) : nb::object(scores.result());
}

inline void read_events(FeatureList& features, const nb::list& events) {
  features.clear();
  for (std::size_t i = 0; i < events.size(); ++i) try {
      add_event(features, events[i]);
    } catch (InputError& error) {
      error.row = i;
      throw;
    }
  features.finish();
}

}  // namespace hinge
