// Named features: from dicts to columns.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <vector>

#include "../murmur.hpp"
#include "../rows.hpp"
#include "arrays.hpp"
#include "name_table.hpp"

namespace hinge {

// From names to columns: a vocabulary that grows, or (bits > 0) a hash.
class Names {
 public:
  Names(std::size_t bits, std::size_t limit) : bits_(bits), limit_(limit) {}

  // Reads {name: value} into `scratch`. Numbers stand for themselves, True for 1, a string for the
  // indicator "name=value". Zeros are left out. New names get columns if `grow`; otherwise the sum of their
  // squares is returned.
  // A dict that is in `scratch` already, as it is after a prediction for the event that is learned next, is not read again.
  double read(nb::handle dict, bool grow, Scratch& scratch) {
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
      const std::size_t column = find(name, previous, grow);
      if (column == none) {
        unseen += value * value;
        complete = false;
      } else {
        scratch.add(column, value);
        previous = column;
      }
    });
    if (complete && lasting) scratch.read_from = version;
    return unseen;
  }

  // Calls function(name, value) for each feature that is not 0. Returns whether all are plain strings and floats, which
  // never change.
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
        continue;
      }
      plain = false;
      const nb::object held_key = nb::borrow(key), held_value = nb::borrow(value);
      const nb::object name = plain_name(held_key);
      if (PyUnicode_Check(value)) {
        function(made(PyUnicode_FromFormat("%S=%U", name.ptr(), value)), 1.0);
      } else {
        const double number = PyFloat_AsDouble(value);
        if (number == -1 && PyErr_Occurred() != nullptr) refuse_value(held_key, held_value);
        if (!std::isfinite(number)) refuse_number(held_key, number);
        if (number != 0) function(nb::handle(name), number);
      }
      if (PyDict_GET_SIZE(dict.ptr()) != size) throw Refused("x changed while it was read");
    }
    return plain;
  }

  // The column of a name, and the sign of its values; no column for an unknown name.
  Hashed place(nb::handle name) {
    if (bits_ > 0) return hash(name);
    std::size_t previous = none;
    return {find(name, previous, false), 1.0};
  }

  // The column of a name, new if need be and wanted.
  std::size_t column_of(nb::handle name, bool grow) {
    if (bits_ > 0) return hash(name).column;
    std::size_t previous = none;
    return find(name, previous, grow);
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
      if (column == none && grow) column = (add(names[j]), names_.size() - 1);
      function(column, 1.0);
    }
  }

  std::size_t columns() const { return bits_ > 0 ? std::size_t{1} << bits_ : names_.size(); }
  std::size_t limit() const { return limit_; }
  nb::handle name(std::size_t column) const { return names_[column]; }
  bool hashing() const { return bits_ > 0; }

  void add(nb::handle key) {
    if (names_.size() >= limit_)
      throw Refused("the feature " + quoted(key) + " is new, and the model already has " +
                    std::to_string(names_.size()) + " features, its limit (max_features)");
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
  std::size_t bytes() const {
    return names_.capacity() * (sizeof(nb::object) + sizeof(std::size_t)) + table_.bytes();
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
      throw Refused("the name of a feature must be a string (or a column number), not " + quoted(key));
    const nb::object number = made(PyNumber_Index(key.ptr()));
    int overflows = 0;
    PyLong_AsLongLongAndOverflow(number.ptr(), &overflows);
    if (overflows != 0) throw Refused("a column number is too large to be the name of a feature");
    return number;
  }

 private:
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

  // Interrupts and the like go on as they are.
  [[noreturn]] static void refuse_value(nb::handle key, nb::handle value) {
    nb::python_error error;  // takes what Python has raised
    if (!error.matches(PyExc_Exception)) throw error;
    const bool large = error.matches(PyExc_OverflowError);
    if (!large && !error.matches(PyExc_TypeError))
      throw Refused("feature " + quoted(key) + ": the value cannot be read: " + quoted(error.value()));
    throw Refused("feature " + quoted(key) + ": " +
                  (large ? "the value is too large for float64"
                         : quoted(value) + " is not a number, a string or a boolean"));
  }
  [[noreturn]] static void refuse_number(nb::handle key, double number) {
    throw Refused("feature " + quoted(key) + ": the value is " +
                  (std::isnan(number) ? "NaN" : "infinity (inf)"));
  }

  Hashed hash(nb::handle name) const {
    const nb::object text = PyUnicode_Check(name.ptr()) ? nb::borrow(name) : nb::object(nb::str(name));
    Py_ssize_t length = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
    if (bytes == nullptr) {
      PyErr_Clear();
      throw Refused("the name " + nb::cast<std::string>(made(PyObject_ASCII(text.ptr()))) + " cannot be hashed: surrogates are not text");
    }
    return hashed(bytes, static_cast<std::size_t>(length), columns());
  }

  // Most events bring their names in the order of the one before: guess the name that came after
  // `previous` last time, and look it up only if the guess is wrong.
  std::size_t find(nb::handle name, std::size_t previous, bool grow) {
    const std::size_t guess = previous == none ? first_ : next_[previous];
    if (guess < names_.size() && NameTable::same(names_[guess], name)) return guess;
    const Py_hash_t hash = NameTable::hash_of(name);
    std::size_t column = table_.find(name, hash);
    if (column == none && !grow) return none;
    if (column == none) column = (add(name), names_.size() - 1);
    (previous == none ? first_ : next_[previous]) = column;
    return column;
  }

  std::size_t bits_;
  std::size_t limit_;
  NameTable table_;
  std::vector<nb::object> names_;
  std::vector<Py_hash_t> hashes_;
  std::vector<std::size_t> next_;
  std::size_t first_ = 0;
};

}  // namespace hinge
