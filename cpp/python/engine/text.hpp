// Rows of a text, learned without arrays (text/run.hpp).
#pragma once

#include <optional>
#include <utility>

#include "../../text/run.hpp"
#include "../text_part.hpp"
#include "engine.hpp"

namespace hinge {

// False, and nothing is done: the labels need the encoding by the task. `grows`: labels may be new.
inline bool learn_text(Engine& self, const TextPart& text, bool grows) {
  LabelNames names;  // declared before the lock: the old names are destroyed when it is free
  const Writing writing(self);
  const std::optional<TextTargets> targets = text_targets(self.model, text, grows);
  if (!targets) return false;
  const bool brings_labels = targets->brings_labels(self.model);
  if (brings_labels) names = LabelNames(self.label_names.labels.type()(label_list(targets->labels)));
  {
    const WithoutGil released;
    learn_text(self.model, text, *targets, answer_signals);
  }
  if (brings_labels) std::swap(self.label_names, names);
  return true;
}

// Names the columns that a text has brought.
inline void name_text_columns(Engine& self, const TextPart& text) {
  const Writing writing(self);
  add_names(self.model, text.new_names());
}

inline void bind_text(EngineClass& engine) {
  using namespace nb::literals;
  engine.def("learn_text", nb::overload_cast<Engine&, const TextPart&, bool>(&learn_text), "text"_a, "grows"_a)
      .def("name_text_columns", &name_text_columns, "text"_a);
}

}  // namespace hinge
