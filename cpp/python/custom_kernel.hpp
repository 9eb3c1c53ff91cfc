// A kernel that is a function of Python: it is given two matrices, and returns that of the kernel values.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "../memories/kernels/supports.hpp"
#include "arrays.hpp"
#include "locks.hpp"

namespace hinge {

class FunctionKernel final : public CustomKernel {
 public:
  explicit FunctionKernel(nb::object function) : function_(std::move(function)) {}

  void values(const std::vector<SparseVector>& rows, const std::vector<SparseVector>& others, std::size_t width,
              bool sparse, double* values, std::size_t stride) override {
    const WithGil acquired;
    const nb::object X = matrix_of(rows, width, sparse);
    const nb::object Z = &rows == &others ? X : matrix_of(others, width, sparse);
    const nb::object returned = unless_ended([&] { return function_(X, Z); });
    nb::object numbers;
    try {
      numbers = nb::module_::import_("numpy").attr("ascontiguousarray")(returned, "float64");
    } catch (nb::python_error&) {
      const auto kind = nb::cast<std::string>(returned.type().attr("__name__"));
      throw InputError("the kernel must return a matrix of numbers, not " + kind);
    }
    Matrix found;
    if (!nb::try_cast(numbers, found) || found.shape(0) != rows.size() || found.shape(1) != others.size())
      throw InputError("the kernel must return a matrix of shape (" + std::to_string(rows.size()) + ", " +
                    std::to_string(others.size()) + "), not " + quoted(numbers.attr("shape")));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < others.size(); ++j) {
        const double value = found.data()[i * others.size() + j];
        if (!std::isfinite(value))
          throw InputError("the kernel returned " + std::to_string(value) + ", which is no finite number", i);
        values[i * stride + j] = value;
      }
  }

  nb::object function() const { return function_; }

 private:
  static nb::object matrix_of(const std::vector<SparseVector>& rows, std::size_t width, bool sparse) {
    if (!sparse) {
      std::vector<double> values(rows.size() * width);
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < rows[i].columns.size(); ++j)
          values[i * width + static_cast<std::size_t>(rows[i].columns[j])] = rows[i].values[j];
      return numpy_matrix(std::move(values), rows.size(), width);
    }
    std::vector<std::int64_t> starts{0}, columns;
    std::vector<double> values;
    for (const SparseVector& row : rows) {
      columns.insert(columns.end(), row.columns.begin(), row.columns.end());
      values.insert(values.end(), row.values.begin(), row.values.end());
      starts.push_back(static_cast<std::int64_t>(columns.size()));
    }
    const nb::tuple parts = nb::make_tuple(numpy_array(std::move(values)), numpy_array(std::move(columns)),
                                           numpy_array(std::move(starts)));
    return nb::module_::import_("scipy.sparse").attr("csr_matrix")(parts, nb::make_tuple(rows.size(), width));
  }

  nb::object function_;
};

}  // namespace hinge
