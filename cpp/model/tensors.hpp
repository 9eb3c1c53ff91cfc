// Named arrays of numbers, the content of a model file.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../data/instance.hpp"

namespace hinge {

// The types of safetensors, in the order in which it stores them.
enum class Type : std::uint8_t { u64, i64, f64, f32, u32, i32, f16, u16, i16, i8, u8, boolean };
struct TypeInfo {
  const char* name;
  std::size_t bytes;
};
inline constexpr TypeInfo types[] = {{"U64", 8}, {"I64", 8}, {"F64", 8}, {"F32", 4}, {"U32", 4}, {"I32", 4},
                                     {"F16", 2}, {"U16", 2}, {"I16", 2}, {"I8", 1},  {"U8", 1},  {"BOOL", 1}};
inline const TypeInfo& info(Type type) { return types[static_cast<std::size_t>(type)]; }

template <class Number>
constexpr Type type_of() {
  if constexpr (std::is_same_v<Number, double>) return Type::f64;
  if constexpr (std::is_same_v<Number, float>) return Type::f32;
  if constexpr (std::is_same_v<Number, std::int64_t>) return Type::i64;
  return Type::u8;
}

struct Tensor {
  Type type = Type::u8;
  std::vector<std::size_t> shape;  // empty: a scalar
  const void* data = nullptr;
  std::shared_ptr<const void> owner;  // keeps the data alive; nullptr if they are borrowed

  std::size_t size() const {
    std::size_t count = 1;
    for (const std::size_t each : shape) count *= each;
    return count;
  }
  std::size_t bytes() const { return size() * info(type).bytes; }
};

class Tensors {
 public:
  std::map<std::string, Tensor, std::less<>> all;

  template <class Number>
  void put(const std::string& name, std::vector<Number> values) {
    auto owned = std::make_shared<const std::vector<Number>>(std::move(values));
    all[name] = {type_of<Number>(), {owned->size()}, owned->data(), owned};
  }
  template <class Number>
  void put_unless_empty(const std::string& name, std::vector<Number> values) {
    if (!values.empty()) put(name, std::move(values));
  }
  void put_text(const std::string& name, const std::string& text) {
    put(name, std::vector<std::uint8_t>(text.begin(), text.end()));
  }
  // Adds a scalar, unless it equals its default bit for bit (-0.0 is not 0.0).
  template <class Number>
  void put_number(const std::string& name, Number value, Number default_value = Number()) {
    if (std::memcmp(&value, &default_value, sizeof value) == 0) return;
    put_single(name, static_cast<std::conditional_t<std::is_same_v<Number, bool>, std::int64_t, Number>>(value));
  }
  template <class Number>
  void put_single(const std::string& name, Number value) {
    auto owned = std::make_shared<const Number>(value);
    all[name] = {type_of<Number>(), {}, owned.get(), owned};
  }

  bool has(std::string_view name) const { return all.find(name) != all.end(); }
  // The length of a vector, which must exist.
  std::size_t length(std::string_view name) const {
    const Tensor& tensor = found(name);
    if (tensor.shape.size() != 1) misfit(name);
    return tensor.size();
  }
  // The values of a vector, which must be finite. An empty vector may be missing.
  template <class Number>
  const Number* vector(std::string_view name, std::size_t length) const {
    if (length == 0 && !has(name)) return nullptr;
    const Tensor& tensor = found(name);
    if (tensor.type != type_of<Number>() || tensor.shape != std::vector<std::size_t>{length}) misfit(name);
    const auto* values = static_cast<const Number*>(tensor.data);
    for (std::size_t i = 0; i < length; ++i) check(values[i], name);
    return values;
  }
  template <class Number>
  std::vector<Number> copy(std::string_view name, std::size_t length) const {
    const Number* values = vector<Number>(name, length);
    return std::vector<Number>(values, values + length);
  }
  std::string text(std::string_view name) const {
    const std::size_t size = length(name);
    return std::string(reinterpret_cast<const char*>(vector<std::uint8_t>(name, size)), size);
  }
  // Reads a scalar. If it is missing, `value` keeps its default.
  template <class Number>
  void get(std::string_view name, Number& value) const {
    if (!has(name)) return;
    if constexpr (std::is_same_v<Number, bool>) {
      const auto number = one<std::int64_t>(name);
      if (number > 1) impossible(name);
      value = number != 0;
    } else {
      value = one<Number>(name);
    }
  }

  [[noreturn]] static void misfit(std::string_view name) {
    throw InputError("the state does not fit the settings of the learner: " + std::string(name));
  }
  [[noreturn]] static void impossible(std::string_view name) {
    throw InputError("the state is invalid: " + std::string(name));
  }

 private:
  template <class Number>
  Number one(std::string_view name) const {
    const Tensor& tensor = found(name);
    if (tensor.type != type_of<Number>() || !tensor.shape.empty()) misfit(name);
    const Number value = *static_cast<const Number*>(tensor.data);
    check(value, name);
    return value;
  }
  const Tensor& found(std::string_view name) const {
    const auto place = all.find(name);
    if (place == all.end()) misfit(name);
    return place->second;
  }
  // Integers are counts.
  template <class Number>
  static void check(Number value, std::string_view name) {
    if constexpr (std::is_floating_point_v<Number>) {
      if (!std::isfinite(value)) impossible(name);
    } else if constexpr (std::is_same_v<Number, std::int64_t>) {
      if (value < 0 || value >= std::int64_t{1} << 62) impossible(name);
    }
  }
};

}  // namespace hinge
