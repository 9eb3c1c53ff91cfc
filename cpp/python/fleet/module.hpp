// Defined in fleet.cpp, which is compiled by itself.
#pragma once

#include <nanobind/nanobind.h>

namespace hinge {

void define_fleet(nanobind::module_& m);

}  // namespace hinge
