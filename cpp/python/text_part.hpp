// Rows of a text, for Python: an object that parts and engines share, and that becomes arrays where arrays are needed.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "../text/text_part.hpp"
#include "arrays.hpp"
#include "events.hpp"

namespace hinge {

// Numbers of a text, which the array keeps alive. (It can be written, as SciPy expects of its matrices.)
template <class Framework, class Real>
using TextArray = nb::ndarray<Framework, Real, nb::ndim<1>>;
template <class Framework, class Real>
TextArray<Framework, Real> text_array(const TextPart& text, const Real* values, std::size_t size) {
  auto* owned = new TextPart(text);
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<TextPart*>(p); });
  return TextArray<Framework, Real>(const_cast<Real*>(values), {size}, owner);
}
// Where each row begins in an array of its own.
inline TextArray<nb::numpy, std::int64_t> from_zero(const std::int64_t* starts, std::size_t count) {
  auto* owned = new std::vector<std::int64_t>(starts, starts + count + 1);
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
  for (std::int64_t& start : *owned) start -= *starts;
  return TextArray<nb::numpy, std::int64_t>(owned->data(), {owned->size()}, owner);
}

// The labels of each row: a number, or (unless each row has one) a list of numbers.
inline nb::list listed_labels(const TextPart& text) {
  const bool single = text.has_one_label_each();
  const double* label = text.labels();
  nb::list all;
  for (std::size_t row = 0; row < text.count(); ++row) {
    nb::list its;
    for (std::size_t i = 0; i < text.label_count(row); ++i) single ? all.append(*label++) : its.append(*label++);
    if (!single) all.append(its);
  }
  return all;
}

// values, columns, starts and the number of columns of a CSR matrix.
inline auto csr_arrays(const TextPart& text) {
  return std::make_tuple(text_array<nb::numpy>(text, text.values(), text.size()),
                         text_array<nb::numpy>(text, text.columns(), text.size()),
                         from_zero(text.starts(), text.count()), text.width());
}

inline void define_text_part(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<TextPart>(m, "TextPart")
      .def("__len__", &TextPart::count)
      .def("part", &TextPart::part, "start"_a, "stop"_a)
      .def("taken", nb::overload_cast<const TextPart&, const std::vector<std::size_t>&>(&taken), "rows"_a)
      .def_static("joined", nb::overload_cast<const std::vector<TextPart>&>(&joined), "parts"_a)
      .def("narrowed", &without_columns_from, "width"_a)
      .def_prop_ro("width", &TextPart::width)
      .def("csr", &csr_arrays)
      .def("unseen_squares", [](const TextPart& self, std::size_t width) {
        std::vector<double> squares = unseen_squares(self, width);
        return squares.empty() ? nb::none() : numpy_array(std::move(squares));
      }, "width"_a, nb::sig("def unseen_squares(self, width: int) -> numpy.typing.NDArray[numpy.float64] | None"))
      // The names of the columns that it has brought: the last of all so far.
      .def_prop_ro("new_names", [](const TextPart& self) {
        nb::list names;
        for (std::size_t i = 0; i < self.new_names().count(); ++i) names.append(name_object(self.new_names().name(i)));
        return names;
      })
      .def_prop_ro("weights", [](const TextPart& self) {  // one per row; None: all are 1
        std::optional<TextArray<nb::numpy, double>> weights;
        if (self.weights() != nullptr) weights = text_array<nb::numpy>(self, self.weights(), self.count());
        return weights;
      }, nb::rv_policy::automatic)
      // Buffers, which need no numpy.
      .def_prop_ro("lines", [](const TextPart& self) { return text_array<nb::memview>(self, self.lines(), self.count()); },
                   nb::rv_policy::automatic)
      .def_prop_ro("labels", [](const TextPart& self) { return text_array<nb::memview>(self, self.labels(), self.label_count()); },
                   nb::rv_policy::automatic)
      .def_prop_ro("one_label_each", &TextPart::has_one_label_each)
      .def("label_list", &listed_labels)
      .def("label_starts", [](const TextPart& self) { return from_zero(self.label_starts(), self.count()); });
}

}  // namespace hinge
