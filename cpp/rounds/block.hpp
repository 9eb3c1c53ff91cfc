// Single-prototype ranking (S9.1): one w for all labels, and a feature vector phi(x, r) for each label r.
// The vectors share their columns; each has a value in every one of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../data/instance.hpp"
#include "../rules/sizes.hpp"

namespace hinge {

struct Block final : Sizes {
  const std::int64_t* columns = nullptr;
  const double* values = nullptr;  // labels x size: the vector of a label lies together
  std::size_t size = 0;            // columns
  std::size_t labels = 0;

  Block() = default;
  Block(const std::int64_t* columns_, const double* values_, std::size_t size_, std::size_t labels_)
      : columns(columns_), values(values_), size(size_), labels(labels_) {}

  Instance vector(std::size_t label) const { return instance(values + label * size); }

  Instance instance(const double* its_values) const {
    Instance x;
    x.values = its_values;
    x.columns = columns;
    x.size = size;
    x.layout = Layout::sparse64;
    x.transient = true;
    return x;
  }

  // |phi_r - phi_s|^2
  double between(std::size_t r, std::size_t s) const override {
    double sum = 0;
    for (std::size_t j = 0; j < size; ++j) {
      const double difference = values[r * size + j] - values[s * size + j];
      sum += difference * difference;
    }
    return sum;
  }

  // d_j = sum_r amounts_r phi_rj
  double direction(const double* amounts, std::size_t j) const {
    double sum = 0;
    for (std::size_t r = 0; r < labels; ++r)
      if (amounts[r] != 0) sum += amounts[r] * values[r * size + j];
    return sum;
  }
  // |d|^2
  double moved(const double* amounts, std::size_t /*count*/) const override {
    double squares = 0;
    for (std::size_t j = 0; j < size; ++j) {
      const double d = direction(amounts, j);
      squares += d * d;
    }
    return squares;
  }
};

}  // namespace hinge
