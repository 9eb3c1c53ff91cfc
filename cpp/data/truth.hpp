// The truth of an example.
#pragma once

#include <cstddef>
#include <cstdint>

#include "instance.hpp"

namespace hinge {

// A number (a sign, a value, the index of a label, a rank), or a set of label indices in ascending order.
struct Truth {
  double value = 0;
  const std::int64_t* labels = nullptr;
  std::size_t count = 0;

  double number() const {
    if (labels != nullptr) throw InputError("the truth must be a number here, not a set of labels");
    return value;
  }
};

}  // namespace hinge
