// Keys of Python: strings or integers, one or many.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../fleet/fleet.hpp"
#include "../arrays.hpp"
#include "../events.hpp"

namespace hinge {

// A key must be a string or an integer.
inline nb::object plain_key(nb::handle key) {
  if (PyUnicode_CheckExact(key.ptr())) return nb::borrow(key);
  if (PyUnicode_Check(key.ptr())) return made(PyUnicode_FromObject(key.ptr()));
  if (PyBool_Check(key.ptr()) || !PyIndex_Check(key.ptr()))
    throw InputError("a key must be a string or a whole number, not " + quoted(key));
  const nb::object number = made(PyNumber_Index(key.ptr()));
  int overflows = 0;
  PyLong_AsLongLongAndOverflow(number.ptr(), &overflows);
  if (overflows != 0) throw InputError("a key that is a whole number must fit into 64 bits");
  return number;
}

// The keys of a batch, copied: the threads of Python may change their list meanwhile.
class KeyList {
 public:
  KeyList() = default;
  KeyList(const Keys& keys, nb::handle given) {
    nb::ndarray<nb::ro, nb::device::cpu, std::int64_t, nb::ndim<1>, nb::c_contig> numbers;
    if (!PyList_Check(given.ptr()) && nb::try_cast(given, numbers, false)) {
      reserve(numbers.size(), 9);
      for (std::size_t i = 0; i < numbers.size(); ++i) add(keys, NumberName(numbers.data()[i]).key());
      return;
    }
    const nb::list list = nb::cast<nb::list>(given);
    reserve(list.size(), 16);
    for (std::size_t i = 0; i < list.size(); ++i) try {
        const nb::object plain = plain_key(list[i]);
        add(keys, *Key(plain));
      } catch (InputError& error) {
        error.row = i;
        throw;
      }
  }

  void add(const Keys& keys, std::string_view key) {
    text_.append(key);
    ends_.push_back(text_.size());
    tags_.push_back(keys.tag_of(key));
  }
  std::size_t size() const { return ends_.size(); }
  std::string_view key(std::size_t i) const {
    const std::size_t from = i == 0 ? 0 : ends_[i - 1];
    return {text_.data() + from, ends_[i] - from};
  }
  std::uint32_t tag(std::size_t i) const { return tags_[i]; }

 private:
  void reserve(std::size_t count, std::size_t bytes) {
    text_.reserve(count * bytes);
    ends_.reserve(count);
    tags_.reserve(count);
  }
  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::uint32_t> tags_;
};

}  // namespace hinge
