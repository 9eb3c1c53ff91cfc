// The constant feature of an intercept, in proportion to the data: the power of 2 nearest to half the root mean square
// of the values of an instance that are not 0. A constant of 1 would take half of every step on rows of length 1, and
// hardly learn next to columns in the thousands. A power of 2 commutes with rounding: instances scaled by a power of 2
// are learned with the same bits.
#pragma once

#include <cmath>
#include <cstddef>

#include "../data/batch.hpp"
#include "../data/instance.hpp"
#include "arithmetic/sums.hpp"

namespace hinge {

// Nearest in the logarithm; halfway between two powers (the root mean square is an odd power of sqrt(2)) the larger one.
// 1 for an instance without values, or if their squares underflow.
inline double constant_near(const Instance& x) {
  double squares = 0, count = 0;
  visit(x, [&](const auto& features) {
    for (std::size_t j = 0; j < features.size; ++j) {
      const double value = features.value(j);
      squares += value * value;
      count += value != 0;
    }
  });
  const double square = squares / count / 4;  // of half the root mean square; NaN without values
  if (!(square > 0)) return 1;
  int exponent = 1023;  // the squares may overflow: the round rejects the instance
  if (std::isfinite(square)) std::frexp(square, &exponent);  // square is in [2^(exponent - 1), 2^exponent)
  return std::ldexp(1.0, static_cast<int>(std::floor(exponent / 2.0)));
}

// The same for values that were scaled online: those of the first instance are 1 and -1.
constexpr double constant_of_scaled = 0.5;

// That of the first row to be learned with a weight above 0; 0 if there is none. A batch with invalid rows will be
// rejected: for them any number will do.
inline double constant_near_first(const Batch& batch) {
  const Rows& rows = *batch.rows;
  for (std::size_t i = 0; i < batch.count && batch.max_updates > 0; ++i) try {
      const std::size_t row = batch.row(i, rows.count());
      if (!(batch.weight(row) > 0)) continue;
      Instance x = rows.blank();
      rows.take(row, x);
      Scratch scratch;
      if (!visit(x, [](const auto& features) { return in_order(features); })) x = rows.in_order(x, row, scratch);
      return constant_near(x);
    } catch (const InputError&) {
      return 1;
    }
  return 0;
}

}  // namespace hinge
