// A growing array of zeros. New memory comes from calloc, so pages that are never written cost nothing: a hashed model
// of 2^24 columns takes only the memory of the columns it has seen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace hinge {

template <class Real>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer& other) : Buffer() {
    resize(other.size_);
    if (size_ > 0) std::memcpy(data(), other.data(), size_ * sizeof(Real));
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer other) noexcept {
    swap(other);
    return *this;
  }

  Real* data() { return data_; }
  const Real* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return capacity_ * sizeof(Real); }
  Real& operator[](std::size_t i) { return data_[i]; }
  const Real& operator[](std::size_t i) const { return data_[i]; }

  // New entries are 0. Entries that are dropped must already be 0.
  void resize(std::size_t size) {
    if (size > capacity_) {
      const std::size_t capacity = size_ == 0 ? size : std::max(size, capacity_ + capacity_ / 2);
      constexpr std::size_t more = line / sizeof(Real);
      void* fresh = capacity > none_that_large ? nullptr : std::calloc(capacity + more, sizeof(Real));
      if (fresh == nullptr) throw std::bad_alloc();
      const auto address = reinterpret_cast<std::uintptr_t>(fresh);
      auto* aligned = reinterpret_cast<Real*>((address + line - 1) / line * line);
      if (size_ > 0) std::memcpy(aligned, data(), size_ * sizeof(Real));
      memory_.reset(fresh);
      data_ = aligned;
      capacity_ = capacity;
    }
    size_ = size;
  }

  // Call this if most of the array is about to be written: huge pages cost fewer faults. (Otherwise each written entry
  // would take a huge page, and a hashed model the memory of all its columns.)
  void expect_use() {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t page = 4096;
    constexpr std::size_t worth_it = std::size_t{8} << 20;
    if (size_ * sizeof(Real) < worth_it || expected_ == data()) return;
    expected_ = data();
    const auto start = (reinterpret_cast<std::uintptr_t>(data()) + page - 1) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(data() + size_) / page * page;
    madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE);  // advice: the kernel may ignore it
#endif
  }

  void clear() {
    if (size_ > 0) std::memset(data(), 0, size_ * sizeof(Real));
  }

 private:
  static constexpr std::size_t line = 64;  // data() is aligned to a cache line
  static constexpr std::size_t none_that_large = std::size_t{1} << 56;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  void swap(Buffer& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(expected_, other.expected_);
  }

  std::unique_ptr<void, Free> memory_;
  Real* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  const Real* expected_ = nullptr;
};

}  // namespace hinge
