// Records on disk, in a temporary file: those of keys that have not learned for long, if a fleet may not take more memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "../files/scratch_file.hpp"
#include "record.hpp"

namespace hinge {

// The file consists of slots. A slot that has become free is used again for a record that fills most of it.
class ColdRecords {
 public:
  // Where a record is: the number of its slot's first unit, and how many units the slot has.
  using Place = std::uint64_t;

  // Nothing changes if it throws.
  Place put(const Record& record) {
    const std::size_t size = record.end();
    const std::size_t units = (size + unit - 1) / unit;
    if (!file_) file_ = std::make_unique<ScratchFile>();
    const auto fits = free_.lower_bound(units);
    if (fits != free_.end() && fits->first <= units + units / 4) {
      const Place place = fits->second.back();
      file_->write(offset(place), record.bytes(), size);
      fits->second.pop_back();
      if (fits->second.empty()) free_.erase(fits);
      return place;
    }
    const Place place = end_ << size_bits | units;
    file_->write(offset(place), record.bytes(), size);
    end_ += units;
    return place;
  }
  static bool can_hold(const Record& record) { return record.end() / unit + 1 < std::size_t{1} << size_bits; }

  // The record at a place.
  RecordBytes get(Place place, const RecordLayout& layout) const {
    RecordHead head;
    file_->read(offset(place), &head, sizeof head);
    if (head.bytes < sizeof head || head.bytes > capacity(place)) damaged();
    RecordBytes bytes(static_cast<char*>(std::malloc(head.bytes)));
    if (!bytes) throw std::bad_alloc();
    std::memcpy(bytes.get(), &head, sizeof head);
    file_->read(offset(place) + sizeof head, bytes.get() + sizeof head, head.bytes - sizeof head);
    if (!Record::fits(layout, bytes.get(), head.bytes)) damaged();
    return bytes;
  }
  void release(Place place) noexcept {
    try {
      free_[place & ((std::uint64_t{1} << size_bits) - 1)].push_back(place);
    } catch (const std::bad_alloc&) {  // the slot is not used again
    }
  }
  // How long the file is.
  std::size_t file_bytes() const { return end_ * unit; }

 private:
  static constexpr std::size_t unit = 64, size_bits = 24;

  static std::uint64_t offset(Place place) { return (place >> size_bits) * unit; }
  static std::uint64_t capacity(Place place) { return (place & ((std::uint64_t{1} << size_bits) - 1)) * unit; }
  [[noreturn]] static void damaged() { throw std::runtime_error("the temporary file of the fleet is damaged"); }

  std::unique_ptr<ScratchFile> file_;
  std::map<std::uint64_t, std::vector<Place>> free_;  // by their numbers of units
  std::uint64_t end_ = 0;                             // in units
};

}  // namespace hinge
