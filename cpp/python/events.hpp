// Events of Python: dicts of named features, read into columns.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../data/rows.hpp"
#include "../names/names.hpp"
#include "../text/event_part.hpp"
#include "arrays.hpp"

namespace hinge {

// A name of Python (a string or an int) as the core has it, while the object lives.
class Key {
 public:
  explicit Key(nb::handle name) {
    PyObject* const its = name.ptr();
    if (!PyUnicode_Check(its)) {
      number_.emplace(PyLong_AsLongLong(its));
      key_ = number_->key();
    } else if (PyUnicode_IS_COMPACT_ASCII(its)) {
      key_ = {static_cast<const char*>(PyUnicode_DATA(its)), static_cast<std::size_t>(PyUnicode_GET_LENGTH(its))};
    } else {
      read_utf8(its);
    }
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  std::string_view operator*() const { return key_; }
  bool has_surrogates() const { return encoded_.is_valid(); }

 private:
  void read_utf8(PyObject* text) {
    Py_ssize_t length = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text, &length);
    if (bytes == nullptr) {  // lone surrogates
      PyErr_Clear();
      encoded_ = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
      if (!encoded_.is_valid()) throw nb::python_error();
      bytes = PyBytes_AS_STRING(encoded_.ptr());
      length = PyBytes_GET_SIZE(encoded_.ptr());
    }
    key_ = {bytes, static_cast<std::size_t>(length)};
  }

  std::string_view key_;
  std::optional<NumberName> number_;
  nb::object encoded_;
};

// What Python made, or the error that it raised instead.
inline nb::object made(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

// The name of a column as Python has it.
inline nb::object name_object(std::string_view key) {
  if (NumberName::is_number(key)) return made(PyLong_FromLongLong(NumberName::number(key)));
  return made(PyUnicode_DecodeUTF8(key.data(), static_cast<Py_ssize_t>(key.size()), "surrogatepass"));
}
inline nb::list name_list(const Names& names) {
  nb::list list;
  for (std::size_t i = 0; !names.hashing() && i < names.columns(); ++i) list.append(name_object(names.key(i)));
  return list;
}

// Where a name falls if names are hashed.
inline Hashed hashed_name(const Names& names, nb::handle name) {
  const Key key(name);
  if (key.has_surrogates())
    throw InputError("the name " + nb::cast<std::string>(made(PyObject_ASCII(name.ptr()))) + " cannot be hashed: surrogates are not text");
  return names.hash(*key);
}

// The features of records, whatever their types.
class Records {
 public:
  // Calls function(name, value) for each feature that is not 0. These are the rules for records, wherever they come from:
  //     3, 2.5, True      the value itself, True is 1
  //     "red"             1 under the name "color=red"
  //     None              no feature
  //     {"b": 1}          the features of the inner dict, under "a.b", and so on
  //     [1, 2]            "a[0]" and "a[1]"
  //     ["x", "y"]        1 under "a=x" and under "a=y"
  template <class Function>
  static void for_each(nb::handle dict, Function&& function) {
    if (!PyDict_Check(dict.ptr()))
      throw nb::type_error(("x must be a dict of named features, not " +
                            nb::cast<std::string>(dict.type().attr("__name__"))).c_str());
    // What is not a number is rarer: one copy of `function` serves all of it.
    const auto rarely = [&](nb::handle name, double number) HINGE_APART_LAMBDA { function(name, number); };
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    const Py_ssize_t size = PyDict_GET_SIZE(dict.ptr());
    while (PyDict_Next(dict.ptr(), &position, &key, &value)) {
      if (PyUnicode_CheckExact(key) && PyFloat_CheckExact(value)) [[likely]] {
        const double number = PyFloat_AS_DOUBLE(value);
        if (!std::isfinite(number)) [[unlikely]] reject_number(key, number);
        if (number != 0) function(nb::handle(key), number);
      } else {
        const nb::object held_key = nb::borrow(key), held_value = nb::borrow(value);
        for_value(plain_name(held_key), held_value, 0, rarely);
      }
      if (PyDict_GET_SIZE(dict.ptr()) != size) [[unlikely]] throw InputError("x changed while it was read");
    }
  }

  // A record as a dict of names and numbers (or strings, at its top), added up where a name occurs twice. One that is such
  // a dict already, with finite numbers, is returned itself.
  static nb::object flat(const nb::object& record) {
    if (is_simple(record)) return record;
    nb::dict features;
    for_each(record, [&](nb::handle name, double number) {
      PyObject* before = PyDict_GetItemWithError(features.ptr(), name.ptr());
      if (before == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
      const double sum = number + (before == nullptr ? 0.0 : PyFloat_AS_DOUBLE(before));
      if (!std::isfinite(sum)) reject_number(name, sum);
      if (PyDict_SetItem(features.ptr(), name.ptr(), made(PyFloat_FromDouble(sum)).ptr()) != 0) throw nb::python_error();
    });
    return features;
  }

  // Names are plain strings, or ints (the column numbers of an array).
  static nb::object plain_name(nb::handle key) {
    if (PyUnicode_CheckExact(key.ptr())) return nb::borrow(key);
    if (PyUnicode_Check(key.ptr())) return made(PyUnicode_FromObject(key.ptr()));
    if (!PyIndex_Check(key.ptr()))
      throw InputError("the name of a feature must be a string (or a column number), not " + quoted(key));
    const nb::object number = made(PyNumber_Index(key.ptr()));
    int overflows = 0;
    PyLong_AsLongLongAndOverflow(number.ptr(), &overflows);
    if (overflows != 0) throw InputError("a column number is too large to be the name of a feature");
    return number;
  }

 private:
  static bool is_simple(nb::handle record) {
    if (!PyDict_Check(record.ptr())) return false;
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t position = 0; PyDict_Next(record.ptr(), &position, &key, &value);) {
      if (!PyUnicode_CheckExact(key)) return false;
      if (PyUnicode_CheckExact(value) || PyBool_Check(value)) continue;
      if (!PyFloat_CheckExact(value) && !PyLong_CheckExact(value)) return false;
      const double number = PyFloat_AsDouble(value);
      if (number == -1 && PyErr_Occurred() != nullptr) PyErr_Clear();
      else if (std::isfinite(number)) continue;
      return false;
    }
    return true;
  }

  // The features of one field.
  template <class Function>
  static void for_value(const nb::object& name, const nb::object& value, int depth, const Function& function) {
    PyObject* const its = value.ptr();
    if (its == Py_None) return;
    if (PyUnicode_Check(its)) {
      function(made(PyUnicode_FromFormat("%S=%U", name.ptr(), its)), 1.0);
    } else if (PyDict_Check(its)) {
      if (depth == max_depth)
        throw about(name, "objects in more than " + std::to_string(max_depth) + " objects");
      PyObject *key = nullptr, *inner = nullptr;
      Py_ssize_t position = 0;
      const Py_ssize_t size = PyDict_GET_SIZE(its);
      while (PyDict_Next(its, &position, &key, &inner)) {
        const nb::object held = nb::borrow(inner), inner_name = plain_name(nb::object(nb::borrow(key)));
        for_value(made(PyUnicode_FromFormat("%S.%S", name.ptr(), inner_name.ptr())), held, depth + 1, function);
        if (PyDict_GET_SIZE(its) != size) throw InputError("x changed while it was read");
      }
    } else if (PyList_Check(its) || PyTuple_Check(its)) {
      for_items(name, value, function);
    } else {
      for_number(name, value, function);
    }
  }
  template <class Function>
  static void for_number(const nb::object& name, const nb::object& value, const Function& function) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) reject_value(name, value);
    if (!std::isfinite(number)) reject_number(name, number);
    if (number != 0) function(nb::handle(name), number);
  }
  // A list of numbers or of strings; None in it is no feature.
  template <class Function>
  static void for_items(const nb::object& name, const nb::object& list, const Function& function) {
    int strings = -1;  // not known yet
    for (Py_ssize_t place = 0; place < PySequence_Fast_GET_SIZE(list.ptr()); ++place) {
      const nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(list.ptr(), place));
      if (item.is_none()) continue;
      const bool is_string = PyUnicode_Check(item.ptr());
      const bool compound = PyBool_Check(item.ptr()) || PyDict_Check(item.ptr()) || PyList_Check(item.ptr()) || PyTuple_Check(item.ptr());
      if (compound || (strings >= 0 && is_string != (strings == 1)))
        throw about(name, "a list of numbers or of strings was expected, there is " + quoted(item) + " in it");
      strings = is_string ? 1 : 0;
      if (is_string)
        function(made(PyUnicode_FromFormat("%S=%U", name.ptr(), item.ptr())), 1.0);
      else
        for_number(made(PyUnicode_FromFormat("%S[%zd]", name.ptr(), place)), item, function);
    }
  }
  static constexpr int max_depth = 20;

  static InputError about(nb::handle feature, std::string reason) {
    InputError error(std::move(reason));
    error.name = nb::borrow(feature);
    return error;
  }

  // Interrupts and the like are raised as they are.
  [[noreturn]] static void reject_value(nb::handle key, nb::handle value) {
    nb::python_error error;  // takes what Python has raised
    if (!error.matches(PyExc_Exception)) throw error;
    const bool large = error.matches(PyExc_OverflowError);
    if (!large && !error.matches(PyExc_TypeError))
      throw about(key, "the value cannot be read: " + quoted(error.value()));
    throw about(key, large ? "the value is too large for float64"
                           : quoted(value) + " is not a number, a string or a boolean");
  }
  [[noreturn]] static void reject_number(nb::handle key, double number) {
    throw about(key, std::isnan(number) ? "the value is NaN" : "the value is infinity (inf)");
  }
};

// Reads events into columns.
class Events {
 public:
  // Reads {name: value} into `scratch`, as `Records::for_each` says. New names get columns if `grow`; otherwise the sum of
  // their squares is returned. Columns below `columns` that have no name (they were learned from arrays) are called by their
  // numbers.
  double read(Names& names, nb::handle dict, bool grow, Scratch& scratch, std::size_t columns) {
    begin(names, scratch);
    Records::for_each(dict, [&](nb::handle name, double value) HINGE_INLINE_LAMBDA {
      if (names.hashing()) return add_hashed(hashed_name(names, name), value, scratch);
      add(names, find(names, name, place_, grow, columns), value, scratch);
    });
    return unseen_;
  }
  // The same for an event of a text.
  double read(Names& names, const EventPart& events, std::size_t i, bool grow, Scratch& scratch, std::size_t columns) {
    begin(names, scratch);
    events.for_each(i, [&](std::string_view name, double value) HINGE_INLINE_LAMBDA {
      if (names.hashing()) return add_hashed(names.hash(name), value, scratch);
      const std::size_t column = follows(names, name, place_) ? next_[place_] : look_up(names, name, place_, grow, columns);
      add(names, column, value, scratch);
    });
    return unseen_;
  }
  // Whether all features of the last event had a column.
  bool complete() const { return complete_; }

  // The column of a name, and the sign of its values; no column for an unknown name.
  Hashed place(Names& names, nb::handle name, std::size_t columns) {
    if (names.hashing()) return hashed_name(names, name);
    make_room(names);
    return {find(names, name, 0, false, columns), 1.0};
  }
  std::size_t bytes() const { return next_.capacity() * sizeof(std::uint32_t); }

 private:
  void begin(const Names& names, Scratch& scratch) {
    scratch.clear();
    complete_ = true;
    make_room(names);
    unseen_ = 0;
    place_ = 0;
  }
  HINGE_INLINE static void add_hashed(const Hashed& place, double value, Scratch& scratch) {
    scratch.add(place.column, place.sign * value);
  }
  HINGE_INLINE void add(const Names& names, std::size_t column, double value, Scratch& scratch) {
    if (column == none) [[unlikely]] {
      unseen_ += value * value;
      complete_ = false;
      return;
    }
    scratch.add(column, value);
    place_ = column < names.columns() ? column + 1 : 0;
  }
  // Most events have their names in the order of the event before: the name that followed the last one then is tried
  // first, and looked up only if it is another one.
  HINGE_INLINE std::size_t find(Names& names, nb::handle name, std::size_t place, bool grow, std::size_t columns) {
    PyObject* const its = name.ptr();
    if (PyUnicode_Check(its) && PyUnicode_IS_COMPACT_ASCII(its)) [[likely]] {
      const std::string_view key(static_cast<const char*>(PyUnicode_DATA(its)),
                                 static_cast<std::size_t>(PyUnicode_GET_LENGTH(its)));
      return follows(names, key, place) ? next_[place] : look_up(names, key, place, grow, columns);
    }
    return find_other(names, name, place, grow, columns);
  }
  // A name that is not ASCII, or a number.
  HINGE_APART std::size_t find_other(Names& names, nb::handle name, std::size_t place, bool grow, std::size_t columns) {
    const Key key(name);
    return follows(names, *key, place) ? next_[place] : look_up(names, *key, place, grow, columns);
  }
  HINGE_INLINE bool follows(const Names& names, std::string_view key, std::size_t place) const {
    const std::size_t column = next_[place];
    if (column >= names.columns()) return false;
    const std::string_view expected = names.key(column);
    return expected.size() == key.size() && same_bytes(expected.data(), key.data(), key.size());
  }
  HINGE_APART std::size_t look_up(Names& names, std::string_view key, std::size_t place, bool grow, std::size_t columns) {
    const std::uint32_t hash = Vocabulary::hash_of(key);
    const std::size_t column = grow ? names.find_or_add(key, hash) : names.vocabulary().find(key, hash);
    if (column != none) {
      make_room(names);
      next_[place] = static_cast<std::uint32_t>(column);
      return column;
    }
    if (grow || !NumberName::is_number(key)) return none;
    const auto number = static_cast<std::size_t>(NumberName::number(key));
    return number >= names.columns() && number < columns ? number : none;
  }
  void make_room(const Names& names) {
    const std::size_t needed = names.hashing() ? 0 : names.columns() + 1;
    if (next_.size() < needed) [[unlikely]] next_.resize(needed + needed / 2);
  }

  std::vector<std::uint32_t> next_;  // the column that came first in the last event, and of each column, which followed it
  // Of the event that is being read: where its last name was found, and the squares of what has no column.
  std::size_t place_ = 0;
  double unseen_ = 0;
  bool complete_ = true;
};

// The columns of many names that come in no particular order: function(column, sign) for each, in their order. No column
// for an unknown name, unless they `grow`. A look-up in a large vocabulary waits for memory twice; prefetched, many wait
// at the same time.
template <class Function>
void look_up_all(Names& names, const std::vector<nb::object>& wanted, bool grow, const Function& function) {
  if (names.hashing()) {
    for (const nb::object& name : wanted) {
      const Hashed h = hashed_name(names, name);
      function(h.column, h.sign);
    }
    return;
  }
  std::vector<std::uint32_t> hashes;
  hashes.reserve(wanted.size());
  for (const nb::object& name : wanted) {
    hashes.push_back(Vocabulary::hash_of(*Key(name)));
    names.vocabulary().prefetch_slot(hashes.back());
  }
  for (const std::uint32_t hash : hashes) names.vocabulary().prefetch_name(hash);
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    const Key key(wanted[j]);
    function(grow ? names.find_or_add(*key, hashes[j]) : names.vocabulary().find(*key, hashes[j]), 1.0);
  }
}

}  // namespace hinge
