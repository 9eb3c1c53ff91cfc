// The labels of a fleet, numbered in the order of arrival, and the order in which a learner has them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../model/model.hpp"

namespace hinge {

// Labels that Python takes for equal are one: 1, 1.0 and true.
class LabelTable {
 public:
  static constexpr std::uint32_t unknown = 0xFFFFFFFF;

  std::size_t size() const { return labels_.size(); }
  const Label& operator[](std::uint32_t id) const { return labels_[id]; }
  const std::vector<Label>& all() const { return labels_; }

  std::uint32_t find(const Label& label) const {
    const auto found = ids_.find(canonical(label));
    return found == ids_.end() ? unknown : found->second;
  }
  std::uint32_t add(const Label& label) {
    labels_.push_back(label);
    try {
      return ids_.emplace(canonical(label), static_cast<std::uint32_t>(size() - 1)).first->second;
    } catch (...) {
      labels_.pop_back();
      throw;
    }
  }
  void truncate(std::size_t count) {
    while (size() > count) {
      ids_.erase(canonical(labels_.back()));
      labels_.pop_back();
    }
  }

  // Whether a sorts before b; nothing if they have no order (a string and a number).
  static std::optional<bool> before(const Label& a, const Label& b) {
    const auto* text = std::get_if<std::string>(&a);
    const auto* other = std::get_if<std::string>(&b);
    if ((text == nullptr) != (other == nullptr)) return std::nullopt;
    if (text != nullptr) return *text < *other;
    const auto *x = std::get_if<std::int64_t>(&a), *y = std::get_if<std::int64_t>(&b);
    return x != nullptr && y != nullptr ? *x < *y : number(a) < number(b);
  }

 private:
  static double number(const Label& label) {
    return std::visit([](const auto& value) {
      if constexpr (requires { static_cast<double>(value); }) return static_cast<double>(value);
      else return 0.0;
    }, label);
  }
  static Label canonical(const Label& label) {
    if (const auto* flag = std::get_if<bool>(&label)) return std::int64_t{*flag};
    if (const auto* real = std::get_if<double>(&label); real != nullptr && *real == std::floor(*real) && *real >= -0x1p63 && *real < 0x1p63)
      return static_cast<std::int64_t>(*real);
    return label;
  }

  std::vector<Label> labels_;
  std::map<Label, std::uint32_t> ids_;
};

// For messages.
inline std::string shown_label(const Label& label) {
  if (const auto* text = std::get_if<std::string>(&label)) return shown_name(*text);
  if (const auto* flag = std::get_if<bool>(&label)) return *flag ? "True" : "False";
  std::string shown;
  std::visit([&](const auto& value) { append_json(shown, value); }, label);
  return shown;
}

// What a label is for a learner: its sign or its lane.
struct LabelCode {
  double truth;
  bool flips;  // the two classes change places after the round
};
inline double label_code(std::size_t place, std::size_t count) {
  return count <= 2 ? 2 * static_cast<double>(place) - 1 : static_cast<double>(place);
}

// Adds a label to those that a learner knows, in their order. The first one counts as negative; the second one may sort
// before it. Later ones follow as they come. A boolean brings the other one along.
inline LabelCode add_label(LabelTable& table, std::uint32_t id, std::vector<std::uint32_t>& known) {
  if (known.empty() && std::holds_alternative<bool>(table[id])) {
    const bool value = std::get<bool>(table[id]);
    const Label other_label = !value;
    std::uint32_t other = table.find(other_label);
    if (other == LabelTable::unknown) other = table.add(other_label);
    known = value ? std::vector{other, id} : std::vector{id, other};
    return {value ? 1.0 : -1.0, false};
  }
  known.push_back(id);
  if (known.size() != 2) return {known.size() == 1 ? -1 : static_cast<double>(known.size() - 1), false};
  const bool flips = LabelTable::before(table[id], table[known[0]]).value_or(false);
  if (flips) std::swap(known[0], known[1]);
  return {1, flips};
}

}  // namespace hinge
