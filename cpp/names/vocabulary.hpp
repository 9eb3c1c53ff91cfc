// Maps names to columns, numbered in order of arrival.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.hpp"
#include "../data/instance.hpp"
#include "../memories/arithmetic/lane_sums.hpp"

namespace hinge {

// Open addressing with linear probing, at most half full; the bytes of all names are contiguous. A lookup in a large
// vocabulary waits for memory twice; with prefetching, many lookups wait at the same time.
class Vocabulary {
 public:
  std::size_t size() const { return ends_.size(); }
  std::string_view name(std::size_t column) const {
    const std::size_t from = column == 0 ? 0 : ends_[column - 1];
    return {bytes_.data() + from, ends_[column] - from};
  }

  // Hashes eight bytes at a time; the last eight may overlap the previous ones. Files of fleets depend on it
  // (fleet/features.hpp); files of other models do not.
  static std::uint32_t hash_of(std::string_view name, std::uint64_t seed = 0) {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15u;
    const char* at = name.data();
    std::uint64_t hash = (name.size() ^ seed) * factor, word = 0;
    const auto mix = [&] {
      hash = (hash ^ word) * factor;
      hash ^= hash >> 32;
    };
    if (name.size() < 4) {
      for (const char c : name) word = word << 8 | static_cast<unsigned char>(c);
    } else if (name.size() < 8) {  // the first four bytes and the last four
      std::uint32_t first = 0, last = 0;
      std::memcpy(&first, at, 4);
      std::memcpy(&last, at + name.size() - 4, 4);
      word = std::uint64_t{first} << 32 | last;
    } else {
      for (const char* const end = at + name.size(); at + 8 < end; at += 8) {
        std::memcpy(&word, at, 8);
        mix();
      }
      std::memcpy(&word, name.data() + name.size() - 8, 8);
    }
    mix();
    mix();
    return static_cast<std::uint32_t>(hash);
  }

  // Prefetch what `find` reads: first the slot, later the name in it.
  HINGE_INLINE void prefetch_slot(std::uint32_t hash) const {
    if (!slots_.empty()) HINGE_PREFETCH(&slots_[hash & mask_]);
  }
  HINGE_INLINE void prefetch_name(std::uint32_t hash) const {
    if (!slots_.empty()) HINGE_PREFETCH(bytes_.data() + slots_[hash & mask_].from);
  }
  // The column of a name, or `none`.
  std::size_t find(std::string_view name, std::uint32_t hash) const {
    if (slots_.empty()) return none;
    for (std::size_t i = hash & mask_; slots_[i].place != 0; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.hash == hash && slot.size == name.size() && same_bytes(bytes_.data() + slot.from, name.data(), slot.size))
        return slot.place - 1;
    }
    return none;
  }
  // Adds a name that is known to be new. Returns its column.
  std::size_t add(std::string_view name, std::uint32_t hash) {
    if (2 * (size() + 1) > slots_.size()) grow();
    bytes_.append(name);
    ends_.push_back(bytes_.size());
    put(size() - 1, hash);
    return size() - 1;
  }
  // Removes the last names, the newest first: no later name has probed past its slot, so the slot can be freed.
  void truncate(std::size_t count) {
    while (size() > count) {
      const std::string_view last = name(size() - 1);
      std::size_t i = hash_of(last) & mask_;
      while (slots_[i].place != size()) i = (i + 1) & mask_;
      slots_[i] = Slot();
      bytes_.resize(bytes_.size() - last.size());
      ends_.pop_back();
    }
  }

  std::size_t bytes() const {
    return bytes_.size() + ends_.capacity() * sizeof(std::size_t) + slots_.capacity() * sizeof(Slot);
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t place = 0;  // the column plus one; 0: free
    std::uint64_t from = 0, size = 0;
  };

  void put(std::size_t column, std::uint32_t hash) {
    std::size_t i = hash & mask_;
    while (slots_[i].place != 0) i = (i + 1) & mask_;
    const std::size_t size = name(column).size();
    slots_[i] = {hash, static_cast<std::uint32_t>(column + 1), ends_[column] - size, size};
  }
  // Reinserts in column order, which `truncate` relies on.
  void grow() {
    slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), Slot());
    mask_ = slots_.size() - 1;
    constexpr std::size_t together = 16;  // prefetched in groups of this size
    std::array<std::uint32_t, together> hashes;
    for (std::size_t first = 0; first < size(); first += together) {
      const std::size_t count = std::min(together, size() - first);
      for (std::size_t i = 0; i < count; ++i) prefetch_slot(hashes[i] = hash_of(name(first + i)));
      for (std::size_t i = 0; i < count; ++i) put(first + i, hashes[i]);
    }
  }

  std::string bytes_;
  std::vector<std::size_t> ends_;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
};

}  // namespace hinge
