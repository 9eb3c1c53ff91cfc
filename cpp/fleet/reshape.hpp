// Records with other labels: the same weights for more lanes, or for two classes that have changed places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "record.hpp"

namespace hinge {

// Calls function(weights, count) with the weights of a record in their type.
template <class Function>
void with_weights(const Record& record, const RecordLayout& layout, const Function& function) {
  const std::size_t count = std::size_t{record.head().features} * record.head().width;
  if (layout.real == sizeof(float)) function(reinterpret_cast<float*>(record.v()), count);
  else function(reinterpret_cast<double*>(record.v()), count);
}

// A copy with room for so many labels and so many weights per feature. The one w of two classes becomes two lanes, with half
// of it each, as in `Lanes::start_from`; further lanes are 0.
inline RecordBytes reshaped(const Record& from, const RecordLayout& layout, std::uint32_t labels, std::uint32_t width) {
  RecordBytes bytes = from.reshaped(labels, width);
  const Record to(layout, bytes.get());
  const std::size_t old = from.head().width;
  const bool splits = old == 1 && width > 1;
  const auto fill = [&](const auto* source, auto* target, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i, source += old, target += width) {
      std::copy_n(source, std::min<std::size_t>(old, width), target);
      if (splits) target[1] = source[0] / 2, target[0] = 0 - source[0] / 2;
    }
  };
  with_weights(to, layout, [&]<class Real>(Real* weights, std::size_t) {
    fill(reinterpret_cast<const Real*>(from.v()), weights, from.head().features);
  });
  fill(from.biases(), to.biases(), 1);
  if (layout.averages) {
    fill(from.u(), to.u(), from.head().features);
    fill(from.bias_sums(), to.bias_sums(), 1);
  }
  if (splits) to.head().weight_bound /= 2;
  return bytes;
}

// A copy with w <- -w. 0 stays 0: not -0.
inline RecordBytes flipped(const Record& from, const RecordLayout& layout) {
  RecordBytes bytes = from.copy();
  const Record to(layout, bytes.get());
  const auto negate = [](auto* numbers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) numbers[i] = 0 - numbers[i];
  };
  with_weights(to, layout, negate);
  negate(to.biases(), to.head().width);
  if (layout.averages) {
    negate(to.u(), std::size_t{to.head().features} * to.head().width);
    negate(to.bias_sums(), to.head().width);
  }
  return bytes;
}

}  // namespace hinge
