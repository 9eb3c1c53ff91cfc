// Who made the changes of a fleet: a copy that learns by itself draws a new name. So a replica accepts the changes of the
// fleet that it was copied from, and rejects all others.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hinge {

class Lineage {
 public:
  struct Part {
    std::string name;
    std::uint64_t from = 0;  // its changes are those after this one
    bool operator==(const Part&) const = default;
  };

  const std::vector<Part>& parts() const { return parts_; }
  bool is_empty() const { return parts_.empty(); }
  std::string_view name() const { return parts_.empty() ? std::string_view() : parts_.back().name; }

  // Before the first change that this fleet makes by itself after change number `clock`.
  void begin(std::uint64_t clock) {
    if (is_own_) return;
    std::vector<Part> longer(parts_.size() < most ? parts_.begin() : parts_.begin() + 1, parts_.end());
    longer.push_back({random_name(), clock});
    parts_ = std::move(longer);
    is_own_ = true;
  }
  // After a fork there are two fleets with this name.
  void disown() { is_own_ = false; }
  // After the state of another fleet has been taken over.
  void take(std::vector<Part> theirs) noexcept {
    parts_ = std::move(theirs);
    is_own_ = false;
  }
  // Whether a fleet with these parts, which has made `now` changes, was once as a fleet of this name was after `clock`.
  static bool contains(const std::vector<Part>& parts, std::uint64_t now, std::string_view name, std::uint64_t clock) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::uint64_t end = i + 1 < parts.size() ? parts[i + 1].from : now;
      if (parts[i].name == name && parts[i].from < clock && clock <= end) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t most = 1000;  // older copies need the whole fleet again

  static std::string random_name() {
    std::random_device random;
    char digits[33];
    std::snprintf(digits, sizeof digits, "%08x%08x%08x%08x", random(), random(), random(), random());
    return digits;
  }

  std::vector<Part> parts_;
  bool is_own_ = false;
};

}  // namespace hinge
