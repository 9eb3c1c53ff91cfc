// Single-prototype ranking: a feature vector for each label, from names and values to columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "../rounds/block.hpp"
#include "../model/build.hpp"
#include "arrays.hpp"
#include "events.hpp"

namespace hinge {

// The features of a block by their names, in the order of the columns; `from` has a row for each label. Unknown names
// are left out, unless they `grow`.
struct NamedBlock {
  NamedBlock(Names& vocabulary, const Settings& settings, const nb::list& names, const Matrix& from, bool grow) {
    if (settings.task != "prototype") throw InputError("the learner has one feature vector an instance");
    const std::size_t labels = from.shape(0), size = from.shape(1);
    for (std::size_t i = 0; i < labels * size; ++i) reject_unless_finite(from.data()[i], i / size, none);
    if (names.size() != size) throw InputError("there must be a column of values for each feature");
    if (vocabulary.hashing()) throw InputError("features that depend on the label cannot be hashed (hash_bits)");
    if ((!settings.cost.empty() || !settings.nu.empty()) && labels != settings.labels)
      throw InputError("there must be a row of values for each label");
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (std::size_t j = 0; j < size; ++j) {
      const std::size_t column = column_of(vocabulary, Key(Records::plain_name(names[j])), grow);
      if (column != none) places.emplace_back(column, j);
    }
    std::sort(places.begin(), places.end());
    for (std::size_t j = 0; j < places.size(); ++j) {
      if (j > 0 && places[j].first == places[j - 1].first)
        throw InputError("the feature " + quoted(names[places[j].second]) + " occurs twice");
      columns.push_back(static_cast<std::int64_t>(places[j].first));
    }
    values.reserve(labels * places.size());
    for (std::size_t r = 0; r < labels; ++r)
      for (const auto& place : places) values.push_back(from.data()[r * size + place.second]);
    block = Block(columns.data(), values.data(), columns.size(), labels);
  }
  NamedBlock(const NamedBlock&) = delete;
  NamedBlock& operator=(const NamedBlock&) = delete;

  std::vector<std::int64_t> columns;
  std::vector<double> values;
  Block block;

 private:
  static std::size_t column_of(Names& names, const Key& key, bool grow) {
    return grow ? names.find_or_add(*key, Vocabulary::hash_of(*key)) : names.find(*key);
  }
};

}  // namespace hinge
