// Lines of JSON, an object each, to events (event_part.hpp): the rules of `hinge learn` (streams/formats/json_lines.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event_part.hpp"
#include "json_event.hpp"

namespace hinge {

class JsonText {
 public:
  using Text = EventText;
  using Part = EventPart;

  // Lines longer than `max_line` bytes, without CR LF, are rejected.
  JsonText(JsonMeaning meaning, std::size_t max_line) : event_(std::move(meaning)), max_line_(max_line) {}

  void begin_file() { first_line_ = true; }
  void expect(std::size_t, EventText&) const {}
  const char* read_line(const char* line, EventText& events, bool& empty) {
    static constexpr std::string_view mark = "\xEF\xBB\xBF";  // of the byte order
    if (std::exchange(first_line_, false) && std::string_view(line, mark.size()) == mark) line += mark.size();
    const char* at = line;
    while (*at == ' ' || *at == '\t' || *at == '\r') ++at;
    empty = *at == '\n';
    const char* newline = at;
    try {
      if (!empty) newline = read_event(line, events);
    } catch (InputError& error) {
      newline = find_newline(line);
      error.text.assign(line, newline);
      check_length(line, newline);
      throw;
    }
    check_length(line, newline);
    return newline;
  }
  void keep_line() const {}
  void forget_line() const {}
  std::size_t finish(EventText&) const { return 0; }
  std::size_t ignored() const { return 0; }

 private:
  void check_length(const char* line, const char* newline) const {
    const auto size = static_cast<std::size_t>(newline - line);
    if (size - (size > 0 && newline[-1] == '\r') > max_line_)
      throw InputError("the line is longer than max_line=" + std::to_string(max_line_) + " bytes");
  }

  const char* read_event(const char* line, EventText& events) {
    const char* const newline = event_.read(line);
    const JsonValue label = event_.label(), weight = event_.weight();
    check_label(label);
    const bool weighs = weight.is_number() && std::isfinite(weight.number) && weight.number >= 0;
    if (weight.is_there && !weighs) throw InputError("a weight of 0 or more was expected, there is " + in_python(weight.written));
    const std::size_t first = events.values.size();
    event_.for_each_feature([&](std::string_view name, double value) { events.push(name, value); });
    if (event_.names_may_repeat()) add_up(events, first);
    const bool is_string = label.kind == JsonKind::string;
    events.push_label(is_string && label.text.empty() ? JsonKind::null : label.kind, label.number,
                      is_string ? label.text : label.written);
    events.weights.push(weight.is_there ? weight.number : 1);
    if (event_.has_key()) push_key(event_.key(), events);
    return newline;
  }
  static void push_key(const JsonValue& key, EventText& events) {
    if (key.kind == JsonKind::string) return events.keys.push(key.text);
    const auto number = key.integer();
    if (!number) throw InputError("a key, a string or a whole number, was expected, there is " + in_python(key.written));
    events.keys.push(NumberName(*number).key());
  }
  // A string, a number, a boolean or a list of them; null and "" say that there is none.
  void check_label(const JsonValue& label) const {
    const auto fits = [](const JsonNode& one) {
      if (one.kind == JsonKind::string) return one.text_size > 0;
      if (one.kind == JsonKind::real) return std::isfinite(one.number);
      return one.kind == JsonKind::integer || one.kind == JsonKind::yes || one.kind == JsonKind::no;
    };
    bool good = label.kind != JsonKind::object && (label.kind != JsonKind::real || std::isfinite(label.number));
    if (label.kind == JsonKind::list)
      for (const JsonNode *one = label.node + 1, *end = one + label.node->size; one < end; one += 1 + one->size)
        good = good && fits(*one);
    if (!good)
      throw InputError("a string, a number, true, false or a list of them was expected for the label, there is " +
                       in_python(label.written));
  }
  // Names that come twice in an event: their values are added up, in the place of the first one, and 0 is left out.
  void add_up(EventText& events, std::size_t first) {
    const std::size_t size = events.values.size();
    order_.clear();
    for (std::size_t j = first; j < size; ++j) order_.push_back(j);
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      const int names = events.names[a].compare(events.names[b]);
      return names != 0 ? names < 0 : a < b;
    });
    bool changed = false;
    double* const values = events.values.data();
    for (std::size_t i = 1, one = 0; i < order_.size(); ++i) {
      if (events.names[order_[i]] != events.names[order_[one]]) {
        one = i;
        continue;
      }
      values[order_[one]] += values[order_[i]];
      if (!std::isfinite(values[order_[one]])) throw InputError("the value is infinity (inf)");
      values[order_[i]] = 0;
      changed = true;
    }
    if (changed) drop_zeros(events, first);
  }
  void drop_zeros(EventText& events, std::size_t first) {
    std::vector<std::pair<std::string, double>> kept;
    for (std::size_t j = first; j < events.values.size(); ++j)
      if (events.values[j] != 0) kept.emplace_back(events.names[j], events.values[j]);
    events.names.set_size(first);
    events.values.set_size(first);
    for (const auto& [name, value] : kept) events.push(name, value);
  }

  JsonEvent event_;
  std::size_t max_line_;
  bool first_line_ = true;
  std::vector<std::size_t> order_;
};

}  // namespace hinge
