// The weights of a fleet, or their averages, for those who look at them or export them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fleet.hpp"

namespace hinge {

class FleetWeights {
 public:
  explicit FleetWeights(const Fleet& fleet) : fleet_(fleet) {}

  double weight(const Record& record, std::size_t place, std::size_t lane) const {
    const std::size_t at = place * record.head().width + lane;
    double weight = 0;
    with_weights(record, fleet_.keys.layout, [&](const auto* weights, std::size_t) { weight = static_cast<double>(weights[at]); });
    const double tallied = rounds_tallied(record);
    return tallied == 0 ? weight : (tallied * weight + record.u()[at]) / tallied;
  }
  // How many lanes a learner of the key has, as far as the record may have them.
  std::size_t lanes_of(const Record& record) const {
    if (!fleet_.is_classification()) return 1;
    const std::size_t labels = fleet_.own_labels() ? record.head().labels : fleet_.known().size();
    return labels > 2 ? labels : 1;
  }
  // The same in a lane that a record may not have yet: it has half of the one w of two classes, or nothing.
  double lane_weight(const Record& record, std::size_t place, std::size_t lane) const {
    return in_lane(record, lane, [&](std::size_t its) { return weight(record, place, its); });
  }
  double lane_bias(const Record& record, std::size_t lane) const {
    return in_lane(record, lane, [&](std::size_t its) { return bias(record, its); });
  }
  // The constant feature of the intercept; 0 without one.
  double constant_of(std::uint32_t user) const {
    if (!fleet_.options.settings.fit_intercept || (user == Users::nobody && !fleet_.options.shared)) return 0;
    return fleet_.keys.look(fleet_.options.shared ? Users::nobody : user)->head().constant;
  }
  // Of the constant feature.
  double bias(const Record& record, std::size_t lane) const {
    const double tallied = rounds_tallied(record);
    if (tallied == 0) return record.biases()[lane];
    const bool is_personal = fleet_.options.shared && record.bytes() != fleet_.keys.record(Users::nobody).bytes();
    return ((is_personal ? tallied * record.biases()[lane] : 0) + record.bias_sums()[lane]) / tallied;
  }

 private:
  template <class Function>
  double in_lane(const Record& record, std::size_t lane, const Function& function) const {
    if (record.head().width == 1 && lanes_of(record) > 1) return lane > 1 ? 0 : (lane == 1 ? 0.5 : -0.5) * function(0);
    return lane < record.head().width ? function(lane) : 0;
  }
  // How many rounds the average of a record includes; the scalars of the shared part are those of all.
  double rounds_tallied(const Record& record) const {
    const std::int64_t from = fleet_.options.settings.average_from;
    if (from == 0) return 0;
    const Record scalars = fleet_.options.shared ? fleet_.keys.record(Users::nobody) : record;
    return static_cast<double>(std::max<std::int64_t>(0, scalars.head().statistics.rounds - from + 1));
  }

  const Fleet& fleet_;
};

}  // namespace hinge
