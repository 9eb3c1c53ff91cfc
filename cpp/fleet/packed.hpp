// A record without what can be computed again: no room for more features, and no index.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "reshape.hpp"

namespace hinge {

inline void append_packed(std::string& to, const Record& record, const RecordLayout& layout) {
  RecordHead head = record.head();
  const std::size_t features = head.features, weights = features * head.width;
  const std::size_t begin = to.size();
  to.resize(begin + sizeof head);
  to.append(record.bytes() + sizeof head, record.fixed_bytes() - sizeof head);
  const auto add = [&](const void* from, std::size_t bytes) { to.append(static_cast<const char*>(from), bytes); };
  if (layout.averages) add(record.u(), weights * sizeof(double));
  if (layout.variances) add(record.t(), features * sizeof(double));
  add(record.v(), weights * layout.real);
  add(record.hashes(), features * sizeof(std::uint32_t));
  head.room = head.features;
  head.bytes = to.size() - begin;
  std::memcpy(to.data() + begin, &head, sizeof head);
}

// What a record may be in a certain fleet.
struct RecordLimits {
  std::size_t longest_key, most_width, labels;
  std::size_t most_labels;  // of a record
  double weight_bound = 0;  // of all weights, if a record does not have its own
};

namespace packed {

inline void require(bool holds, const char* what) {
  if (!holds) throw InputError(std::string("a record is invalid: ") + what);
}
inline bool all_finite(const double* numbers, std::size_t count) {
  double sum = 0;  // of zeros, unless a number is not finite
  for (std::size_t i = 0; i < count; ++i) sum += numbers[i] * 0;
  return sum == 0;
}
inline bool is_finite(const RecordHead& h) {
  const Statistics& s = h.statistics;
  const double sums[] = {s.loss, s.squared_loss, s.largest_q, s.progress, s.cost, h.constant, h.weight_bound, h.added};
  return all_finite(sums, std::size(sums));
}
inline void check(const RecordHead& h, const RecordLimits& limits) {
  require(h.room == h.features, "its room");
  require(h.key_bytes <= limits.longest_key, "its key is too long");
  require(h.width >= 1 && h.width <= limits.most_width, "its width");
  require(h.labels <= limits.most_labels, "it has too many labels");
  const Statistics& s = h.statistics;
  require(s.rounds >= 0 && s.mistakes >= 0 && s.updates >= 0 && s.mistakes <= s.rounds && s.updates <= s.rounds, "its counts");
  require(is_finite(h) && s.largest_q >= 0 && h.constant >= 0 && h.weight_bound >= 0, "its sums");
}
inline void check(const Record& record, const RecordLayout& layout, const RecordLimits& limits) {
  const RecordHead& h = record.head();
  for (std::uint32_t i = 0; i < h.labels; ++i) {
    require(record.labels()[i] < limits.labels, "it has an unknown label");
    for (std::uint32_t j = 0; j < i; ++j) require(record.labels()[i] != record.labels()[j], "it has a label twice");
  }
  require(all_finite(record.biases(), h.width), "its intercept");
  if (layout.averages)
    require(all_finite(record.bias_sums(), h.width) && all_finite(record.u(), std::size_t{h.features} * h.width), "its averages");
  if (layout.variances) {
    require(std::isfinite(record.bias_precision()) && all_finite(record.t(), h.features), "its covariance");
    for (std::uint32_t i = 0; i < h.features; ++i) require(record.t()[i] >= 0, "its covariance");
  }
  double largest = 0;
  bool finite = true;
  with_weights(record, layout, [&](const auto* weights, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      finite = finite && std::isfinite(weights[i]);
      largest = std::max(largest, std::abs(static_cast<double>(weights[i])));
    }
  });
  require(finite && largest <= std::max(h.weight_bound, limits.weight_bound), "its weights");
}

}  // namespace packed

// The record that was packed; throws InputError if no fleet has written these bytes.
inline RecordBytes unpacked(std::string_view bytes, const RecordLayout& layout, const RecordLimits& limits) {
  RecordHead head;
  packed::require(bytes.size() >= sizeof head, "it is too short");
  std::memcpy(&head, bytes.data(), sizeof head);
  packed::check(head, limits);
  const std::size_t weight = layout.real + (layout.averages ? sizeof(double) : 0);
  const std::size_t feature = weight * head.width + sizeof(std::uint32_t) + (layout.variances ? sizeof(double) : 0);
  packed::require(head.features <= bytes.size() / feature, "it is too short");
  RecordBytes made = Record::empty(layout, head);
  const Record to(layout, made.get());
  packed::require(to.fixed_bytes() + feature * head.features == bytes.size(), "it has another size");

  const char* from = bytes.data() + sizeof head;
  const auto take = [&](void* place, std::size_t count) {
    if (count > 0) std::memcpy(place, from, count);
    from += count;
  };
  const std::size_t weights = std::size_t{head.features} * head.width;
  take(to.bytes() + sizeof head, to.fixed_bytes() - sizeof head);
  if (layout.averages) take(to.u(), weights * sizeof(double));
  if (layout.variances) take(to.t(), head.features * sizeof(double));
  take(to.v(), weights * layout.real);
  to.head().features = 0;
  for (std::uint32_t place = 0; place < head.features; ++place) {
    std::uint32_t hash = 0, found = Record::missing;
    take(&hash, sizeof hash);
    to.find(&hash, 1, &found);
    packed::require(found == Record::missing, "it has a feature twice");
    to.add(hash);
  }
  packed::check(to, layout, limits);
  return made;
}

}  // namespace hinge
