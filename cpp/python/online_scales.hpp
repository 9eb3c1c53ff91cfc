// The rows that a learner with scaling="online" sees: for certificates, which are about that stream.
#pragma once

#include <vector>

#include "../memories/arithmetic/sums.hpp"
#include "../memories/scaling.hpp"
#include "arrays.hpp"

namespace hinge {

struct OnlineScales {
  Scaling scaling;

  // Scales the rows one after the other. Calls each(row, scaled instance).
  template <class Each>
  void scale(const Rows& rows, const Each& each) {
    scaling.resize(rows.width());
    Scratch scratch;
    Instance x = rows.blank();
    for (std::size_t i = 0; i < rows.count(); ++i) {
      rows.take(i, x);
      if (!visit(x, [](const auto& features) { return in_order(features); })) {
        each(i, scaling.meet(rows.in_order(x, i, scratch)));
      } else {
        each(i, scaling.meet(x));
      }
      scaling.keep();
    }
  }
};

inline nb::object scale_dense(OnlineScales& self, const Array& X) {
  const Rows rows = dense_rows(X);
  std::vector<double> values;
  values.reserve(rows.count() * rows.width());
  self.scale(rows, [&](std::size_t, const Instance& x) {
    const auto* from = static_cast<const double*>(x.values);
    values.insert(values.end(), from, from + x.size);
  });
  return numpy_matrix(std::move(values), rows.count(), rows.width());
}
// The three arrays of CSR, with sorted columns.
inline nb::tuple scale_sparse(OnlineScales& self, const Array& data, const Array& indices, const Array& indptr,
                              std::size_t width) {
  const Rows rows = sparse_rows(data, indices, indptr, width);
  std::vector<double> values;
  std::vector<std::int64_t> columns, starts{0};
  self.scale(rows, [&](std::size_t, const Instance& x) {
    visit(x, [&](const auto& features) {
      for (std::size_t j = 0; j < features.size; ++j) {
        values.push_back(features.value(j));
        columns.push_back(static_cast<std::int64_t>(features.column(j)));
      }
    });
    starts.push_back(static_cast<std::int64_t>(values.size()));
  });
  return nb::make_tuple(numpy_array(std::move(values)), numpy_array(std::move(columns)), numpy_array(std::move(starts)));
}

inline void define_online_scales(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<OnlineScales>(m, "OnlineScales")
      .def(nb::init<>())
      .def("scale_dense", &scale_dense, "X"_a, nb::sig("def scale_dense(self, X: object) -> object"))
      .def("scale_sparse", &scale_sparse, "data"_a, "indices"_a, "indptr"_a, "width"_a);
}

}  // namespace hinge
