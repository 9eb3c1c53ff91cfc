// Labels of Python, and as the core has them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "../model/model.hpp"
#include "events.hpp"

namespace hinge {

// A string, a boolean, or a number that fits into 64 bits (data/labels.py ensures it).
inline Label label_of(nb::handle label) {
  if (PyUnicode_Check(label.ptr())) return std::string(*Key(label));
  if (PyBool_Check(label.ptr())) return label.is(nb::handle(Py_True));
  if (PyFloat_Check(label.ptr())) return PyFloat_AS_DOUBLE(label.ptr());
  std::int64_t number = 0;
  if (!nb::try_cast(label, number)) throw nb::type_error("a label must be a string, a boolean or a number");
  return number;
}
inline std::vector<Label> labels_of(const nb::list& known) {
  std::vector<Label> labels;
  labels.reserve(known.size());
  for (nb::handle label : known) labels.push_back(label_of(label));
  return labels;
}
inline nb::list label_list(const std::vector<Label>& labels) {
  nb::list list;
  for (const Label& label : labels) std::visit([&](const auto& value) { list.append(value); }, label);
  return list;
}

// A `Labels` of data/labels.py: `known` has the labels in their order, `codes` the code of each in the core.
struct LabelNames {
  nb::object labels = nb::none();
  nb::list known;
  nb::dict codes;

  LabelNames() = default;
  explicit LabelNames(nb::object given) : labels(std::move(given)) {
    if (labels.is_none()) return;
    known = nb::cast<nb::list>(labels.attr("known"));
    codes = nb::cast<nb::dict>(labels.attr("codes"));
  }
};

}  // namespace hinge
