// Which features of a line are read, and which are multiplied with each other: by namespace or by name.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace hinge {

// A set of namespaces and features. A single letter selects all namespaces that begin with it, as in Vowpal Wabbit. A
// longer string is the full name of a namespace or of a feature (namespace^feature).
class NameSet {
 public:
  void add(std::string_view name) {
    if (name.size() == 1) letters_[static_cast<unsigned char>(name[0])] = true;
    names_.emplace(name);
  }
  bool empty() const { return names_.empty(); }
  bool has(std::string_view space, std::string_view feature) const {
    if (!space.empty() && letters_[static_cast<unsigned char>(space[0])]) return true;
    return names_.contains(space) || names_.contains(feature);
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_set<std::string, Hash, std::equal_to<>> names_;
  std::array<bool, 256> letters_{};
};

class Selection {
 public:
  NameSet keep, drop;

  bool takes_all() const { return keep.empty() && drop.empty(); }
  bool takes(std::string_view space, std::string_view feature) const {
    return (keep.empty() || keep.has(space, feature)) && !drop.has(space, feature);
  }
};

// Quadratic features: the product of each feature of one set with each of another. Within one set, each pair occurs
// once.
class Interactions {
 public:
  static constexpr std::size_t most = 100'000;  // products of one line

  // Two empty names select all features.
  void add(std::string_view left, std::string_view right) {
    Pair pair;
    pair.all = left.empty();
    pair.within = left == right;
    pair.left.add(left);
    pair.right.add(right);
    pairs_.push_back(std::move(pair));
  }
  bool empty() const { return pairs_.empty(); }

  void clear() {
    names_.clear();
    factors_.clear();
  }
  void see(std::size_t space_size, std::string_view feature, double value) {
    factors_.push_back({names_.size(), feature.size(), space_size, value});
    names_.append(feature);
  }
  // Calls function(name, value) for each product. Returns false if there are too many.
  template <class Function>
  bool multiply(const Function& function) {
    std::size_t count = 0;
    for (const Pair& pair : pairs_) {
      select(pair, pair.left, left_);
      if (!pair.within) select(pair, pair.right, right_);
      const std::vector<std::size_t>& others = pair.within ? left_ : right_;
      count += pair.within ? left_.size() * (left_.size() + 1) / 2 : left_.size() * right_.size();
      if (count > most) return false;
      for (std::size_t i = 0; i < left_.size(); ++i)
        for (std::size_t j = pair.within ? i : 0; j < others.size(); ++j) {
          std::string_view one = feature(factors_[left_[i]]), other = feature(factors_[others[j]]);
          if (pair.within && other < one) std::swap(one, other);  // independent of their order in the line
          product_.assign(one).append("*").append(other);
          function(std::string_view(product_), factors_[left_[i]].value * factors_[others[j]].value);
        }
    }
    return true;
  }

 private:
  struct Pair {
    bool all = false, within = false;
    NameSet left, right;
  };
  struct Factor {
    std::size_t from, size, space_size;  // in `names_`: the full name, which begins with its namespace
    double value;
  };

  std::string_view feature(const Factor& factor) const {
    return std::string_view(names_).substr(factor.from, factor.size);
  }
  void select(const Pair& pair, const NameSet& set, std::vector<std::size_t>& found) const {
    found.clear();
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      const std::string_view name = feature(factors_[i]);
      if (pair.all || set.has(name.substr(0, factors_[i].space_size), name)) found.push_back(i);
    }
  }

  std::vector<Pair> pairs_;
  std::vector<Factor> factors_;  // the features of this line
  std::vector<std::size_t> left_, right_;
  std::string names_, product_;
};

}  // namespace hinge
