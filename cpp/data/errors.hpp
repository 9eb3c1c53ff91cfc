// Invalid input.
#pragma once

#include <any>
#include <cstddef>
#include <exception>
#include <limits>
#include <string>
#include <utility>

namespace hinge {

inline constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

// Thrown before anything is changed, or after everything is restored. The position is set where it is known. Row and
// column count from 0; in a text, line and column (in bytes) count from 1. hinge.InputError composes the message.
struct InputError : std::exception {
  explicit InputError(std::string reason_, std::size_t row_ = none, std::size_t column_ = none)
      : reason(std::move(reason_)), row(row_), column(column_) {}
  const char* what() const noexcept override { return reason.c_str(); }
  std::string reason;
  std::size_t row, column, line = none;
  std::string text;  // the line that was rejected, if its reader keeps it
  std::any name;  // the feature's name, if it has one: a key of names/names.hpp, or a Python object
};

}  // namespace hinge
