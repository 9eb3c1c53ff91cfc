// What Python holds: a learner with the names of its features, safe to use from several threads.
//
// The loops over batches run without the GIL. No thread waits for the mutex while it holds the GIL.
#pragma once

#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "../build.hpp"
#include "arrays.hpp"
#include "names.hpp"

namespace hinge {

class Engine {
 public:
  Engine(Settings settings, std::size_t hash_bits, std::size_t max_features)
      : settings_(std::move(settings)), learner_(build(settings_)), names_(hash_bits, max_features) {
    learner_.memory().resize(names_.columns());
  }

  std::size_t learn(const Rows& rows, const std::optional<Array>& y, const std::optional<Doubles>& classes,
                    const std::optional<Doubles>& weights, const std::optional<Order>& order,
                    double tolerance, std::int64_t max_updates) {
    const Targets targets(y, classes, rows.count());
    if (weights && weights->size() != rows.count())
      throw Refused("sample_weight has " + std::to_string(weights->size()) + " entries for " +
                    std::to_string(rows.count()) + " rows");
    Batch batch;
    batch.rows = &rows;
    batch.targets = targets.data();
    batch.weights = weights ? weights->data() : nullptr;
    batch.order = order ? order->data() : nullptr;
    batch.count = order ? order->size() : rows.count();
    batch.tolerance = tolerance;
    batch.max_updates = max_updates;
    const Writing writing(*this);
    const std::size_t known = learner_.memory().dimension();
    try {
      make_room(rows.width());
      const nb::gil_scoped_release released;
      return learner_.learn(batch, answer_signals);
    } catch (...) {
      learner_.memory().resize(known);
      throw;
    }
  }

  // A list of dicts as one batch: all or none.
  std::size_t learn_dicts(const nb::list& events, const Doubles& targets,
                          const std::optional<Doubles>& weights) {
    const Writing writing(*this);
    const std::size_t count = events.size();
    if (targets.size() != count || (weights && weights->size() != count))
      throw Refused("there must be one target (and weight) for each event");
    const Size known = size();
    try {
      number_the_rest();
      std::vector<double> values;
      std::vector<std::int64_t> columns, starts{0};
      std::vector<std::size_t> dimensions;
      for (std::size_t i = 0; i < count; ++i) {
        try {
          read(events[i], weights ? weights->data()[i] : 1, scratch_);
        } catch (Refused& refused) {
          refused.row = i;
          throw;
        }
        const Instance x = scratch_.ordered();
        const auto* its_values = static_cast<const double*>(x.values);
        const auto* its_columns = static_cast<const std::int64_t*>(x.columns);
        values.insert(values.end(), its_values, its_values + x.size);
        columns.insert(columns.end(), its_columns, its_columns + x.size);
        starts.push_back(starts.back() + static_cast<std::int64_t>(x.size));
        dimensions.push_back(std::max(known.columns, names_.columns()));
      }
      const std::size_t width = std::max(known.columns, names_.columns());
      const Rows rows = Rows::sparse(values.data(), Precision::double_, columns.data(), true, starts.data(),
                                     true, count, width, values.size());
      Batch batch;
      batch.rows = &rows;
      batch.targets = targets.data();
      batch.weights = weights ? weights->data() : nullptr;
      batch.count = count;
      batch.dimensions = dimensions.data();
      const nb::gil_scoped_release released;
      return learner_.learn(batch, answer_signals);
    } catch (Refused& refused) {
      name_the_feature(refused);
      forget_after(known);
      throw;
    } catch (...) {
      forget_after(known);
      throw;
    }
  }

  void learn_one(nb::handle x, double target, double weight) {
    const Writing writing(*this);
    const Size known = size();
    try {
      number_the_rest();
      read(x, weight, scratch_);
      if (names_.columns() > known.columns) learner_.memory().resize(names_.columns());
      learner_.learn_one(scratch_.ordered(), target, weight);
    } catch (Refused& refused) {
      name_the_feature(refused);
      forget_after(known);
      throw;
    } catch (...) {
      forget_after(known);
      throw;
    }
  }

  nb::object scores(const Rows& rows, bool averaged) {
    std::vector<double> scores(rows.count());
    {
      const Reading_ reading(*this);
      const nb::gil_scoped_release released;
      learner_.score(rows, averaged, scores.data());
    }
    return numpy_array(std::move(scores));
  }

  double score_one(nb::handle x, bool averaged) {
    const Reading_ reading(*this);
    Scratch scratch = std::move(scratch_);  // a value may run Python, and so another thread that reads
    const double unseen = names_.read(x, false, scratch);
    Instance instance = scratch.ordered();
    instance.unseen = unseen;
    try {
      const double score = learner_.score_one(instance, averaged);
      scratch_ = std::move(scratch);
      return score;
    } catch (Refused& refused) {
      name_the_feature(refused);
      throw;
    }
  }

  // For each feature that is not 0: (name, value, column, weight); no column and 0 for unknown names.
  nb::list look_up(nb::handle x, bool averaged) {
    const Reading_ reading(*this);
    nb::list found;
    Names::for_each(x, [&](nb::handle name, double value) {
      const Hashed h = names_.place(name);
      if (h.column == none)
        found.append(nb::make_tuple(name, value, nb::none(), 0.0));
      else
        found.append(nb::make_tuple(name, h.sign * value, h.column, learner_.memory().weight(h.column, averaged)));
    });
    return found;
  }

  // Takes back columns that were added and have learned nothing.
  void forget(std::size_t columns) {
    const Writing writing(*this);
    for (std::size_t i = columns; i < learner_.memory().dimension(); ++i)  // another thread may have used them
      if (learner_.memory().weight(i, false) != 0 || learner_.memory().weight(i, true) != 0) return;
    forget_after({columns, columns});
  }

  // Gives names to the first columns, in their order.
  void name_columns(const nb::list& names) {
    const Writing writing(*this);
    const std::size_t known = names_.columns(), columns = learner_.memory().dimension();
    if (names_.hashing() && names.size() > 0) throw Refused("hashed columns have no names (hash_bits)");
    try {
      for (nb::handle name : names) add_name(name);
      learner_.memory().resize(std::max(columns, names_.columns()));
    } catch (...) {
      names_.truncate(known);
      throw;
    }
  }
  // Columns that have no name, as they were learned from arrays, are called by their numbers.
  void number_columns() {
    const Writing writing(*this);
    number_the_rest();
  }

  nb::object weights(bool averaged) {
    const Reading_ reading(*this);
    std::vector<double> values(learner_.memory().dimension());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = learner_.memory().weight(i, averaged);
    return numpy_array(std::move(values));
  }
  double extra(bool averaged) {
    const Reading_ reading(*this);
    return learner_.memory().extra(averaged);
  }

  void start_at(const Doubles& w, double extra) {
    const Writing writing(*this);
    const double limit = settings_.single ? std::numeric_limits<float>::max() / 8 : HUGE_VAL;
    double square = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      square += w.data()[i] * w.data()[i];
      if (!(std::abs(w.data()[i]) <= limit) || !std::isfinite(square))
        throw Refused("w1 is too large: weight " + std::to_string(i) + " of it is more than the model can hold");
    }
    make_room(w.size());
    learner_.memory().start_at(w.data(), w.size(), extra);
    learner_.awaits_first = false;
  }
  void negate() {
    const Writing writing(*this);
    learner_.memory().negate();
  }
  void change_rule(const std::string& step, double C, double margin, double epsilon) {
    const Writing writing(*this);
    settings_.step = step;
    settings_.C = C;
    settings_.margin = margin;
    settings_.epsilon = epsilon;
    learner_.change_rule(build_rule(settings_));
  }

  nb::tuple statistics() {
    const Reading_ reading(*this);
    const Statistics& s = learner_.statistics;
    return nb::make_tuple(s.rounds, s.mistakes, s.updates, s.loss, s.squared_loss, s.largest_q, s.progress);
  }

  // Everything that learning has changed: {"v", "u", "reals", "counts"}, and the names, of one moment.
  nb::tuple state() {
    const Reading_ reading(*this);
    return nb::make_tuple(settings_.single ? state_of<float>() : state_of<double>(), names_.all());
  }
  void restore(const Array& v, const Doubles& u, const Doubles& reals, const Order& counts) {
    const Writing writing(*this);
    settings_.single ? restore_to<float>(v, u, reals, counts) : restore_to<double>(v, u, reals, counts);
  }

  nb::list names() { return names_.all(); }
  nb::object name_of(std::size_t column) {
    const Reading_ reading(*this);
    if (column >= n_names()) throw Refused("column " + std::to_string(column) + " has no name");
    return nb::borrow(names_.name(column));
  }
  std::size_t n_names() const { return names_.hashing() ? 0 : names_.columns(); }
  std::size_t n_columns() {
    const Reading_ reading(*this);
    return learner_.memory().dimension();
  }
  std::size_t bytes() {
    const Reading_ reading(*this);
    const std::size_t each = (settings_.single ? 4 : 8) + (settings_.average_from > 0 ? 8 : 0);
    return sizeof(*this) + each * learner_.memory().dimension() + names_.bytes();
  }

 private:
  // Holds the learner for writing, or for reading. A call from within a call (from a signal handler, or
  // from the __float__ of a value) is refused: it would wait for itself.
  struct Held {
    const Engine* engine;
    const Held* outer;
  };
  static inline thread_local const Held* innermost_ = nullptr;

  template <class Lock>
  class Holding {
   public:
    explicit Holding(Engine& engine) : held_{&engine, innermost_} {
      for (const Held* held = innermost_; held != nullptr; held = held->outer)
        if (held->engine == &engine)
          throw std::runtime_error("the learner is busy: it was called from within one of its own calls");
      lock_ = Lock(engine.mutex_, std::try_to_lock);
      if (!lock_.owns_lock()) {
        const nb::gil_scoped_release released;
        lock_.lock();
      }
      innermost_ = &held_;
    }
    ~Holding() { innermost_ = held_.outer; }
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;

   private:
    Held held_;
    Lock lock_;
  };
  using Writing = Holding<std::unique_lock<std::shared_mutex>>;
  using Reading_ = Holding<std::shared_lock<std::shared_mutex>>;

  struct Size {
    std::size_t columns, names;
  };
  Size size() const { return {learner_.memory().dimension(), names_.columns()}; }

  void forget_after(Size known) {
    if (names_.hashing()) return;
    if (names_.columns() > known.names) names_.truncate(known.names);
    learner_.memory().resize(known.columns);
  }

  void add_name(nb::handle name) {
    if (names_.index().attr("__contains__")(name).is(nb::bool_(true)))
      throw Refused("the feature name " + quoted(name) + " occurs twice");
    names_.add(name);
  }
  void number_the_rest() {
    while (!names_.hashing() && names_.columns() < learner_.memory().dimension())
      add_name(nb::int_(names_.columns()));
  }

  // Reads an event to be learned. Without weight it teaches nothing, not even new names.
  void read(nb::handle x, double weight, Scratch& scratch) {
    if (!std::isfinite(names_.read(x, weight != 0, scratch)))
      throw Refused("the squared norm of the instance overflows float64");
  }

  // What the core calls a column has a name here.
  void name_the_feature(Refused& refused) const {
    if (names_.hashing() || refused.column >= names_.columns()) return;
    if (!PyUnicode_Check(names_.name(refused.column).ptr())) return;
    refused = Refused("feature " + quoted(names_.name(refused.column)) + ": " + refused.what(), refused.row);
  }

  // 0 is 0, whichever class came first.
  static void answer_signals() {
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

  // Rows may be wider than what is known, unless the columns have names: then new ones need names too.
  void make_room(std::size_t width) {
    const std::size_t columns = learner_.memory().dimension();
    if (width <= columns) return;
    if (names_.hashing() || names_.columns() > 0)
      throw Refused("X has " + std::to_string(width) + " features, the model has " + std::to_string(columns) +
                    (names_.hashing() ? " (hashed)" : " (with names)"));
    if (width > names_.limit())
      throw Refused("X has " + std::to_string(width) + " features, the limit is " +
                    std::to_string(names_.limit()) + " (max_features)");
    learner_.memory().resize(width);
  }

  template <class Real>
  Weights<Real>& held() {
    return static_cast<Weights<Real>&>(learner_.memory());
  }

  template <class Real>
  nb::dict state_of() {
    const Weights<Real>& w = held<Real>();
    const Statistics& s = learner_.statistics;
    nb::dict state;
    state["v"] = numpy_array(std::vector<Real>(w.v.data(), w.v.data() + w.v.size()));
    state["u"] = numpy_array(std::vector<double>(w.u.data(), w.u.data() + w.u.size()));
    state["reals"] = numpy_array(std::vector<double>{w.now.scale, w.now.alpha, w.now.extra, w.now.extra_sum,
                                                     w.now.norm2, w.reach(), s.loss, s.squared_loss,
                                                     s.largest_q, s.progress});
    state["counts"] = numpy_array(std::vector<std::int64_t>{w.now.tallied, w.now.work, s.rounds, s.mistakes,
                                                            s.updates, learner_.awaits_first ? 1 : 0});
    return state;
  }

  template <class Real>
  void restore_to(const Array& v, const Doubles& u, const Doubles& reals, const Order& counts) {
    Weights<Real>& w = held<Real>();
    const bool averaging = settings_.average_from > 0;
    if (v.ndim() != 1 || v.dtype() != nb::dtype<Real>() || (v.size() > 1 && v.stride(0) != 1) ||
        v.size() > names_.limit() || u.size() != (averaging ? v.size() : 0) || reals.size() != 10 ||
        counts.size() != 6 || v.size() < names_.columns() || (names_.hashing() && v.size() > names_.columns()))
      throw Refused("the state does not fit the settings of the learner");
    const auto finite = [](const auto* values, std::size_t count) {
      return std::all_of(values, values + count, [](auto value) { return std::isfinite(value); });
    };
    const auto countable = [](std::int64_t value) { return value >= 0 && value < std::int64_t{1} << 62; };
    if (!finite(static_cast<const Real*>(v.data()), v.size()) || !finite(u.data(), u.size()) ||
        !finite(reals.data(), reals.size()) || !(reals.data()[0] > 0) ||
        !std::all_of(counts.data(), counts.data() + counts.size(), countable))
      throw Refused("the state is not one that a learner can be in");
    w.resize(v.size());
    std::copy_n(static_cast<const Real*>(v.data()), v.size(), w.v.data());
    std::copy_n(u.data(), u.size(), w.u.data());
    const double* r = reals.data();
    const std::int64_t* c = counts.data();
    w.now = WeightScalars{r[0], r[1], r[2], r[3], r[4], c[0], c[1], 0};
    w.check_restored(r[5]);
    learner_.statistics = Statistics{c[2], c[3], c[4], r[6], r[7], r[8], r[9]};
    learner_.awaits_first = c[5] != 0;
  }

  Settings settings_;
  Learner learner_;
  Names names_;
  Scratch scratch_;
  std::shared_mutex mutex_;
};

}  // namespace hinge
