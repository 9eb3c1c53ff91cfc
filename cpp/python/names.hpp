// Named features: from dicts to columns.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <vector>

#include "../names/murmur.hpp"
#include "../data/rows.hpp"
#include "arrays.hpp"
#include "name_table.hpp"

namespace hinge {

// From names to columns: a vocabulary that grows, or (bits > 0) a hash.
class Names {
 public:
  // At most `limit` names: further ones are rejected, or (`ignore`) left out and counted.
  Names(std::size_t bits, std::size_t limit, bool ignore = false) : bits_(bits), limit_(limit), ignore_(ignore) {}

  // Reads {name: value} into `scratch`, as `for_each` says. New names get columns if `grow`; otherwise the sum of their
  // squares is returned. Columns below `columns` that have no name (they were learned from arrays) are called by their
  // numbers.
  // A dict that is in `scratch` already, as it is after a prediction for the event that is learned next, is not read again.
  double read(nb::handle dict, bool grow, Scratch& scratch, std::size_t columns) {
    const std::uint64_t version = version_of(dict);
    if (version != 0 && version == scratch.read_from) return 0;
    scratch.clear();
    double unseen = 0;
    bool complete = true;
    std::size_t previous = none;
    const bool lasting = for_each(dict, [&](nb::handle name, double value) {
      if (bits_ > 0) {
        const Hashed h = hash(name);
        scratch.add(h.column, h.sign * value);
        return;
      }
      const std::size_t column = find(name, previous, grow, columns);
      if (column == none) {
        unseen += value * value;
        complete = false;
      } else {
        scratch.add(column, value);
        previous = column < names_.size() ? column : none;
      }
    });
    if (complete && lasting) scratch.read_from = version;
    return unseen;
  }

  // Calls function(name, value) for each feature that is not 0. These are the rules for records, wherever they come from:
  //     3, 2.5, True      the value itself, True is 1
  //     "red"             1 under the name "color=red"
  //     None              no feature
  //     {"b": 1}          the features of the inner dict, under "a.b", and so on
  //     [1, 2]            "a[0]" and "a[1]"
  //     ["x", "y"]        1 under "a=x" and under "a=y"
  // Returns whether all names and values are plain strings and floats, which never change.
  template <class Function>
  static bool for_each(nb::handle dict, Function&& function) {
    if (!PyDict_Check(dict.ptr()))
      throw nb::type_error(("x must be a dict of named features, not " +
                            nb::cast<std::string>(dict.type().attr("__name__"))).c_str());
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    bool plain = true;
    const Py_ssize_t size = PyDict_GET_SIZE(dict.ptr());
    while (PyDict_Next(dict.ptr(), &position, &key, &value)) {
      if (PyUnicode_CheckExact(key) && PyFloat_CheckExact(value)) {  // nearly always
        const double number = PyFloat_AS_DOUBLE(value);
        if (!std::isfinite(number)) refuse_number(key, number);
        if (number != 0) function(nb::handle(key), number);
        if (PyDict_GET_SIZE(dict.ptr()) != size) throw InputError("x changed while it was read");
        continue;
      }
      plain = false;
      const nb::object held_key = nb::borrow(key), held_value = nb::borrow(value);
      for_value(plain_name(held_key), held_value, 0, function);
      if (PyDict_GET_SIZE(dict.ptr()) != size) throw InputError("x changed while it was read");
    }
    return plain;
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
      if (!std::isfinite(sum)) refuse_number(name, sum);
      if (PyDict_SetItem(features.ptr(), name.ptr(), made(PyFloat_FromDouble(sum)).ptr()) != 0) throw nb::python_error();
    });
    return features;
  }

  // The column of a name, and the sign of its values; no column for an unknown name.
  Hashed place(nb::handle name, std::size_t columns) {
    if (bits_ > 0) return hash(name);
    return {find(name, none, false, columns), 1.0};
  }

  // The column of a name, new if need be and wanted.
  std::size_t column_of(nb::handle name, bool grow) {
    if (bits_ > 0) return hash(name).column;
    return find(name, none, grow, 0);
  }

  // The columns of many names that come in no particular order: function(column, sign) for each, in their order. No
  // column for an unknown name, unless they `grow`.
  template <class Function>
  void look_up(const std::vector<nb::object>& names, bool grow, const Function& function) {
    if (bits_ > 0) {
      for (const nb::object& name : names) {
        const Hashed h = hash(name);
        function(h.column, h.sign);
      }
      return;
    }
    hashes_.clear();
    for (const nb::object& name : names) {
      hashes_.push_back(NameTable::hash_of(name));
      table_.ask_for_slot(hashes_.back());
    }
    for (const Py_hash_t hash : hashes_) table_.ask_for_name(hash);
    for (std::size_t j = 0; j < names.size(); ++j) {
      std::size_t column = table_.find(names[j], hashes_[j]);
      if (column == none && grow) column = added(names[j]);
      function(column, 1.0);
    }
  }

  std::size_t columns() const { return bits_ > 0 ? std::size_t{1} << bits_ : names_.size(); }
  std::size_t limit() const { return limit_; }
  nb::handle name(std::size_t column) const { return names_[column]; }
  bool hashing() const { return bits_ > 0; }
  std::size_t ignored() const { return ignored_; }
  void count_ignored(std::size_t count) { ignored_ = count; }

  void add(nb::handle key) {
    if (names_.size() >= limit_)
      throw about(key, "it is new, and the model already has " + std::to_string(names_.size()) +
                           " features, its limit (max_features)");
    const nb::object name = plain_name(key);
    const Py_hash_t hash = NameTable::hash_of(name);
    names_.reserve(names_.size() + 1 > names_.capacity() ? 2 * names_.size() + 1 : 0);
    next_.push_back(0);
    table_.add(name, hash, names_.size());
    names_.push_back(name);
  }
  void truncate(std::size_t size) {
    while (names_.size() > size) {
      table_.remove(names_.back(), NameTable::hash_of(names_.back()));
      names_.pop_back();
      next_.pop_back();
    }
  }
  nb::list all() const {
    nb::list list;
    for (const auto& name : names_) list.append(name);
    return list;
  }
  // With the names themselves, whoever else may hold them.
  std::size_t bytes() const {
    std::size_t texts = 0;
    for (const nb::object& name : names_) texts += nb::cast<std::size_t>(name.attr("__sizeof__")());
    return names_.capacity() * sizeof(nb::object) + next_.capacity() * sizeof(std::size_t) +
           hashes_.capacity() * sizeof(Py_hash_t) + table_.bytes() + texts;
  }
  bool has(nb::handle key) const {
    const nb::object name = plain_name(key);
    return table_.find(name, NameTable::hash_of(name)) != none;
  }

  // What Python made, or the error that it raised instead.
  static nb::object made(PyObject* object) {
    if (object == nullptr) throw nb::python_error();
    return nb::steal(object);
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
  // A name that is the number of a column; `none` if it is something else.
  static std::size_t number_of(nb::handle name) {
    if (!PyLong_Check(name.ptr())) return none;
    const Py_ssize_t number = PyLong_AsSsize_t(name.ptr());
    if (number < 0) PyErr_Clear();  // it may not even be a Py_ssize_t
    return number < 0 ? none : static_cast<std::size_t>(number);
  }

  // A number that no other dict has, nor this one once it is changed (PEP 509); 0 where Python keeps none.
  static std::uint64_t version_of(nb::handle dict) {
#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // since 3.12; gone in 3.14
    if (PyDict_Check(dict.ptr())) return reinterpret_cast<const PyDictObject*>(dict.ptr())->ma_version_tag;
#pragma GCC diagnostic pop
#endif
    return 0;
  }

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
    if (number == -1 && PyErr_Occurred() != nullptr) refuse_value(name, value);
    if (!std::isfinite(number)) refuse_number(name, number);
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

  // The column of a new name; none if there is no more room, and new ones are ignored.
  std::size_t added(nb::handle name) {
    if (ignore_ && names_.size() >= limit_) {
      ignored_ += 1;
      return none;
    }
    add(name);
    return names_.size() - 1;
  }

  static InputError about(nb::handle feature, std::string reason) {
    InputError error(std::move(reason));
    error.name = nb::borrow(feature);
    return error;
  }
  // Interrupts and the like go on as they are.
  [[noreturn]] static void refuse_value(nb::handle key, nb::handle value) {
    nb::python_error error;  // takes what Python has raised
    if (!error.matches(PyExc_Exception)) throw error;
    const bool large = error.matches(PyExc_OverflowError);
    if (!large && !error.matches(PyExc_TypeError))
      throw about(key, "the value cannot be read: " + quoted(error.value()));
    throw about(key, large ? "the value is too large for float64"
                           : quoted(value) + " is not a number, a string or a boolean");
  }
  [[noreturn]] static void refuse_number(nb::handle key, double number) {
    throw about(key, std::isnan(number) ? "the value is NaN" : "the value is infinity (inf)");
  }

  Hashed hash(nb::handle name) const {
    const nb::object text = PyUnicode_Check(name.ptr()) ? nb::borrow(name) : nb::object(nb::str(name));
    Py_ssize_t length = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
    if (bytes == nullptr) {
      PyErr_Clear();
      throw InputError("the name " + nb::cast<std::string>(made(PyObject_ASCII(text.ptr()))) + " cannot be hashed: surrogates are not text");
    }
    return hashed(bytes, static_cast<std::size_t>(length), columns());
  }

  // Most events bring their names in the order of the one before: guess the name that came after
  // `previous` last time, and look it up only if the guess is wrong.
  std::size_t find(nb::handle name, std::size_t previous, bool grow, std::size_t columns) {
    const std::size_t guess = previous == none ? first_ : next_[previous];
    if (guess < names_.size() && NameTable::same(names_[guess], name)) return guess;
    const Py_hash_t hash = NameTable::hash_of(name);
    std::size_t column = table_.find(name, hash);
    if (column == none && grow) column = added(name);
    if (column == none) {
      const std::size_t number = grow ? none : number_of(name);
      return number >= names_.size() && number < columns ? number : none;
    }
    (previous == none ? first_ : next_[previous]) = column;
    return column;
  }

  std::size_t bits_;
  std::size_t limit_;
  bool ignore_;
  std::size_t ignored_ = 0;  // features that were new when there was no more room
  NameTable table_;
  std::vector<nb::object> names_;
  std::vector<Py_hash_t> hashes_;
  std::vector<std::size_t> next_;
  std::size_t first_ = 0;
};

}  // namespace hinge
