// From names to columns: a hash table of its own, because a dict of Python cannot be asked for many names at once. A
// look-up in a large vocabulary waits for memory three times; asked for ahead, many wait at the same time.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../names/bytes.hpp"
#include "../data/instance.hpp"
#include "../memories/arithmetic/lane_sums.hpp"

namespace hinge {

namespace nb = nanobind;

// Open addressing, linear probing, at most half full. Holds no references: the names live elsewhere.
class NameTable {
 public:
  static Py_hash_t hash_of(nb::handle name) {
    const Py_hash_t hash = PyObject_Hash(name.ptr());
    if (hash == -1) throw nb::python_error();
    return hash;
  }

  // Asks for what `find` will look at: first the slot, later the name in it.
  void ask_for_slot(Py_hash_t hash) const {
    if (!slots_.empty()) HINGE_PREFETCH(&slots_[place(hash)]);
  }
  void ask_for_name(Py_hash_t hash) const {
    if (!slots_.empty() && slots_[place(hash)].hash == hash) HINGE_PREFETCH(slots_[place(hash)].name);
  }

  // The column of a name (an exact string, or an int), or `none`.
  std::size_t find(nb::handle name, Py_hash_t hash) const {
    if (slots_.empty()) return none;
    for (std::size_t i = place(hash); slots_[i].name != nullptr; i = (i + 1) & mask_)
      if (slots_[i].hash == hash && same(slots_[i].name, name)) return slots_[i].column;
    return none;
  }
  // A name that is not there yet.
  void add(nb::handle name, Py_hash_t hash, std::size_t column) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    put({hash, name.ptr(), column});
    used_ += 1;
  }
  void remove(nb::handle name, Py_hash_t hash) {
    std::size_t hole = place(hash);
    while (slots_[hole].name != name.ptr()) hole = (hole + 1) & mask_;
    used_ -= 1;
    // What comes after it and would not be found across the hole moves into it.
    for (std::size_t i = (hole + 1) & mask_; slots_[i].name != nullptr; i = (i + 1) & mask_)
      if (((i - place(slots_[i].hash)) & mask_) >= ((i - hole) & mask_)) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    slots_[hole] = Slot();
  }
  std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

  static bool same(nb::handle a, nb::handle b) {
    if (a.is(b)) return true;
    if (!PyUnicode_CheckExact(a.ptr()) || !PyUnicode_CheckExact(b.ptr()))
      return PyLong_Check(a.ptr()) && PyLong_Check(b.ptr()) && PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_EQ) == 1;
    const Py_ssize_t length = PyUnicode_GET_LENGTH(a.ptr());
    const auto kind = PyUnicode_KIND(a.ptr());
    return length == PyUnicode_GET_LENGTH(b.ptr()) && kind == PyUnicode_KIND(b.ptr()) &&
           same_bytes(static_cast<const char*>(PyUnicode_DATA(a.ptr())),
                      static_cast<const char*>(PyUnicode_DATA(b.ptr())), static_cast<std::size_t>(length) * kind);
  }

 private:
  struct Slot {
    Py_hash_t hash = 0;
    PyObject* name = nullptr;  // none: free
    std::size_t column = 0;
  };

  // The hash of an int is the int: multiples of a power of two would all begin at the same place.
  std::size_t place(Py_hash_t hash) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(hash) * 0x9E3779B97F4A7C15u >> 20) & mask_;
  }
  void put(const Slot& slot) {
    std::size_t i = place(slot.hash);
    while (slots_[i].name != nullptr) i = (i + 1) & mask_;
    slots_[i] = slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old)
      if (slot.name != nullptr) put(slot);
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0, used_ = 0;
};

}  // namespace hinge
