// What Python holds: a learner with the names of its features and labels, safe to use from several threads. The other
// files of this folder have its functions, by topic, and their bindings.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "../../model/model.hpp"
#include "../arrays.hpp"
#include "../events.hpp"
#include "../labels.hpp"
#include "../locks.hpp"

namespace hinge {

struct Engine : Guarded {
  explicit Engine(Settings given) : model(std::move(given)) {}

  Model model;
  Settings& settings = model.settings;
  Learner& learner = model.learner;
  Names& names = model.names;
  LabelNames label_names;
  Events events;
  Scratch scratch;

  Memory& memory() { return learner.memory(); }
  std::size_t columns() const { return learner.memory().dimension(); }
  bool many_lanes() const { return lanes_of(settings) > 0; }
  // One vector of weights, for one lane or shared by all.
  bool one_w() const { return settings.task == "ordinal" || !many_lanes(); }
  void check_lane(std::size_t lane) const {
    if (lane >= learner.lanes()) throw InputError("there is no lane " + std::to_string(lane));
  }

  // Runs function(known), where `known` is the number of columns before it. If it throws, names and columns are as
  // before, and the error names the feature.
  template <class Function>
  void with_new_features(const Function& function) {
    const Size known{columns(), names.columns(), names.ignored};
    try {
      number_columns();
      function(known.columns);
    } catch (InputError& error) {
      name_the_feature(error);
      forget_after(known);
      throw;
    } catch (...) {
      forget_after(known);
      throw;
    }
  }
  // Columns without names, which were learned from arrays, are named by their numbers.
  void number_columns() { names.number_up_to(columns()); }
  void add_named_columns() {
    if (names.columns() > columns()) memory().resize(names.columns());
  }
  // Forgets columns that were added and have learned nothing.
  void forget(std::size_t from) {
    for (std::size_t i = from; i < columns(); ++i)  // another thread may have used them
      if (memory().touched(i)) return;
    forget_after({from, from, names.ignored});
  }

  // Reads an event to be learned: a dict, or one of a text. Without weight it teaches nothing, not even new names.
  void read_event(nb::handle x, double weight) { check_unseen(events.read(names, x, weight != 0, scratch, columns())); }
  void read_event(const nb::list& all, std::size_t i, double weight) { read_event(all[i], weight); }
  void read_event(const EventPart& all, std::size_t i, double weight) {
    check_unseen(events.read(names, all, i, weight != 0, scratch, columns()));
  }
  static void check_unseen(double squares) {
    if (!std::isfinite(squares))
      throw InputError("the squared norm of the instance overflows float64");
  }
  void name_the_feature(InputError& error) const {
    if (!names.hashing() && error.column < names.columns()) error.name = std::string(names.key(error.column));
  }

 private:
  struct Size {
    std::size_t columns, names, ignored;
  };
  void forget_after(Size known) {
    names.ignored = known.ignored;
    if (names.hashing()) return;
    if (names.columns() > known.names) names.truncate(known.names);
    scratch.clear();  // it may have columns that no longer exist
    memory().resize(known.columns);
  }
};

using EngineClass = nb::class_<Engine>;

}  // namespace hinge
