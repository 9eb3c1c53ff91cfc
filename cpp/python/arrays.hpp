// Arrays of Python as the core reads them: in place, whatever their order.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../learner.hpp"
#include "../data/rows.hpp"

namespace hinge {

namespace nb = nanobind;

using Array = nb::ndarray<nb::ro, nb::device::cpu>;
using Doubles = nb::ndarray<nb::ro, nb::device::cpu, double, nb::ndim<1>, nb::c_contig>;
using Matrix = nb::ndarray<nb::ro, nb::device::cpu, double, nb::ndim<2>, nb::c_contig>;
using WritableMatrix = nb::ndarray<nb::device::cpu, double, nb::ndim<2>, nb::c_contig>;
using Classes = std::pair<double, double>;  // the negative one first
using Order = nb::ndarray<nb::ro, nb::device::cpu, std::int64_t, nb::ndim<1>, nb::c_contig>;

// A value in a message. Lists in lists in lists and integers of more than 4300 digits have no repr.
inline std::string quoted(nb::handle object) {
  try {
    return nb::cast<std::string>(nb::repr(object));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_RecursionError) && !error.matches(PyExc_ValueError)) throw;
    return std::string("a value of the type ") + Py_TYPE(object.ptr())->tp_name;
  }
}

// Room for so many numbers for each of so many rows. A view may have more rows than memory could hold numbers for.
inline std::vector<double> room_for(std::size_t rows, std::size_t each = 1) {
  try {
    if (each > 0 && rows > std::numeric_limits<std::size_t>::max() / sizeof(double) / each) throw std::bad_alloc();
    return std::vector<double>(rows * each);
  } catch (const std::exception&) {  // bad_alloc, or length_error
    throw InputError("there are " + std::to_string(rows) + " rows: " + std::to_string(each) +
                  " numbers for each of them are more than fits into memory");
  }
}

template <class Framework, class Real>
nb::object owned_array(std::vector<Real> values) {
  auto* owned = new std::vector<Real>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Real>*>(p); });
  return nb::cast(nb::ndarray<Framework, Real, nb::ndim<1>>(owned->data(), {owned->size()}, owner));
}
template <class Real>
nb::object numpy_array(std::vector<Real> values) { return owned_array<nb::numpy>(std::move(values)); }
// For those who only keep it, or give it back: they need not load numpy.
template <class Real>
nb::object memory_view(std::vector<Real> values) { return owned_array<nb::memview>(std::move(values)); }

template <class Real>
nb::object numpy_matrix(std::vector<Real> values, std::size_t rows, std::size_t columns) {
  auto* owned = new std::vector<Real>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Real>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, Real, nb::ndim<2>>(owned->data(), {rows, columns}, owner));
}

// Nothing is read where the processor might refuse to read it.
inline void check_aligned(const Array& array) {
  if (reinterpret_cast<std::uintptr_t>(array.data()) % array.itemsize() != 0)
    throw nb::type_error("the arrays must be aligned");
}

inline Precision precision_of(const Array& values) {
  check_aligned(values);
  if (values.dtype() == nb::dtype<double>()) return Precision::double_;
  if (values.dtype() == nb::dtype<float>()) return Precision::single_;
  throw nb::type_error("the values must be float32 or float64");
}

inline bool is_wide(const Array& indices, const char* name) {
  check_aligned(indices);
  if (indices.ndim() != 1 || (indices.size() > 1 && indices.stride(0) != 1))
    throw nb::type_error((std::string(name) + " must be one-dimensional and contiguous").c_str());
  if (indices.dtype() == nb::dtype<std::int64_t>()) return true;
  if (indices.dtype() == nb::dtype<std::int32_t>()) return false;
  throw nb::type_error((std::string(name) + " must be int32 or int64").c_str());
}

inline Rows dense_rows(const Array& X) {
  if (X.ndim() != 2) throw nb::type_error("X must be two-dimensional");
  return Rows::dense(X.data(), precision_of(X), X.shape(0), X.shape(1), X.stride(0), X.stride(1));
}

inline Rows sparse_rows(const Array& data, const Array& indices, const Array& indptr, std::size_t width) {
  if (data.ndim() != 1 || (data.size() > 1 && data.stride(0) != 1))
    throw nb::type_error("data must be one-dimensional and contiguous");
  const bool wide = is_wide(indices, "indices"), wide_starts = is_wide(indptr, "indptr");
  if (indptr.size() == 0) throw InputError("indptr is empty; it must have one entry more than rows");
  return Rows::sparse(data.data(), precision_of(data), indices.data(), wide, indptr.data(), wide_starts,
                      indptr.size() - 1, width, std::min(data.size(), indices.size()));
}

// How often a label differs from the one before it.
inline std::size_t count_changes(const Doubles& labels) {
  std::size_t changes = 0;
  for (std::size_t i = 1; i < labels.size(); ++i) changes += labels.data()[i] != labels.data()[i - 1];
  return changes;
}

}  // namespace hinge
