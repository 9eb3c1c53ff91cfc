// A model: settings, a learner, the names of its features, and its labels. Its state is a set of named tensors, which a
// file stores (file.hpp).
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../names/names.hpp"
#include "committee_state.hpp"
#include "json.hpp"
#include "sequence_state.hpp"
#include "supports_state.hpp"

namespace hinge {

// ---- settings as JSON ----

// The settings that differ from their defaults.
inline std::string settings_text(const Settings& settings) {
  static const Settings defaults;
  std::string text = "{";
  each_setting([&](const char* name, auto member) {
    if (settings.*member == defaults.*member) return;
    if (text.size() > 1) text += ',';
    append_json(text, std::string_view(name));
    text += ':';
    append_json(text, settings.*member);
  });
  return text + "}";
}

inline void read_setting(const Json& json, std::string& value) {
  const auto* text = json.as<std::string>();
  if (text == nullptr) throw InputError("a setting must be a string");
  value = *text;
}
inline void read_setting(const Json& json, bool& value) {
  const auto* flag = json.as<bool>();
  if (flag == nullptr) throw InputError("a setting must be true or false");
  value = *flag;
}
template <class Number>
  requires std::is_arithmetic_v<Number>
void read_setting(const Json& json, Number& value) {
  if (const auto* whole = json.as<std::int64_t>(); whole != nullptr && (std::is_floating_point_v<Number> || *whole >= 0))
    value = static_cast<Number>(*whole);
  else if (const auto* real = json.as<double>(); real != nullptr && std::is_floating_point_v<Number>)
    value = static_cast<Number>(*real);
  else
    throw InputError("a setting must be a number");
}
inline void read_setting(const Json& json, std::vector<double>& values) {
  const auto* array = json.as<Json::Array>();
  if (array == nullptr) throw InputError("a setting must be a list of numbers");
  values.resize(array->size());
  for (std::size_t i = 0; i < values.size(); ++i) read_setting((*array)[i], values[i]);
}

inline Settings settings_from(std::string_view text) {
  const Json json = JsonReader(text).read();
  const auto* object = json.as<Json::Object>();
  if (object == nullptr) throw InputError("the settings must be a JSON object");
  Settings settings;
  std::size_t known = 0;
  each_setting([&](const char* name, auto member) {
    const Json* found = json.find(name);
    if (found == nullptr) return;
    read_setting(*found, settings.*member);
    known += 1;
  });
  if (known != object->size()) throw InputError("there are unknown settings");
  return settings;
}

// ---- labels and names as JSON ----

using Label = std::variant<bool, std::int64_t, double, std::string>;

inline std::string labels_text(const std::vector<Label>& labels) {
  std::string text = "[";
  for (const Label& label : labels) {
    if (text.size() > 1) text += ',';
    std::visit([&](const auto& value) { append_json(text, value); }, label);
  }
  return text + "]";
}
inline std::vector<Label> labels_from(std::string_view text) {
  const Json json = JsonReader(text).read();
  const auto* array = json.as<Json::Array>();
  if (array == nullptr) throw InputError("the labels must be a JSON array");
  std::vector<Label> labels;
  for (const Json& each : *array) {
    if (const auto* flag = each.as<bool>()) labels.emplace_back(*flag);
    else if (const auto* whole = each.as<std::int64_t>()) labels.emplace_back(*whole);
    else if (const auto* real = each.as<double>()) labels.emplace_back(*real);
    else if (const auto* name = each.as<std::string>()) labels.emplace_back(*name);
    else throw InputError("a label must be a string, a boolean or a number");
  }
  return labels;
}

// The names of the first `count` columns.
inline std::string names_text(const Names& names, std::size_t count) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    const std::string_view key = names.key(i);
    NumberName::is_number(key) ? append_json(text, NumberName::number(key)) : append_json(text, key);
  }
  return text + "]";
}
inline void read_names(std::string_view text, Names& names) {
  const Json json = JsonReader(text).read();
  const auto* array = json.as<Json::Array>();
  if (array == nullptr) throw InputError("the names must be a JSON array");
  if (names.hashing() && !array->empty()) throw InputError("hashed columns have no names (hash_bits)");
  for (const Json& each : *array) {
    if (const auto* number = each.as<std::int64_t>()) names.add_new(NumberName(*number).key());
    else if (const auto* name = each.as<std::string>()) names.add_new(*name);
    else throw InputError("the name of a feature must be a string or a whole number");
  }
}

// ---- the model ----

// The common part of models for rows and for sentences.
struct ModelParts {
  explicit ModelParts(Settings s)
      : settings(std::move(s)), names(settings.hash_bits, settings.max_features, settings.ignore_new) {}

  Settings settings;
  Names names;
  std::vector<Label> labels;

 protected:
  void save_parts(Tensors& to, const Settings& now, std::size_t named) const {
    to.put_text("settings", settings_text(now));
    to.put_text("names", names_text(names, named));
    to.put_text("labels", labels_text(labels));
    to.put_number("ignored", static_cast<std::int64_t>(names.ignored));
  }
  // The names in a file, which must belong to a model with the same settings and labels.
  Names loaded_names(const Tensors& from) const {
    const Settings theirs = settings_from(from.text("settings"));
    each_setting([&](const char* name, auto member) {
      if (theirs.*member != settings.*member) Tensors::misfit(name);
    });
    if (labels_from(from.text("labels")) != labels) Tensors::misfit("labels");
    Names loaded(settings.hash_bits, settings.max_features, settings.ignore_new);
    read_names(from.text("names"), loaded);
    std::int64_t ignored = 0;
    from.get("ignored", ignored);
    loaded.ignored = static_cast<std::size_t>(ignored);
    return loaded;
  }
};

struct Model : ModelParts {
  explicit Model(Settings s) : ModelParts(std::move(s)), learner(build(settings)) { learner.memory().resize(names.columns()); }

  Learner learner;

  // Widens the model for rows of that width. Throws if its columns are hashed or have names: new ones would need names.
  void make_room(std::size_t width) {
    const std::size_t columns = learner.memory().dimension();
    if (width <= columns) return;
    if (names.hashing() || names.numbered() < names.columns())
      throw InputError("X has " + std::to_string(width) + " features, the model has " + std::to_string(columns) +
                       (names.hashing() ? " (hashed)" : " (with names)"));
    if (width > names.limit())
      throw InputError("X has " + std::to_string(width) + " features, the limit is " + std::to_string(names.limit()) +
                       " (max_features)");
    learner.memory().resize(width);
  }
  // Swaps the two classes.
  void swap_classes() {
    learner.calibration.swap_classes();
    if (is_committee(settings)) return bank_of(learner).negate();
    if (has_kernel(settings)) return supports_of(learner).negate();
    with_flat(settings, learner.memory(), [](auto& w) {
      if constexpr (requires { w.negate(); }) w.negate();
    });
  }

  Tensors state() {
    Tensors tensors;
    save_parts(tensors, settings, names.kept());
    if (is_committee(settings)) save_committee(settings, learner, tensors);
    else has_kernel(settings) ? save_supports(settings, learner, tensors) : save_weights(settings, learner, tensors);
    return tensors;
  }
  // Takes the weights of an expert of a committee, whose settings this model must have, and the names of its columns.
  void take(Model& committee, std::size_t voter) {
    const Bank& bank = bank_of(committee.learner);
    const Voter& its = bank.voters[voter];
    Tensors state = member_state(bank, its, lanes_of(settings) == 0);
    const double constant = bank.starts[bank.members[its.member].input()].constant;
    if (waits_for_constant(settings) && constant > 0) state.put_number("constant", constant);
    if (Progress::has_calibration(learner, statistics_of(bank, its))) Progress::save_calibration(Calibration(), state);
    restore_weights(settings, learner, state, 0);
    learner.examples = committee.learner.examples;
    for (std::size_t i = 0; !names.hashing() && i < committee.names.columns(); ++i) names.add_new(committee.names.key(i));
  }
  // Takes the weights of a learner of scaled values, as they are for these. The other settings are the same.
  void take_unscaled(Model& scaled) {
    Tensors state;
    save_weights(settings, scaled.learner, state);
    restore_weights(settings, learner, state, 0);
    learner.examples = scaled.learner.examples;
  }
  // Requires the state of a model with the same settings and labels.
  void restore(const Tensors& from) {
    Names loaded = loaded_names(from);
    if (has_kernel(settings) != from.has("support_numbers")) Tensors::misfit("support_numbers");
    if (is_committee(settings)) restore_committee(settings, learner, from, loaded.columns());
    else if (has_kernel(settings)) restore_supports(settings, learner, from);
    else restore_weights(settings, learner, from, loaded.columns());
    names = std::move(loaded);
    learner.memory().resize(std::max(learner.memory().dimension(), names.columns()));
  }
};

struct SequenceModel : ModelParts {
  SequenceModel(Settings s, std::vector<Label> tags) : ModelParts(of_sequences(std::move(s), tags.size())), learner(settings) {
    labels = std::move(tags);
    learner.widen(labels.size());
    learner.resize(names.columns());
  }

  SequenceLearner learner;

  Tensors state() {
    Settings now = settings;
    now.labels = std::max<std::size_t>(1, labels.size());  // tags may have been added since construction
    Tensors tensors;
    save_parts(tensors, now, names.hashing() ? 0 : names.columns());  // no tensor stores the number of columns
    save_sequence(settings, learner, tensors);
    return tensors;
  }
  // Requires a new model with the same settings and tags.
  void restore(const Tensors& from) {
    names = loaded_names(from);
    learner.resize(names.columns());
    restore_sequence(settings, learner, from);
  }

 private:
  static Settings of_sequences(Settings settings, std::size_t tags) {
    settings.task = "structured";
    settings.labels = std::max<std::size_t>(1, tags);
    return settings;
  }
};

}  // namespace hinge
