// From text to a model, without Python: the rows that a reader has read are learned as they are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../files/open_file.hpp"
#include "../model/model.hpp"
#include "lines.hpp"
#include "text_part.hpp"

namespace hinge {

// ---- targets ----

// The targets of a text, as the rounds of a model take them.
struct TextTargets {
  std::vector<Label> labels{};      // of the model, with those that the text brings
  bool swaps = false;               // the two classes change places once the text is learned
  std::vector<double> signs{};      // of two classes, one per row
  const double* numbers = nullptr;  // of a regression, one per row

  const double* values() const { return signs.empty() ? numbers : signs.data(); }
  bool brings_labels(const Model& model) const { return labels.size() > model.labels.size(); }
};

// The number that a label is, if float64 has it exactly.
inline std::optional<double> number_of(const Label& label) {
  const double number = std::visit([]<class Value>(const Value& value) {
    if constexpr (std::is_same_v<Value, std::string>) return HUGE_VAL;
    else return static_cast<double>(value);
  }, label);
  return std::abs(number) < 0x1p53 ? std::optional(number) : std::nullopt;
}

// Two classes: the smaller label is negative. While a label is alone it is negative, too, even if the second one turns out
// to be smaller: then the text is learned with the signs of before, and the classes change places after it. Rows without
// weight bring no labels. Nothing: there are more than two classes, or labels that are not such numbers.
inline std::optional<TextTargets> two_classes(const std::vector<Label>& known, const TextPart& text, bool grows) {
  std::vector<double> classes;
  for (const Label& label : known) {
    const std::optional<double> number = number_of(label);
    if (!number) return std::nullopt;
    classes.push_back(*number);
  }
  const double *const labels = text.labels(), *const weights = text.weights();
  const auto is_known = [&](double label) { return std::find(classes.begin(), classes.end(), label) != classes.end(); };
  TextTargets targets{.labels = known};
  for (std::size_t i = 0; i < text.count(); ++i) {
    if (is_known(labels[i]) || (weights != nullptr && weights[i] == 0)) continue;
    if (!grows || classes.size() == 2 || !number_of(labels[i]) || (!known.empty() && std::holds_alternative<bool>(known[0])))
      return std::nullopt;
    classes.push_back(labels[i]);
    targets.labels.emplace_back(labels[i]);
  }
  if (classes.size() == 2 && classes[1] < classes[0] && known.size() < 2) {
    std::swap(classes[0], classes[1]);
    std::swap(targets.labels[0], targets.labels[1]);
    targets.swaps = known.size() == 1;
  }
  const double positive = targets.swaps ? classes[0] : classes.size() == 2 ? classes[1] : std::nan("");
  for (std::size_t i = 0; i < text.count(); ++i) targets.signs.push_back(labels[i] == positive ? 1 : -1);
  return targets;
}

// Nothing: the labels need an encoding that is not here (several classes, sets of labels, ranks).
inline std::optional<TextTargets> text_targets(const Model& model, const TextPart& text, bool grows) {
  const Settings& settings = model.settings;
  if (settings.task == "uniclass") return TextTargets{.labels = model.labels};
  if (!text.has_one_label_each()) return std::nullopt;
  if (settings.task == "regression") return TextTargets{.labels = model.labels, .numbers = text.labels()};
  return is_binary(settings) ? two_classes(model.labels, text, grows) : std::nullopt;
}

// ---- learning ----

// The names of new columns. All of them are known from here on, or none.
inline void add_names(Model& model, const ColumnNames& names) {
  if (names.count() == 0) return;
  Memory& memory = model.learner.memory();
  const std::size_t known = model.names.columns(), columns = memory.dimension();
  try {
    constexpr std::size_t together = 16;  // their slots are prefetched
    for (std::size_t first = columns > names.first ? columns - names.first : 0; first < names.count(); first += together) {
      const std::size_t end = std::min(first + together, names.count());
      for (std::size_t i = first; i < end; ++i) model.names.vocabulary().prefetch_slot(Vocabulary::hash_of(names.name(i)));
      for (std::size_t i = first; i < end; ++i) model.names.add_new(names.name(i));
    }
    memory.resize(std::max(columns, model.names.columns()));
  } catch (...) {
    model.names.truncate(known);
    throw;
  }
}

// All rows, or none.
inline void learn_text(Model& model, const TextPart& text, const TextTargets& targets, const Poll& poll) {
  const Rows rows = text.rows();
  const std::size_t columns = model.learner.memory().dimension();
  Batch batch;
  batch.rows = &rows;
  batch.targets = targets.values();
  batch.weights = text.weights();
  batch.count = text.count();
  try {
    model.make_room(text.width());
    model.learner.learn(batch, poll);
  } catch (...) {
    model.learner.memory().resize(columns);
    throw;
  }
  if (targets.swaps) model.swap_classes();
  if (!targets.brings_labels(model)) return;
  model.labels = targets.labels;
  model.settings.labels = std::max<std::size_t>(1, model.labels.size());
}

// ---- a whole file ----

// Learns all lines of a file, in batches. Throws InputError, with the line, for the first one that is invalid: earlier
// batches have been learned.
template <class Format>
void learn_file(Model& model, Format format, const std::string& path, std::size_t max_line = std::size_t{1} << 24) {
  constexpr std::size_t piece = 1 << 16, batch = 1 << 20;
  const OpenFile file = open_file(path_of(path), "rb");
  if constexpr (requires { format.add_name(""); })
    for (std::size_t column = 0; !model.names.hashing() && column < model.names.columns(); ++column)
      format.add_name(model.names.key(column));
  LineReader<Format> reader(std::move(format), max_line, false);
  const auto text = std::make_shared<TextRows>();
  std::vector<char> buffer(piece);
  const auto learn = [&] {
    if (text->count() == 0) return;
    const TextPart part(text, reader.format().finish(*text));
    add_names(model, part.new_names());
    const std::optional<TextTargets> targets = text_targets(model, part, true);
    if (!targets) throw InputError("the labels must be two numbers, one for each line");
    try {
      learn_text(model, part, *targets, [] {});
    } catch (InputError& error) {
      if (error.row != none) error.line = static_cast<std::size_t>(part.lines()[error.row]);
      throw;
    }
    text->clear();
  };
  std::size_t waiting = 0;
  while (const std::size_t count = std::fread(buffer.data(), 1, piece, file.get())) {
    reader.read(buffer.data(), count, *text);
    waiting += count;
    if (waiting < batch) continue;
    learn();
    waiting = 0;
  }
  if (std::ferror(file.get())) throw FileError(path);
  reader.finish(*text);
  learn();
}

}  // namespace hinge
