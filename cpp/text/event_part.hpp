// Events of a text: features with names, which no model has given columns yet, a label and a weight each, and the key of
// a fleet, if there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "../data/errors.hpp"
#include "../names/bytes.hpp"
#include "json_event.hpp"
#include "text_rows.hpp"

namespace hinge {

// Texts, one after the other.
struct Strings {
  Growing<char> characters;
  Growing<std::int64_t> starts;  // text i is from starts[i] to [i + 1]

  Strings() { set_size(0); }
  std::size_t size() const { return starts.size() - 1; }
  std::size_t bytes() const { return characters.bytes() + starts.bytes(); }
  std::string_view operator[](std::size_t i) const {
    return {characters.data() + starts[i], static_cast<std::size_t>(starts[i + 1] - starts[i])};
  }
  HINGE_INLINE void push(std::string_view text) {
    const std::size_t size = characters.size();
    characters.make_room(text.size());
    copy_bytes(characters.data() + size, text.data(), text.size());
    characters.set_size(size + text.size());
    starts.push(static_cast<std::int64_t>(size + text.size()));
  }
  // Without those from there on.
  void set_size(std::size_t size) {
    if (size == 0) starts.set_size(0), starts.push(0);
    starts.set_size(size + 1);
    characters.set_size(static_cast<std::size_t>(starts[size]));
  }
};

struct EventText {
  Strings names;
  Growing<double> values;
  Growing<std::int64_t> starts;  // event i is from starts[i] to [i + 1]
  Growing<std::int64_t> lines;   // the line of each event
  Growing<double> weights;
  // Of each label its kind, the number that it is, and the text of a string, or what is written.
  Growing<JsonKind> label_kinds;
  Growing<double> label_numbers;
  Strings labels;
  Strings keys;  // of each event, as names are stored: none, or one each

  EventText() { clear(); }
  std::size_t count() const { return lines.size(); }
  std::size_t bytes() const {
    return names.bytes() + values.bytes() + starts.bytes() + lines.bytes() + weights.bytes() + label_kinds.bytes() +
           label_numbers.bytes() + labels.bytes() + keys.bytes();
  }
  void clear() {
    starts.set_size(0), starts.push(0);
    lines.set_size(0);
    drop_row();
  }
  HINGE_INLINE void push(std::string_view name, double value) {
    names.push(name);
    values.push(value);
  }
  void push_label(JsonKind kind, double number, std::string_view text) {
    label_kinds.push(kind);
    label_numbers.push(number);
    labels.push(text);
  }
  void end_row(std::size_t line) {
    starts.push(static_cast<std::int64_t>(values.size()));
    lines.push(static_cast<std::int64_t>(line));
  }
  // Takes back what has been read since the last event ended.
  void drop_row() {
    const auto size = static_cast<std::size_t>(starts[count()]);
    names.set_size(size);
    values.set_size(size);
    weights.set_size(std::min(weights.size(), count()));
    label_kinds.set_size(std::min(label_kinds.size(), count()));
    label_numbers.set_size(label_kinds.size());
    labels.set_size(label_kinds.size());
    keys.set_size(std::min(keys.size(), count()));
  }
};

// Consecutive events of a text. Parts share the text, so a part costs nothing.
class EventPart {
 public:
  explicit EventPart(std::shared_ptr<const EventText> text) : text_(std::move(text)), count_(text_->count()) {}

  std::size_t count() const { return count_; }
  EventPart part(std::size_t start, std::size_t stop) const {
    if (start > stop || stop > count_) throw InputError("there are no such events");
    EventPart some = *this;
    some.first_ += start;
    some.count_ = stop - start;
    return some;
  }
  // How many features all of them have.
  std::size_t size() const { return static_cast<std::size_t>(text_->starts[first_ + count_] - text_->starts[first_]); }
  const std::int64_t* lines() const { return text_->lines.data() + first_; }
  const double* weights() const { return text_->weights.data() + first_; }

  JsonKind label_kind(std::size_t i) const { return text_->label_kinds[first_ + i]; }
  double label_number(std::size_t i) const { return text_->label_numbers[first_ + i]; }
  std::string_view label_text(std::size_t i) const { return text_->labels[first_ + i]; }

  bool has_keys() const { return text_->keys.size() > 0; }
  std::string_view key(std::size_t i) const { return text_->keys[first_ + i]; }

  // Calls function(name, value) for each feature of an event. None is 0, and no name comes twice.
  template <class Function>
  void for_each(std::size_t i, const Function& function) const {
    const auto end = static_cast<std::size_t>(text_->starts[first_ + i + 1]);
    for (auto j = static_cast<std::size_t>(text_->starts[first_ + i]); j < end; ++j) function(text_->names[j], text_->values[j]);
  }

  // Appends event i to another text.
  void copy_event(std::size_t i, EventText& to) const {
    if (i >= count_) throw InputError("there is no event " + std::to_string(i));
    for_each(i, [&](std::string_view name, double value) { to.push(name, value); });
    to.push_label(label_kind(i), label_number(i), label_text(i));
    to.weights.push(weights()[i]);
    if (has_keys()) to.keys.push(key(i));
    to.end_row(static_cast<std::size_t>(lines()[i]));
  }

 private:
  std::shared_ptr<const EventText> text_;
  std::size_t first_ = 0, count_ = 0;
};

// Some events, in this order.
inline EventPart taken(const EventPart& from, const std::vector<std::size_t>& events) {
  auto text = std::make_shared<EventText>();
  for (const std::size_t i : events) from.copy_event(i, *text);
  return EventPart(std::move(text));
}
// The events of several parts, one after the other.
inline EventPart joined(const std::vector<EventPart>& parts) {
  auto text = std::make_shared<EventText>();
  for (const EventPart& part : parts)
    for (std::size_t i = 0; i < part.count(); ++i) part.copy_event(i, *text);
  return EventPart(std::move(text));
}

}  // namespace hinge
