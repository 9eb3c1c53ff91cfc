// Lines of JSON as events of a fleet: an object each, one field of which is the key.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../text/json_event.hpp"
#include "batch.hpp"
#include "fleet.hpp"

namespace hinge {

class JsonBatch {
 public:
  JsonBatch(const Fleet& fleet, JsonMeaning meaning, std::size_t max_line)
      : features_(fleet.names), fleet_(fleet), json_(std::move(meaning)), max_line_(max_line) {}

  // Reads all lines. An error has the number of its line, from 1.
  void read(std::string_view text) {
    std::string padded;  // the parser may read `padding` bytes behind the last newline
    padded.reserve(text.size() + 1 + padding);
    padded.append(text);
    if (!padded.empty() && padded.back() != '\n') padded += '\n';
    const std::size_t size = padded.size();
    padded.append(padding, '\0');
    const char* at = padded.data();
    const char* const end = at + size;
    for (std::size_t line = 1; at < end; ++line) try {
        at = read_line(at, end, line) + 1;
      } catch (InputError& error) {
        error.line = line;
        throw;
      }
    features_.finish();
  }

  std::size_t size() const { return lines_.size(); }
  // The line of an event.
  std::size_t line(std::size_t i) const { return lines_[i]; }
  std::uint32_t tag(std::size_t i) const { return keys_.tag(i); }
  FeaturesAhead features_ahead(std::size_t i) const { return features_.ahead(i); }
  void operator()(std::size_t i, FleetEvent& e) const {
    e.key = keys_.key(i);
    e.tag = keys_.tag(i);
    e.x = features_[i];
    e.weight = weights_[i];
    if (!fleet_.is_classification()) {
      e.target = targets_[i];
      return;
    }
    const Known& known = labels_[places_[i]];
    e.label = &known.label;
    e.label_id = known.id;
  }

 private:
  struct Known {
    Label label;
    std::uint32_t id;
  };

  const char* read_line(const char* at, const char* end, std::size_t line) {
    const auto* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    if (static_cast<std::size_t>(newline - at) > max_line_)
      throw InputError("the line is longer than " + std::to_string(max_line_) + " bytes (max_line)");
    if (std::all_of(at, newline, [](char c) { return c == ' ' || c == '\t' || c == '\r'; })) return newline;
    json_.read(at);
    read_key();
    const bool has_truth = read_truth();
    weights_.push_back(has_truth ? read_weight() : 0);  // without a truth it is only predicted
    json_.for_each_feature([&](std::string_view name, double value) { features_.add(name, value); });
    features_.end_event();
    lines_.push_back(line);
    return newline;
  }
  void read_key() {
    const JsonValue key = json_.key();
    if (key.kind == JsonKind::string) return keys_.add(fleet_.keys, key.text);
    const auto number = key.integer();
    if (!number) throw InputError("a key, a string or a whole number, was expected in \"" + json_.meaning().key + "\", there is " + shown(key));
    keys_.add(fleet_.keys, NumberName(*number).key());
  }
  // Whether there is one.
  bool read_truth() {
    const JsonValue truth = json_.label();
    const bool is_there = !truth.is_missing() && !(truth.kind == JsonKind::string && truth.text.empty());
    if (fleet_.is_classification()) {
      places_.push_back(is_there ? place_of(truth) : place_of(std::string_view(), Label(false)));
    } else {
      if (is_there && !(truth.is_number() && std::isfinite(truth.number)))
        throw InputError("a number was expected for the label, there is " + shown(truth));
      targets_.push_back(is_there ? truth.number : 0);
    }
    return is_there;
  }
  std::size_t place_of(const JsonValue& truth) {
    switch (truth.kind) {
      case JsonKind::string: return place_of(truth.written, Label(std::string(truth.text)));
      case JsonKind::yes: return place_of(truth.written, Label(true));
      case JsonKind::no: return place_of(truth.written, Label(false));
      case JsonKind::integer:
        if (const auto number = truth.integer()) return place_of(truth.written, Label(*number));
        throw InputError("a label that is a whole number must fit into 64 bits");
      case JsonKind::real:
        if (std::isfinite(truth.number)) return place_of(truth.written, Label(truth.number));
        break;
      default: break;
    }
    throw InputError("a string, a number, true or false was expected for the label, there is " + shown(truth));
  }
  // Labels that were written alike are one.
  std::size_t place_of(std::string_view written, const Label& label) {
    const auto [found, is_new] = by_text_.try_emplace(std::string(written), labels_.size());
    if (is_new) labels_.push_back({label, fleet_.labels.find(label)});
    return found->second;
  }
  double read_weight() const {
    const JsonValue weight = json_.weight();
    if (!weight.is_there) return 1;
    if (!weight.is_number() || !std::isfinite(weight.number) || weight.number < 0)
      throw InputError("a weight of 0 or more was expected, there is " + shown(weight));
    return weight.number;
  }
  static std::string shown(const JsonValue& value) {
    return value.is_there ? std::string(value.written.substr(0, 100)) : std::string("none");
  }

  KeyList keys_;
  FeatureList features_;
  std::vector<double> targets_, weights_;
  std::vector<std::size_t> places_, lines_;
  std::vector<Known> labels_;
  std::unordered_map<std::string, std::size_t> by_text_;

  const Fleet& fleet_;
  JsonEvent json_;
  std::size_t max_line_;
};

}  // namespace hinge
