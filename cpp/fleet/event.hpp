// What a fleet is made with, what it learns, and what it returns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "../model/settings.hpp"
#include "features.hpp"
#include "labels.hpp"

namespace hinge {

enum class WhenFull : std::uint8_t { reject, ignore, evict };

struct FleetOptions {
  Settings settings;      // of each learner
  bool shared = true;
  double personal = 0.5;  // s
  bool closed = false;    // whether the labels are known from the start
  std::size_t max_keys = std::size_t{1} << 31;
  WhenFull at_max_keys = WhenFull::reject;
  std::size_t max_features = 10000;  // of a key
  WhenFull at_max_features = WhenFull::reject;
  std::size_t max_shared_features = std::size_t{1} << 24;
  std::size_t max_labels = 1000;
  std::size_t max_names = std::size_t{1} << 20;
  double memory = HUGE_VAL;  // bytes; beyond it, keys that have not learned for long go to disk
};

struct FleetEvent {
  std::string_view key;
  std::uint32_t tag = 0;  // Keys::tag_of(key)
  EventFeatures x;
  double target = 0;             // of regression
  const Label* label = nullptr;  // of classification
  std::uint32_t label_id = LabelTable::unknown;  // its number, if that is known
  double weight = 1;
};

// The scores of an event, one per lane, and the labels in the order of the learner.
struct FleetScores {
  std::vector<double> lanes;
  std::vector<std::uint32_t> labels;

  // Two classes have one score; 0 is the first class.
  std::uint32_t predicted() const {
    if (labels.empty()) return LabelTable::unknown;
    if (lanes.size() == 1) return labels[labels.size() == 2 && lanes[0] > 0];
    const auto end = lanes.begin() + static_cast<std::ptrdiff_t>(std::min(lanes.size(), labels.size()));
    return labels[static_cast<std::size_t>(std::max_element(lanes.begin(), end) - lanes.begin())];
  }
};

// What a round has counted, and how many rounds the key had before.
struct FleetRound {
  Statistics counted;
  std::int64_t age = 0;
};

}  // namespace hinge
