// The readers of text, for Python: bytes in, arrays out, without the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "../readers/svmlight.hpp"
#include "arrays.hpp"

namespace hinge {

// values, columns, starts, width, labels, label_starts
inline nb::tuple arrays_of(TextRows rows) {
  const std::size_t width = rows.width;
  return nb::make_tuple(numpy_array(std::move(rows.values)), numpy_array(std::move(rows.columns)),
                        numpy_array(std::move(rows.starts)), width, numpy_array(std::move(rows.labels)),
                        numpy_array(std::move(rows.label_starts)));
}

// (line, column, what is wrong)
inline nb::tuple told(const BadLine& bad) { return nb::make_tuple(bad.line, bad.column, std::string(bad.what())); }

template <class Reader>
class TextReader {
 public:
  template <class... Options>
  explicit TextReader(Options... options) : reader_(options...) {}

  // The rows of all lines that have ended. A bad line is raised as `hinge.streams.text.BadLine`.
  nb::object read(nb::bytes data) {
    return guarded([&] { return reader_.read(data.c_str(), data.size()); });
  }
  nb::object finish() {
    return guarded([&] { return reader_.finish(); });
  }
  std::size_t lines() const { return reader_.lines(); }
  std::size_t skipped() const { return reader_.skipped(); }
  nb::list bad_lines() const {
    nb::list all;
    for (const BadLine& bad : reader_.bad_lines()) all.append(told(bad));
    return all;
  }

 private:
  template <class Function>
  nb::object guarded(const Function& function) {
    TextRows rows;
    try {
      const nb::gil_scoped_release released;
      rows = function();
    } catch (const BadLine& bad) {
      nb::object error = nb::module_::import_("hinge.streams.text").attr("BadLine")(bad.line, bad.column, bad.what());
      PyErr_SetObject(error.type().ptr(), error.ptr());
      throw nb::python_error();
    }
    return arrays_of(std::move(rows));
  }

  Reader reader_;
};

}  // namespace hinge
