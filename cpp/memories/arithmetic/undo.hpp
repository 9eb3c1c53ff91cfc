// Rolls back what a batch has written to an array. It records overwritten values until a full copy is cheaper.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "buffer.hpp"

namespace hinge {

template <class Real>
class Undo {
 public:
  explicit Undo(Buffer<Real>& array) : array_(array) {}

  // `all_zero`: all entries are 0, so nothing needs to be recorded.
  void begin(bool all_zero = false) {
    noting_ = !all_zero;
    all_zero_ = all_zero;
  }
  bool noting() const { return noting_; }
  // `count` places are about to be overwritten; each(function) calls function(place) for all of them. If this throws
  // (out of memory), nothing is recorded, and nothing may be overwritten.
  template <class Each>
  void note(std::size_t count, const Each& each) {
    if (!noting_) return;
    if (noted_.size() + count > array_.size() / 8) {  // a record takes more space and time than a copied number
      copy_ = array_;
      undo(copy_);
      copied_ = true;
      noting_ = false;
      return;
    }
    const std::size_t before = noted_.size();
    try {
      each([&](std::size_t place) { noted_.push_back({place, array_[place]}); });
    } catch (...) {
      noted_.resize(before);
      throw;
    }
  }
  void rollback() {
    if (copied_)
      array_ = std::move(copy_);
    else if (all_zero_)
      array_.clear();
    else
      undo(array_);
    commit();
  }
  void commit() {
    noting_ = copied_ = all_zero_ = false;
    noted_ = {};
    copy_ = {};
  }

 private:
  struct Was {
    std::size_t place;
    Real value;
  };
  void undo(Buffer<Real>& array) const {
    for (auto was = noted_.rbegin(); was != noted_.rend(); ++was) array[was->place] = was->value;
  }

  Buffer<Real>& array_;
  bool noting_ = false, copied_ = false, all_zero_ = false;
  std::vector<Was> noted_;
  Buffer<Real> copy_;
};

}  // namespace hinge
