// Many events of a fleet, read before the first one is learned: their keys and their features.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "features.hpp"
#include "keys.hpp"

namespace hinge {

class KeyList {
 public:
  void clear() { text_.clear(), ends_.clear(), tags_.clear(); }
  void reserve(std::size_t count, std::size_t bytes) {
    text_.reserve(count * bytes);
    ends_.reserve(count);
    tags_.reserve(count);
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
  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::uint32_t> tags_;
};

// The features of many events, one after the other. Names are copied if the fleet does not have them.
class FeatureList {
 public:
  explicit FeatureList(const FeatureNames& kept) : kept_(&kept) {}

  void clear() {
    hashes_.clear(), values_.clear(), name_ends_.clear(), text_.clear();
    starts_.assign(1, 0);
  }
  HINGE_INLINE void add(std::string_view name, double value) {
    const std::uint32_t hash = feature_hash(name);
    if (std::isinf(value * value)) [[unlikely]] reject_large(name);
    hashes_.push_back(hash);
    values_.push_back(value);
    if (kept_->size() < kept_->limit() && !kept_->find(hash)) text_.append(name);
    name_ends_.push_back(text_.size());
  }
  void end_event() { starts_.push_back(hashes_.size()); }

  // After the last event.
  void finish() {
    names_.clear();
    names_.reserve(hashes_.size());
    std::size_t from = 0;
    for (const std::size_t end : name_ends_) {
      names_.emplace_back(text_.data() + from, end - from);
      from = end;
    }
  }
  std::size_t size() const { return starts_.size() - 1; }
  FeaturesAhead ahead(std::size_t i) const { return {hashes_.data() + starts_[i], starts_[i + 1] - starts_[i]}; }
  EventFeatures operator[](std::size_t i) const {
    return {hashes_.data() + starts_[i], values_.data() + starts_[i], starts_[i + 1] - starts_[i], names_.data() + starts_[i], nullptr};
  }

 private:
  [[noreturn]] static void reject_large(std::string_view name) {
    InputError error("the value is too large: its square overflows float64");
    error.name = std::string(name);
    throw error;
  }

  const FeatureNames* kept_;
  std::vector<std::uint32_t> hashes_;
  std::vector<double> values_;
  std::vector<std::size_t> starts_{0}, name_ends_;
  std::vector<std::string_view> names_;
  std::string text_;
};

}  // namespace hinge
