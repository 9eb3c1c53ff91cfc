// The state of a model as Python holds it. Tensors: memoryviews on the way out, any arrays on the way in.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "../model/tensors.hpp"
#include "arrays.hpp"

namespace hinge {

// The fields of model/statistics.py, in their order.
inline nb::tuple statistics_tuple(const Statistics& s, std::int64_t insertions, std::int64_t removals) {
  return nb::make_tuple(s.rounds, s.mistakes, s.updates, s.loss, s.squared_loss, s.largest_q, s.progress, s.cost,
                        insertions, removals, s.capped, s.weighted);
}

inline nb::dlpack::dtype dtype_of(Type type) {
  switch (type) {
    case Type::u64: return nb::dtype<std::uint64_t>();
    case Type::i64: return nb::dtype<std::int64_t>();
    case Type::f64: return nb::dtype<double>();
    case Type::f32: return nb::dtype<float>();
    case Type::u32: return nb::dtype<std::uint32_t>();
    case Type::i32: return nb::dtype<std::int32_t>();
    case Type::f16: return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    case Type::u16: return nb::dtype<std::uint16_t>();
    case Type::i16: return nb::dtype<std::int16_t>();
    case Type::i8: return nb::dtype<std::int8_t>();
    case Type::u8: return nb::dtype<std::uint8_t>();
    case Type::boolean: return nb::dtype<bool>();
  }
  throw nb::type_error("a tensor of an unknown type");
}

// A view of a tensor, which lives as long as it is needed. It needs no numpy unless `Framework` is numpy.
template <class Framework>
nb::object view_of(const Tensor& tensor) {
  auto* owned = new Tensor(tensor);
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  return nb::cast(nb::ndarray<Framework>(const_cast<void*>(owned->data), owned->shape.size(), owned->shape.data(), owner,
                                         nullptr, dtype_of(owned->type)));
}
template <class Framework>
nb::dict views_of(const Tensors& tensors) {
  nb::dict views;
  for (const auto& [name, tensor] : tensors.all) views[name.c_str()] = view_of<Framework>(tensor);
  return views;
}

// The arrays of a dict, borrowed: they must live as long as the tensors.
class BorrowedTensors {
 public:
  explicit BorrowedTensors(const nb::dict& given) {
    for (const auto& [key, value] : given) {
      std::string name;
      if (!nb::try_cast(key, name)) throw nb::type_error("the name of a tensor must be a string");
      Array array;
      if (!nb::try_cast(value, array)) throw nb::type_error(("the tensor " + name + " is not an array").c_str());
      std::int64_t step = 1;
      for (std::size_t i = array.ndim(); i-- > 0; step *= static_cast<std::int64_t>(array.shape(i)))
        if (array.shape(i) > 1 && array.stride(i) != step)
          throw nb::type_error(("the tensor " + name + " is not contiguous").c_str());
      check_aligned(array);
      Tensor tensor{type_named(array.dtype(), name), {}, array.data(), nullptr};
      for (std::size_t i = 0; i < array.ndim(); ++i) tensor.shape.push_back(array.shape(i));
      tensors.all.emplace(name, std::move(tensor));
      held_.push_back(std::move(array));
    }
  }
  Tensors tensors;

 private:
  static Type type_named(nb::dlpack::dtype dtype, const std::string& name) {
    for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(Type::boolean); ++i)
      if (dtype_of(static_cast<Type>(i)) == dtype) return static_cast<Type>(i);
    throw nb::type_error(("the tensor " + name + " has a type that no file holds").c_str());
  }
  std::vector<Array> held_;
};

}  // namespace hinge
