// What a run over a stream learns with, without NumPy: listed keys and truths, events as dicts or of a text, and an account
// of how well they were predicted before, by the age of their keys.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../event_part.hpp"
#include "engine.hpp"

namespace hinge {

// Truths of any kind that Python has checked.
struct ListedTruths {
  ListedTruths(const FleetEngine& self, const nb::list& y, const std::optional<Doubles>& given) : fleet(self.fleet) {
    const std::size_t count = y.size();
    for (std::size_t i = 0; i < count; ++i) {
      const FleetTruth truth(self, y[i]);
      if (!fleet.is_classification()) {
        targets.push_back(truth.target);
        continue;
      }
      ids.push_back(truth.id);
      places.push_back(labels.size());
      if (truth.id == LabelTable::unknown) labels.push_back(truth.label);
    }
    if (given && given->size() != count) throw InputError("there must be one weight per event");
    weights = given ? given->data() : nullptr;
  }
  void put(std::size_t i, FleetEvent& e) const {
    e.weight = weight(i);
    if (!fleet.is_classification()) {
      e.target = targets[i];
      return;
    }
    e.label_id = ids[i];
    if (ids[i] == LabelTable::unknown) e.label = &labels[places[i]];
  }
  double weight(std::size_t i) const { return weights == nullptr ? 1 : weights[i]; }
  // What a prediction costs: 1 if it is wrong, or the distance.
  double cost(std::size_t i, const FleetScores& scores) const {
    if (!fleet.is_classification()) return std::abs(scores.lanes[0] - targets[i]);
    const std::uint32_t id = ids[i] == LabelTable::unknown ? fleet.labels.find(labels[places[i]]) : ids[i];
    return id == LabelTable::unknown || scores.predicted() != id;
  }

  const Fleet& fleet;
  std::vector<double> targets;
  std::vector<std::uint32_t> ids;
  std::vector<std::size_t> places;  // of labels that are new
  std::vector<Label> labels;
  const double* weights = nullptr;
};

// How often keys of some age were predicted, and what that cost.
struct AgeCount {
  std::int64_t rounds = 0;
  double cost = 0;
};

// What is asked of the rounds of a batch.
struct FleetAccount {
  FleetAccount(const FleetEngine& self, const ListedTruths& its_truths, std::vector<std::int64_t> starts, bool predictions, bool scores)
      : engine(self), truths(its_truths), ages(std::move(starts)), by_age(ages.size()), wants_predictions(predictions),
        wants_scores(scores), averages(self.fleet.options.settings.average_from > 0),
        ignores(self.fleet.options.at_max_keys == WhenFull::ignore) {}

  bool needs_scores() const { return wants_predictions || wants_scores || averages || ignores; }
  void operator()(std::size_t row, const FleetScores& before) {
    const FleetRound& last = engine.fleet.last;
    Fleet::add(sum, last.counted);
    if (truths.weight(row) > 0) {
      // The core counts the errors of the weights themselves, not of their average, and not those of keys that are ignored.
      const bool is_counted = !averages && last.counted.rounds > 0;
      const double distance = engine.fleet.is_classification() ? static_cast<double>(last.counted.mistakes) : last.counted.cost;
      const auto older = std::upper_bound(ages.begin(), ages.end(), last.age);
      AgeCount& its = by_age[static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, older - ages.begin()) - 1)];
      its.rounds += 1;
      its.cost += is_counted ? distance : truths.cost(row, before);
    }
    if (wants_predictions) predictions(row, before);
    if (wants_scores) scores(row, before);
  }

  struct Predictions {
    void operator()(std::size_t, const FleetScores& before) {
      labels.push_back(before.predicted());
      numbers.push_back(before.lanes[0]);
    }
    std::vector<std::uint32_t> labels;
    std::vector<double> numbers;
  };

  // After the labels of the batch are known to Python.
  nb::tuple result() const {
    nb::list counts;
    for (const AgeCount& count : by_age) counts.append(nb::make_tuple(count.rounds, count.cost));
    nb::object predicted = nb::none(), scored = nb::none();
    if (wants_predictions) {
      nb::list all;
      for (std::size_t i = 0; i < predictions.labels.size(); ++i) {
        if (engine.fleet.is_classification()) all.append(engine.label(predictions.labels[i]));
        else all.append(predictions.numbers[i]);
      }
      predicted = all;
    }
    if (wants_scores) scored = listed(engine, scores);
    return nb::make_tuple(predicted, scored, counts, statistics_of(sum));
  }
  // A number for each event, or a dict of labels and scores if there are more than two.
  static nb::list listed(const FleetEngine& engine, const FleetScoreList& scores) {
    nb::list all;
    for (std::size_t i = 0; i + 1 < scores.starts.size(); ++i) {
      const auto lane = static_cast<std::size_t>(scores.starts[i]), first = static_cast<std::size_t>(scores.label_starts[i]);
      const auto labels = static_cast<std::size_t>(scores.label_starts[i + 1]) - first;
      if (labels <= 2) {
        all.append(scores.scores[lane]);
        continue;
      }
      nb::dict by_label;
      for (std::size_t j = 0; j < labels; ++j) by_label[engine.label(static_cast<std::uint32_t>(scores.labels[first + j]))] = scores.scores[lane + j];
      all.append(by_label);
    }
    return all;
  }

  const FleetEngine& engine;
  const ListedTruths& truths;
  std::vector<std::int64_t> ages;  // the first age of each group
  std::vector<AgeCount> by_age;
  bool wants_predictions, wants_scores, averages, ignores;
  Predictions predictions;
  FleetScoreList scores;
  Statistics sum;
};

inline FeatureList features_of_events(const FleetEngine& self, nb::handle events) {
  FeatureList features(self.fleet.names);
  const EventPart* part = nullptr;
  if (!nb::try_cast(events, part)) {
    read_events(features, nb::cast<nb::list>(events));
    return features;
  }
  const WithoutGil released;
  features.clear();
  for (std::size_t i = 0; i < part->count(); ++i) try {
      part->for_each(i, [&](std::string_view name, double value) { features.add(name, value); });
      features.end_event();
    } catch (InputError& error) {
      error.row = i;
      throw;
    }
  features.finish();
  return features;
}

inline void check_count(std::size_t keys, std::size_t truths, std::size_t events) {
  if (keys != events || truths != events)
    throw InputError("there are " + std::to_string(keys) + " keys and " + std::to_string(truths) + " truths for " +
                     std::to_string(events) + " events");
}

// Learns events, all or none. Returns what was predicted for each before (or None), its scores (or None), how often keys
// of each age were predicted and what that cost, and what the rounds have counted.
inline nb::tuple learn_listed(FleetEngine& self, nb::handle keys, nb::handle events, const nb::list& y,
                              const std::optional<Doubles>& weights, std::vector<std::int64_t> ages, bool predicts, bool scores) {
  const FleetWriting writing(self);
  const KeyList listed = key_list(self.fleet.keys, keys);
  const ListedTruths truths(self, y, weights);
  const FeatureList features = features_of_events(self, events);
  check_count(listed.size(), y.size(), features.size());
  FleetAccount account(self, truths, std::move(ages), predicts, scores);
  {
    const WithoutGil released;
    const ListedFeatures its{features};
    const FleetBatch<const ListedFeatures, ListedTruths> batch{listed, &truths, its};
    self.fleet.learn_many(features.size(), batch, account.needs_scores(), account, answer_signals);
  }
  self.notice_labels();
  return account.result();
}

// The predictions for events, and their scores if they are wanted.
inline nb::tuple score_listed(FleetEngine& self, nb::handle keys, nb::handle events, bool scores) {
  const SharedReading reading(self);
  const KeyList listed = key_list(self.fleet.keys, keys);
  const FeatureList features = features_of_events(self, events);
  check_count(listed.size(), features.size(), features.size());
  const ListedTruths nothing(self, nb::list(), std::nullopt);
  FleetAccount account(self, nothing, {0}, true, scores);
  auto both = [&](std::size_t row, const FleetScores& its) {
    account.predictions(row, its);
    if (scores) account.scores(row, its);
  };
  {
    const WithoutGil released;
    const ListedFeatures its{features};
    const FleetBatch<const ListedFeatures> batch{listed, nullptr, its};
    self.fleet.score_many(features.size(), batch, both, answer_signals);
  }
  return nb::make_tuple(account.result()[0], account.result()[1]);
}

}  // namespace hinge
