// The model of one key as a learner of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "../model/model.hpp"
#include "weights.hpp"

namespace hinge {

// A new learner with the labels of a key, whose weights are not there yet.
inline std::unique_ptr<Model> learner_for(const Fleet& fleet, std::uint32_t user) {
  Settings settings = fleet.options.settings;
  std::vector<std::uint32_t> ids;
  fleet.labels_for(user, ids);
  if (fleet.is_classification()) settings.labels = std::max<std::size_t>(1, ids.size());
  auto model = std::make_unique<Model>(settings);
  for (const std::uint32_t id : ids) model->labels.push_back(fleet.labels[id]);
  return model;
}

// The columns of a record with all of its state.
inline void take_record(const Fleet& fleet, const Record& record, Model& model) {
  const std::size_t features = record.head().features;
  std::vector<std::uint32_t> places(features);
  std::iota(places.begin(), places.end(), 0u);
  const std::vector<double> ones(features, 1.0);
  Desk desk(model.settings);
  desk.load(record, model.settings.average_from);
  desk.lay_out(record, {places.data(), ones.data(), features}, 1);
  desk.learner.memory().resize(features);
  desk.learner.observes = Observes::nothing;
  Tensors state;
  save_weights(model.settings, desk.learner, state);
  if (Progress::has_calibration(model.learner, record.head().statistics)) Progress::save_calibration(Calibration(), state);
  restore_weights(model.settings, model.learner, state, 0);
  for (std::size_t j = 0; j < features; ++j) model.names.add_new(fleet.names.name_of(record.hashes()[j]));
}

// w_0 + s v_k: it predicts like the fleet, and has not learned anything by itself.
inline void take_sum(const Fleet& fleet, std::uint32_t user, Model& model) {
  const Record shared = fleet.keys.record(Users::nobody);
  const std::size_t lanes = model.learner.lanes(), width = shared.head().width;
  std::vector<std::uint32_t> hashes(shared.hashes(), shared.hashes() + shared.head().features);
  std::unordered_map<std::uint32_t, std::size_t> columns;
  for (std::size_t j = 0; j < hashes.size(); ++j) columns.emplace(hashes[j], j);
  std::vector<double> rows(hashes.size() * width), biases(width);
  const auto add = [&](const Record& from, double factor) {
    for (std::size_t r = 0; r < from.head().width; ++r) biases[r] += factor * FleetWeights(fleet).bias(from, r);
    for (std::size_t place = 0; place < from.head().features; ++place) {
      const std::size_t column = columns.at(from.hashes()[place]);
      for (std::size_t r = 0; r < from.head().width; ++r) rows[column * width + r] += factor * FleetWeights(fleet).weight(from, place, r);
    }
  };
  RecordBytes wide;
  if (user != Users::nobody) {
    const RecordLook look = fleet.keys.look(user);
    const Record& narrow = *look;
    wide = reshaped(narrow, fleet.keys.layout, narrow.head().labels, static_cast<std::uint32_t>(width));
    const Record its(fleet.keys.layout, wide.get());
    for (std::size_t place = 0; place < its.head().features; ++place)
      if (columns.emplace(its.hashes()[place], hashes.size()).second) hashes.push_back(its.hashes()[place]);
    rows.resize(hashes.size() * width);
    add(its, fleet.options.personal);
  }
  add(shared, 1);
  std::vector<double> w(hashes.size() * lanes);
  for (std::size_t j = 0; j < hashes.size(); ++j)
    for (std::size_t r = 0; r < lanes; ++r) w[r * hashes.size() + j] = rows[j * width + r];
  if (shared.head().constant != 0 && waits_for_constant(model.settings)) {
    model.learner.memory().set_constant(shared.head().constant);
    model.learner.awaits_constant = false;
  }
  model.learner.memory().start_at(w.data(), hashes.size(), biases.data());
  for (const std::uint32_t hash : hashes) model.names.add_new(fleet.names.name_of(hash));
}

inline std::unique_ptr<Model> exported(const Fleet& fleet, std::uint32_t user) {
  auto model = learner_for(fleet, user);
  if (fleet.options.shared) take_sum(fleet, user, *model);
  else if (user != Users::nobody) take_record(fleet, *fleet.keys.look(user), *model);
  return model;
}

}  // namespace hinge
