// Targets, sets of labels and weights of Python, as a batch has them.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../../data/batch.hpp"
#include "../arrays.hpp"

namespace hinge {

// The indices of relevant labels must ascend. (That they exist is checked where they are used.)
inline void check_ascending(const std::int64_t* labels, std::size_t count, std::size_t row) {
  for (std::size_t i = 0; i < count; ++i)
    if (labels[i] < 0 || (i > 0 && labels[i] <= labels[i - 1]))
      throw InputError("the indices of the labels must ascend", row);
}

// Targets as float64, read in place if they are; with two class labels: -1 and +1. With `starts` they are sets of
// labels: those of row i are y[starts[i]:starts[i + 1]].
class Targets {
 public:
  Targets(const std::optional<Array>& y, const std::optional<Classes>& classes, const std::optional<Order>& starts,
          const std::optional<Doubles>& weights, std::size_t rows)
      : weights_(weights ? weights->data() : nullptr) {
    read_targets(y, classes, starts, rows);
    if (weights && weights->size() != rows)
      throw InputError("sample_weight has " + std::to_string(weights->size()) + " entries for " + std::to_string(rows) +
                       " rows");
  }
  // `indices`: the two classes have become the first two of several, each with its lane.
  void put(Batch& batch, bool indices) {
    for (double& sign : values_)
      if (signs_ && indices && sign == -1) sign = 0;
    batch.targets = data_;
    batch.labels = labels_;
    batch.label_starts = starts_;
    batch.weights = weights_;
  }

 private:
  void read_targets(const std::optional<Array>& y, const std::optional<Classes>& classes,
                    const std::optional<Order>& starts, std::size_t rows) {
    if (!y) return;
    if (y->ndim() != 1) throw nb::type_error("y must be one-dimensional");
    check_aligned(*y);
    if (starts) {
      read_labels(*y, *starts, rows);
      return;
    }
    if (y->size() != rows)
      throw InputError("y has " + std::to_string(y->size()) + " entries for " + std::to_string(rows) + " rows");
    if (!classes && y->dtype() == nb::dtype<double>() && (rows < 2 || y->stride(0) == 1)) {
      data_ = static_cast<const double*>(y->data());
      return;
    }
    values_ = room_for(rows);
    if (!(read<double>(*y) || read<float>(*y) || read<std::int64_t>(*y) || read<std::int32_t>(*y) ||
          read<std::int16_t>(*y) || read<std::int8_t>(*y) || read<std::uint64_t>(*y) ||
          read<std::uint32_t>(*y) || read<std::uint16_t>(*y) || read<std::uint8_t>(*y) || read<bool>(*y)))
      throw nb::type_error("y must be an array of numbers");
    signs_ = classes.has_value();
    if (signs_) encode(classes->first, classes->second);
    data_ = values_.data();
  }
  template <class Value>
  bool read(const Array& y) {
    if (y.dtype() != nb::dtype<Value>()) return false;
    const auto* from = static_cast<const Value*>(y.data());
    const std::int64_t stride = y.size() > 1 ? y.stride(0) : 1;
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_[i] = static_cast<double>(from[static_cast<std::int64_t>(i) * stride]);
    return true;
  }
  void encode(double negative, double positive) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double label = values_[i];
      // Without a branch: it could not be predicted.
      const int sign = static_cast<int>(label == positive) - static_cast<int>(label == negative);
      if (sign == 0) {
        if (std::isnan(label)) throw InputError("the label is NaN", i);
        throw InputError("the label " + number(label) + " is not one of the classes " + number(negative) + " and " +
                          number(positive), i);
      }
      values_[i] = sign;
    }
  }
  // A whole number without a point: labels are mostly integers, whatever the type of y.
  static std::string number(double label) {
    const bool whole = label == std::floor(label) && std::abs(label) < 0x1p53;
    return whole ? std::to_string(static_cast<std::int64_t>(label)) : quoted(nb::float_(label));
  }
  void read_labels(const Array& y, const Order& starts, std::size_t rows) {
    if (y.dtype() != nb::dtype<std::int64_t>() || (y.size() > 1 && y.stride(0) != 1))
      throw nb::type_error("labels must be a contiguous array of int64");
    if (starts.size() != rows + 1) throw InputError("there must be one set of labels for each row");
    labels_ = static_cast<const std::int64_t*>(y.data());
    starts_ = starts.data();
    for (std::size_t i = 0; i < rows; ++i) {
      if (starts_[i] < 0 || starts_[i + 1] < starts_[i] || static_cast<std::size_t>(starts_[i + 1]) > y.size())
        throw InputError("the sets of labels are broken", i);
      check_ascending(labels_ + starts_[i], static_cast<std::size_t>(starts_[i + 1] - starts_[i]), i);
    }
  }

  const double* weights_;
  std::vector<double> values_;
  bool signs_ = false;
  const double* data_ = nullptr;
  const std::int64_t* labels_ = nullptr;
  const std::int64_t* starts_ = nullptr;
};

}  // namespace hinge
