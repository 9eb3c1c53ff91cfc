// Events of a text, for Python: a sequence of dicts, each of which is made when it is asked for.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../text/event_part.hpp"
#include "arrays.hpp"
#include "events.hpp"
#include "text_part.hpp"

namespace hinge {

inline nb::object text_object(std::string_view text) {
  return made(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
}

inline nb::dict event_dict(const EventPart& events, std::size_t i) {
  nb::dict event;
  events.for_each(i, [&](std::string_view name, double value) { event[text_object(name)] = value; });
  return event;
}

// ---- labels ----

// What Python's json makes of a label.
inline nb::object label_object(const EventPart& events, std::size_t i) {
  const std::string_view text = events.label_text(i);
  switch (events.label_kind(i)) {
    case JsonKind::string: return text_object(text);
    case JsonKind::real: return made(PyFloat_FromDouble(events.label_number(i)));
    case JsonKind::integer: return made(PyLong_FromString(std::string(text).c_str(), nullptr, 10));
    case JsonKind::yes: return nb::borrow(Py_True);
    case JsonKind::no: return nb::borrow(Py_False);
    case JsonKind::null: return nb::none();
    default: return nb::module_::import_("json").attr("loads")(text_object(text));
  }
}
// Of all events. Those that came just before are not made again.
inline nb::list label_objects(const EventPart& events) {
  struct Made {
    JsonKind kind;
    std::string_view text;
    nb::object object;
  };
  constexpr std::size_t most = 8;
  std::vector<Made> few;
  nb::list all;
  for (std::size_t i = 0; i < events.count(); ++i) {
    const JsonKind kind = events.label_kind(i);
    const std::string_view text = events.label_text(i);
    const auto known = std::find_if(few.begin(), few.end(), [&](const Made& one) { return one.kind == kind && one.text == text; });
    if (known != few.end()) {
      all.append(known->object);
      continue;
    }
    const nb::object object = label_object(events, i);
    all.append(object);
    if (kind == JsonKind::list) continue;  // lists can be changed
    if (few.size() < most) few.push_back({kind, text, object});
    else few[i % most] = {kind, text, object};
  }
  return all;
}

// ---- the sequence ----

inline nb::object event_item(const EventPart& events, nb::handle index) {
  const auto count = static_cast<Py_ssize_t>(events.count());
  if (PySlice_Check(index.ptr())) {
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(index.ptr(), &start, &stop, &step) < 0) throw nb::python_error();
    PySlice_AdjustIndices(count, &start, &stop, step);
    if (step != 1) throw nb::value_error("events come in steps of 1");
    return nb::cast(events.part(static_cast<std::size_t>(start), static_cast<std::size_t>(std::max(start, stop))));
  }
  Py_ssize_t i = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
  if (i == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (i < 0) i += count;
  if (i < 0 || i >= count) throw nb::index_error("there is no such event");
  return event_dict(events, static_cast<std::size_t>(i));
}

inline void define_event_part(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<EventPart>(m, "EventPart")
      .def("__len__", &EventPart::count)
      .def("__getitem__", &event_item, "index"_a, nb::sig("def __getitem__(self, index: int | slice) -> typing.Any"))
      .def("taken", nb::overload_cast<const EventPart&, const std::vector<std::size_t>&>(&taken), "events"_a)
      .def_static("joined", nb::overload_cast<const std::vector<EventPart>&>(&joined), "parts"_a)
      .def("label_list", &label_objects)
      .def("key_list", [](const EventPart& self) {
        nb::list keys;
        for (std::size_t i = 0; self.has_keys() && i < self.count(); ++i) keys.append(name_object(self.key(i)));
        return keys;
      })
      .def("weights", [](const EventPart& self) {
        return numpy_array(std::vector<double>(self.weights(), self.weights() + self.count()));
      }, nb::sig("def weights(self) -> numpy.typing.NDArray[numpy.float64]"))
      .def_prop_ro("lines", [](const EventPart& self) {
        auto* owned = new EventPart(self);
        nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<EventPart*>(p); });
        return TextArray<nb::memview, std::int64_t>(const_cast<std::int64_t*>(self.lines()), {self.count()}, owner);
      }, nb::rv_policy::automatic);
}

}  // namespace hinge
