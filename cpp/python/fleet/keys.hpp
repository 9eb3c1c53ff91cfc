// Keys of Python: strings or integers, one or many.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../fleet/batch.hpp"
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
inline KeyList key_list(const Keys& keys, nb::handle given) {
  KeyList found;
  nb::ndarray<nb::ro, nb::device::cpu, std::int64_t, nb::ndim<1>, nb::c_contig> numbers;
  if (!PyList_Check(given.ptr()) && nb::try_cast(given, numbers, false)) {
    found.reserve(numbers.size(), 9);
    for (std::size_t i = 0; i < numbers.size(); ++i) found.add(keys, NumberName(numbers.data()[i]).key());
    return found;
  }
  const nb::list list = nb::cast<nb::list>(given);
  found.reserve(list.size(), 16);
  for (std::size_t i = 0; i < list.size(); ++i) try {
      const nb::object plain = plain_key(list[i]);
      found.add(keys, *Key(plain));
    } catch (InputError& error) {
      error.row = i;
      throw;
    }
  return found;
}

}  // namespace hinge
