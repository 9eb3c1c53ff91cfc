// Keyword arguments to settings.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "../model/settings.hpp"
#include "arrays.hpp"
#include "custom_kernel.hpp"

namespace hinge {

[[noreturn]] inline void raise_type_error(const std::string& message) { throw nb::type_error(message.c_str()); }

template <class Value>
void convert(nb::handle from, Value& to, const char* name) {
  if constexpr (std::is_same_v<Value, std::vector<double>>) {
    Doubles values;
    if (from.is_none()) return;
    if (!nb::try_cast(from, values)) raise_type_error(std::string("the setting ") + name + " must be a vector of numbers");
    to.assign(values.data(), values.data() + values.size());
  } else if (!nb::try_cast(from, to)) {
    raise_type_error(std::string("the setting ") + name + " cannot be " + quoted(from));
  }
}

// What is not given has its default. "function" is the function of kernel = "custom".
inline Settings settings_from(const nb::kwargs& given) {
  Settings settings;
  std::size_t known = 0;
  each_setting([&](const char* name, auto member) {
    if (!given.contains(name)) return;
    convert(given[name], settings.*member, name);
    known += 1;
  });
  if (given.contains("function")) {
    const nb::object function = given["function"];
    if (!function.is_none()) settings.custom_kernel = std::make_shared<FunctionKernel>(function);
    known += 1;
  }
  if (known == given.size()) return settings;
  for (const auto& [name, value] : given) {
    bool found = nb::cast<std::string>(name) == "function";
    each_setting([&](const char* other, auto) { found = found || nb::cast<std::string>(name) == other; });
    if (!found) raise_type_error("there is no setting " + quoted(name));
  }
  return settings;
}

}  // namespace hinge
