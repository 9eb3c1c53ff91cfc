// The model of one key as one block of bytes: what a file, the disk and the network have is what memory has.
//
//     RecordHead                   counts, statistics, scalars
//     key                          text, or an integer (names.hpp)
//     labels    u32[labels]        the key's own labels, if each key has its own
//     biases    f64[width]         of the intercept; then their sums for the average, and their precision
//     u, t      f64                sums of the average, and precisions of a diagonal covariance: one per weight, one per feature
//     v         f32 or f64         the weights, `width` per feature, in the order in which the features arrived
//     hashes    u32[room]          what identifies a feature: 32 bits of its name
//     index     u8, u16 or u64     open addressing, at most 3/4 full: the place of a hash, plus one; of many features with the
//                                  hash itself, since each look at memory is waited for
//
// A record knows nothing of other records. Names may collide only within one record: one in a million records of 100
// features has two that share a weight.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../data/instance.hpp"
#include "../rounds/books.hpp"

namespace hinge {

struct RecordHead {
  std::uint64_t bytes = 0;     // of the whole record
  std::uint32_t features = 0;  // stored
  std::uint32_t room = 0;      // for features
  std::uint32_t width = 1;     // weights per feature
  std::uint32_t labels = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t ignored = 0;   // how often a feature was left out because there was no more room
  Statistics statistics;
  double constant = 0;         // the constant feature of the intercept; 0 before the first example
  double weight_bound = 0;     // of all weights
  double added = 0;            // to the trace of the inverse covariance
};
static_assert(sizeof(RecordHead) == 136);

// The hashes of the features of an event that comes soon.
struct FeaturesAhead {
  const std::uint32_t* hashes = nullptr;
  std::size_t size = 0;
};

// What all records of a fleet have in common.
struct RecordLayout {
  std::size_t real = sizeof(double);  // bytes of a weight
  bool averages = false;
  bool variances = false;
};

struct FreeRecord {
  void operator()(char* bytes) const { std::free(bytes); }
};
using RecordBytes = std::unique_ptr<char, FreeRecord>;

// A view of the bytes of a record. Adding features and labels needs new bytes: `resized`.
class Record {
 public:
  static constexpr std::uint32_t missing = 0xFFFFFFFF;

  Record(const RecordLayout& layout, char* bytes) : layout_(&layout), at_(bytes) { lay_out(head()); }

  RecordHead& head() const { return *reinterpret_cast<RecordHead*>(at_); }
  char* bytes() const { return at_; }
  std::string_view key() const { return key_of(at_); }
  static std::string_view key_of(const char* bytes) {
    return {bytes + sizeof(RecordHead), reinterpret_cast<const RecordHead*>(bytes)->key_bytes};
  }
  std::uint32_t* labels() const { return at<std::uint32_t>(labels_); }
  double* biases() const { return at<double>(biases_); }
  double* bias_sums() const { return at<double>(bias_sums_); }
  double& bias_precision() const { return *at<double>(bias_precision_); }
  double* u() const { return at<double>(u_); }
  double* t() const { return at<double>(t_); }
  char* v() const { return at_ + v_; }
  std::uint32_t* hashes() const { return at<std::uint32_t>(hashes_); }
  std::size_t end() const { return end_; }
  // All before the arrays of features.
  std::size_t fixed_bytes() const { return u_; }
  // The biases with their sums and their precision.
  std::size_t bias_bytes() const { return u_ - biases_; }

  // The place of each hash, or `missing`. Events often name the first features in their order; the others are searched for.
  void find(const std::uint32_t* wanted, std::size_t count, std::uint32_t* places) const {
    const std::uint32_t* const known = hashes();
    const std::size_t most = std::min<std::size_t>(count, head().features);
    std::size_t j = 0;
    for (; j < most && known[j] == wanted[j]; ++j) places[j] = static_cast<std::uint32_t>(j);
    with_index([&](const auto* index) {
      for (; j < count; j += together) search(index, wanted + j, std::min(together, count - j), places + j);
    });
  }
  // Prefetch what an event reads of a large record: first its index, then what the index points to. (They are inlined: g++
  // removes calls of functions that only prefetch.)
  HINGE_INLINE void prefetch_index(const FeaturesAhead& x) const {
    for (std::size_t j = 0; j < x.size; ++j) HINGE_PREFETCH(at_ + index_ + index_width(head().room) * first_slot(x.hashes[j]));
  }
  HINGE_INLINE void prefetch_weights(const FeaturesAhead& x) const {
    const std::size_t width = head().width, weight = layout_->real * width;
    with_index([&](const auto* index) HINGE_INLINE_LAMBDA {
      for (std::size_t j = 0; j < x.size; ++j) {
        const std::size_t place = place_plus_one(index[first_slot(x.hashes[j])]);
        HINGE_PREFETCH(at_ + v_ + place * weight - weight);
        if (layout_->averages) HINGE_PREFETCH(u() + place * width - width);
        if (layout_->variances) HINGE_PREFETCH(t() + place - 1);
      }
    });
  }
  // Adds a feature that is not stored yet; there must be room. Its weights are 0.
  std::uint32_t add(std::uint32_t hash) const {
    const std::uint32_t place = head().features++;
    hashes()[place] = hash;
    with_index([&](auto* index) { enter(index, place); });
    return place;
  }
  // Forgets the features from `count` on.
  void truncate(std::uint32_t count) const {
    RecordHead& h = head();
    clear(count, h.features);
    h.features = count;
    enter_all();
  }
  // Gives the place of a feature to another one, whose weights are 0.
  void replace(std::uint32_t place, std::uint32_t hash) const {
    clear(place, place + 1);
    hashes()[place] = hash;
    enter_all();
  }

  // A record with this head; all else is 0.
  static RecordBytes empty(const RecordLayout& layout, RecordHead head) {
    head.bytes = Record(layout, head).end_;
    auto* bytes = static_cast<char*>(std::calloc(head.bytes, 1));
    if (bytes == nullptr) throw std::bad_alloc();
    std::memcpy(bytes, &head, sizeof head);
    return RecordBytes(bytes);
  }

  // An empty record for a key.
  static RecordBytes made(const RecordLayout& layout, std::string_view key, std::uint32_t labels, std::uint32_t width,
                          std::uint32_t room) {
    RecordHead head;
    head.room = room;
    head.width = width;
    head.labels = labels;
    head.key_bytes = static_cast<std::uint32_t>(key.size());
    RecordBytes bytes = empty(layout, head);
    if (!key.empty()) std::memcpy(bytes.get() + sizeof(RecordHead), key.data(), key.size());
    return bytes;
  }
  // A copy with more room for features.
  RecordBytes resized(std::uint32_t room) const {
    RecordHead larger = head();
    larger.room = room;
    RecordBytes bytes = empty(*layout_, larger);
    const Record to(*layout_, bytes.get());
    const std::size_t features = larger.features, weights = features * larger.width;
    std::memcpy(to.at_ + sizeof(RecordHead), at_ + sizeof(RecordHead), u_ - sizeof(RecordHead));  // up to the features
    if (layout_->averages) std::memcpy(to.u(), u(), weights * sizeof(double));
    if (layout_->variances) std::memcpy(to.t(), t(), features * sizeof(double));
    std::memcpy(to.v(), v(), weights * layout_->real);
    std::memcpy(to.hashes(), hashes(), features * sizeof(std::uint32_t));
    to.enter_all();
    return bytes;
  }
  // A copy with other numbers of labels and of weights per feature. The weights, their sums and the biases are 0.
  RecordBytes reshaped(std::uint32_t labels, std::uint32_t width) const {
    RecordHead other = head();
    other.labels = labels;
    other.width = width;
    RecordBytes bytes = empty(*layout_, other);
    const Record to(*layout_, bytes.get());
    std::memcpy(to.at_ + sizeof(RecordHead), at_ + sizeof(RecordHead), other.key_bytes);
    std::copy_n(this->labels(), std::min(labels, head().labels), to.labels());
    if (layout_->variances) {
      to.bias_precision() = bias_precision();
      std::memcpy(to.t(), t(), other.features * sizeof(double));
    }
    std::memcpy(to.hashes(), hashes(), other.features * sizeof(std::uint32_t));
    to.enter_all();
    return bytes;
  }
  RecordBytes copy() const {
    auto* bytes = static_cast<char*>(std::malloc(end_));
    if (bytes == nullptr) throw std::bad_alloc();
    std::memcpy(bytes, at_, end_);
    return RecordBytes(bytes);
  }

  // The room after it has become too small: a quarter more.
  static std::uint32_t more_room(std::uint32_t room, std::size_t needed) {
    const std::size_t grown = room < 16 ? room + 4 : room + room / 4;
    return static_cast<std::uint32_t>(std::max(needed, grown));
  }

  // Whether bytes from outside are a record of this layout. (The numbers in it are checked by `makes_sense`.)
  static bool fits(const RecordLayout& layout, const char* bytes, std::size_t size) {
    RecordHead head;
    if (size < sizeof head) return false;
    std::memcpy(&head, bytes, sizeof head);
    const bool small = head.room <= largest_room && head.width <= largest_width && head.labels <= largest_width;
    if (!small || head.features > head.room || head.width == 0 || head.bytes != size || head.key_bytes > size) return false;
    return Record(layout, head).end_ == size;
  }

 private:
  static constexpr std::size_t together = 32;
  static constexpr std::uint32_t largest_room = std::uint32_t{1} << 30, largest_width = std::uint32_t{1} << 20;

  Record(const RecordLayout& layout, const RecordHead& head) : layout_(&layout), at_(nullptr) { lay_out(head); }

  void lay_out(const RecordHead& h) {
    const std::size_t weights = std::size_t{h.room} * h.width;
    labels_ = aligned(sizeof(RecordHead) + h.key_bytes);
    biases_ = aligned(labels_ + sizeof(std::uint32_t) * h.labels);
    bias_sums_ = biases_ + sizeof(double) * h.width;
    bias_precision_ = bias_sums_ + (layout_->averages ? sizeof(double) * h.width : 0);
    u_ = bias_precision_ + (layout_->variances ? sizeof(double) : 0);
    t_ = u_ + (layout_->averages ? sizeof(double) * weights : 0);
    v_ = t_ + (layout_->variances ? sizeof(double) * h.room : 0);
    hashes_ = v_ + layout_->real * weights;
    index_ = hashes_ + sizeof(std::uint32_t) * h.room;
    if (index_width(h.room) == sizeof(LargeSlot)) index_ = aligned(index_);
    end_ = aligned(index_ + slot_count(h.room) * index_width(h.room));
  }

  static std::size_t aligned(std::size_t bytes) { return (bytes + 7) / 8 * 8; }
  struct LargeSlot {
    std::uint32_t place = 0;  // plus one; 0: free
    std::uint32_t hash = 0;
  };
  static std::uint64_t slot_count(std::uint32_t room) { return std::uint64_t{room} + room / 3 + 1; }
  static std::size_t index_width(std::uint32_t room) { return room <= 0xFF ? 1 : room <= 0xFFFF ? 2 : sizeof(LargeSlot); }
  std::uint64_t first_slot(std::uint32_t hash) const { return (hash * slot_count(head().room)) >> 32; }
  static std::uint32_t place_plus_one(LargeSlot slot) { return slot.place; }
  static std::uint32_t place_plus_one(std::uint32_t slot) { return slot; }
  template <class Number>
  Number* at(std::size_t offset) const { return reinterpret_cast<Number*>(at_ + offset); }

  template <class Function>
  HINGE_INLINE void with_index(const Function& function) const {
    switch (index_width(head().room)) {
      case 1: return function(at<std::uint8_t>(index_));
      case 2: return function(at<std::uint16_t>(index_));
      default: return function(at<LargeSlot>(index_));
    }
  }
  // Searches for at most `together` hashes at the same time. Where a search ends is hard to predict, so there is no branch on
  // it: those that go on are listed, and all of them look at their next slots.
  template <class Slot>
  void search(const Slot* index, const std::uint32_t* wanted, std::size_t count, std::uint32_t* places) const {
    const std::uint64_t slots = slot_count(head().room);
    const char* const before_hashes = at_ + hashes_ - sizeof(std::uint32_t);  // a free slot looks at it
    std::array<std::uint32_t, together> open, at;
    std::size_t left = 0;
    const auto look = [&](std::uint32_t j, std::uint64_t i) HINGE_INLINE_LAMBDA {
      const std::uint32_t place = place_plus_one(index[i]);
      std::uint32_t hash = 0;
      if constexpr (std::is_same_v<Slot, LargeSlot>) hash = index[i].hash;
      else std::memcpy(&hash, before_hashes + place * sizeof hash, sizeof hash);
      places[j] = place - 1;  // of a free slot: missing
      open[left] = j;
      at[left] = static_cast<std::uint32_t>(i);
      left += (place != 0) & (hash != wanted[j]);
    };
    for (std::uint32_t j = 0; j < count; ++j) look(j, (wanted[j] * slots) >> 32);
    while (left > 0) {
      const std::size_t some = std::exchange(left, 0);
      for (std::size_t k = 0; k < some; ++k) look(open[k], at[k] + 1 == slots ? 0 : at[k] + 1);
    }
  }
  template <class Slot>
  void enter(Slot* index, std::uint32_t place) const {
    const std::uint64_t slots = slot_count(head().room);
    std::uint64_t i = first_slot(hashes()[place]);
    while (place_plus_one(index[i]) != 0) i = i + 1 == slots ? 0 : i + 1;
    if constexpr (std::is_same_v<Slot, LargeSlot>) index[i] = {place + 1, hashes()[place]};
    else index[i] = static_cast<Slot>(place + 1);
  }
  void enter_all() const {
    const RecordHead& h = head();
    std::memset(at_ + index_, 0, slot_count(h.room) * index_width(h.room));
    with_index([&](auto* index) {
      for (std::uint32_t place = 0; place < h.features; ++place) enter(index, place);
    });
  }
  void clear(std::size_t from, std::size_t to) const {
    const std::size_t count = to - from, width = head().width;
    if (layout_->averages) std::memset(u() + from * width, 0, count * width * sizeof(double));
    if (layout_->variances) std::memset(t() + from, 0, count * sizeof(double));
    std::memset(v() + from * width * layout_->real, 0, count * width * layout_->real);
  }

  const RecordLayout* layout_;
  char* at_;
  std::size_t labels_, biases_, bias_sums_, bias_precision_, u_, t_, v_, hashes_, index_, end_;
};

}  // namespace hinge
