// What Python holds: a learner with the names of its features, safe to use from several threads.
//
// The loops over batches run without the GIL.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../text/run.hpp"
#include "arrays.hpp"
#include "events.hpp"
#include "locks.hpp"
#include "named_block.hpp"
#include "labels.hpp"
#include "tensors.hpp"

namespace hinge {

class Engine : public Guarded {
 public:
  explicit Engine(Settings settings) : model_(std::move(settings)) {}

  std::size_t learn(const Rows& rows, const std::optional<Array>& y, const std::optional<Classes>& classes,
                    const std::optional<Order>& label_starts, const std::optional<Doubles>& weights,
                    const std::optional<Order>& order, double tolerance, std::int64_t max_updates, std::int64_t first,
                    bool repeats, const std::optional<WritableMatrix>& scores = std::nullopt, bool averaged = false) {
    Targets targets(y, classes, label_starts, rows.count());
    if (weights && weights->size() != rows.count())
      throw InputError("sample_weight has " + std::to_string(weights->size()) + " entries for " +
                    std::to_string(rows.count()) + " rows");
    const Writing writing(*this);
    Batch batch;
    batch.rows = &rows;
    targets.put(batch, many_lanes());
    batch.weights = weights ? weights->data() : nullptr;
    batch.order = order ? order->data() : nullptr;
    batch.count = order ? order->size() : rows.count();
    batch.tolerance = tolerance;
    batch.max_updates = max_updates;
    batch.first = first;
    batch.repeats = repeats;
    const std::size_t known = learner_.memory().dimension();
    put_scores(batch, scores, averaged, known);
    try {
      model_.make_room(rows.width());
      const WithoutGil released;
      return learner_.learn(batch, answer_signals);
    } catch (...) {
      learner_.memory().resize(known);
      throw;
    }
  }

  // A list of dicts as one batch: all or none.
  std::size_t learn_dicts(const nb::list& events, const std::optional<Array>& y,
                          const std::optional<Classes>& classes, const std::optional<Order>& label_starts,
                          const std::optional<Doubles>& weights, const std::optional<WritableMatrix>& scores,
                          bool averaged) {
    const Writing writing(*this);
    const std::size_t count = events.size();
    Targets targets(y, classes, label_starts, count);
    if (weights && weights->size() != count) throw InputError("there must be one weight for each event");
    const Size known = size();
    try {
      number_the_rest();
      std::vector<double> values;
      std::vector<std::int64_t> columns, starts{0};
      std::vector<std::size_t> dimensions;
      for (std::size_t i = 0; i < count; ++i) {
        try {
          read(events[i], weights ? weights->data()[i] : 1, scratch_);
        } catch (InputError& error) {
          error.row = i;
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
      targets.put(batch, many_lanes());
      batch.weights = weights ? weights->data() : nullptr;
      batch.count = count;
      batch.dimensions = dimensions.data();
      put_scores(batch, scores, averaged, known.columns);
      const WithoutGil released;
      return learner_.learn(batch, answer_signals);
    } catch (InputError& error) {
      name_the_feature(error);
      forget_after(known);
      throw;
    } catch (...) {
      forget_after(known);
      throw;
    }
  }

  // A list of dicts as CSR arrays, for several passes over them. Their features are known from here on.
  nb::tuple read_dicts(const nb::list& events) {
    const Writing writing(*this);
    const Size known = size();
    std::vector<double> values;
    std::vector<std::int64_t> columns, starts{0};
    std::size_t row = 0;
    try {
      number_the_rest();
      for (; row < events.size(); ++row) {
        read(events[row], 1, scratch_);
        const Instance x = scratch_.ordered();
        const auto* its_values = static_cast<const double*>(x.values);
        const auto* its_columns = static_cast<const std::int64_t*>(x.columns);
        values.insert(values.end(), its_values, its_values + x.size);
        columns.insert(columns.end(), its_columns, its_columns + x.size);
        starts.push_back(static_cast<std::int64_t>(columns.size()));
      }
      learner_.memory().resize(std::max(known.columns, names_.columns()));
    } catch (InputError& error) {
      error.row = row;
      name_the_feature(error);
      forget_after(known);
      throw;
    } catch (...) {
      forget_after(known);
      throw;
    }
    return nb::make_tuple(numpy_array(std::move(values)), numpy_array(std::move(columns)),
                          numpy_array(std::move(starts)), learner_.memory().dimension());
  }

  // `counts`: whether it is one of the examples of the stream; else only asked whether it would be error.
  void learn_one(nb::handle x, double target, double weight, bool counts) {
    learn_event(x, Truth{target}, weight, counts);
  }
  void learn_one_labels(nb::handle x, const Order& labels, double weight, bool counts) {
    check_ascending(labels.data(), labels.size(), none);
    learn_event(x, Truth{0, labels.data(), labels.size()}, weight, counts);
  }

  // Classes by their labels, as Python has them (labels.py): `known` in their order, and `codes`, what each is called in
  // the core. `turned`: the two classes change places.
  void name_labels(nb::object labels, bool turned) {
    Called called(std::move(labels));
    auto core_labels = called.core_labels();
    const Writing writing(*this);
    if (is_binary(settings_) && core_labels.size() > 2) throw InputError("there are not two classes");
    if (turned) {
      if (many_lanes()) throw InputError("there are not two classes");
      model_.swap_classes();
    }
    if (is_binary(settings_)) settings_.labels = std::max<std::size_t>(1, core_labels.size());
    std::swap(called_, called);  // the old ones go when the lock is free
    std::swap(model_.labels, core_labels);
  }
  // Nothing of Python runs between a change of the labels and of what they are called: an interrupt finds both or none.
  nb::object labels() const { return called_.labels; }
  // An event with one of the known labels. False, and nothing is done, if there is more to it: a new label, or no
  // label, or only one so far.
  bool learn_label(nb::handle x, nb::handle label, double weight) {
    const Writing writing(*this);
    const std::optional<Truth> truth = truth_of(label);
    if (truth) learn_held(x, *truth, weight);
    return truth.has_value();
  }
  // Rows of a text, without arrays (text/run.hpp). False, and nothing is done: their labels need the encoding by the task.
  // `grows`: labels may be new.
  bool learn_text(const TextPart& text, bool grows) {
    Called grown;  // it outlives the lock: so do the labels before it
    const Writing writing(*this);
    const std::optional<TextTargets> targets = text_targets(model_, text, grows);
    if (!targets) return false;
    if (targets->brings_labels(model_)) grown = Called(called_.labels.type()(label_list(targets->labels)));
    {
      const WithoutGil released;
      hinge::learn_text(model_, text, *targets, answer_signals);
    }
    if (!grown.labels.is_none()) std::swap(called_, grown);
    return true;
  }
  // Names the columns that a text has brought.
  void name_text_columns(const TextPart& text) {
    const Writing writing(*this);
    add_names(model_, text.new_names());
  }
  // The prediction for an event, and then its round; x is read once. NotImplemented, and nothing is done, where
  // `learn_label` does nothing.
  nb::object round_label(nb::handle x, nb::handle label, double weight, bool averaged) {
    const Writing writing(*this);
    const std::optional<Truth> truth = truth_of(label);
    if (!truth) return nb::borrow(Py_NotImplemented);
    nb::object predicted = predicted_label(x, averaged);
    const bool named = names_.hashing() || names_.columns() >= learner_.memory().dimension();
    learn_held(x, *truth, weight, named && events_.complete());
    return predicted;
  }
  // The label of the highest score, or of the sign; none before the first one is known.
  nb::object predict_label(nb::handle x, bool averaged) {
    const SharedReading reading(*this);
    return predicted_label(x, averaged);
  }

 private:
  nb::object predicted_label(nb::handle x, bool averaged) {
    const std::size_t lanes = learner_.lanes(), known = called_.known.size();
    double few[16];
    std::vector<double> many(lanes > 16 ? lanes : 0);
    double* scores = lanes > 16 ? many.data() : few;
    score_event(x, averaged, scores);
    if (known == 0) return nb::none();
    // While a batch brings new labels, there may be lanes whose labels have no names yet.
    const std::size_t place =
        many_lanes() ? static_cast<std::size_t>(std::max_element(scores, scores + std::min(lanes, known)) - scores)
                     : scores[0] > 0;
    return called_.known[std::min(place, known - 1)];
  }
  // What stands for a label; nothing if it is new, or there are fewer than two.
  std::optional<Truth> truth_of(nb::handle label) const {
    PyObject* code = PyDict_GetItemWithError(called_.codes.ptr(), label.ptr());
    if (code != nullptr && PyDict_GET_SIZE(called_.codes.ptr()) >= 2) return Truth{PyFloat_AS_DOUBLE(code)};
    PyErr_Clear();  // it may not even be hashable
    return std::nullopt;
  }

 public:

  // Single-prototype ranking: names of features, and for each label the values of its own vector in them.
  void learn_block(const nb::list& names, const Matrix& values, double target, const std::optional<Order>& labels,
                   double weight) {
    const Writing writing(*this);
    const Size known = size();
    if (labels) check_ascending(labels->data(), labels->size(), none);
    try {
      number_the_rest();
      const NamedBlock columns(names_, settings_, names, values, weight != 0);
      if (names_.columns() > known.columns) learner_.memory().resize(names_.columns());
      hinge::learn_block(learner_, columns.block, labels ? Truth{0, labels->data(), labels->size()} : Truth{target}, weight);
    } catch (...) {
      forget_after(known);
      throw;
    }
  }
  nb::object score_block(const nb::list& names, const Matrix& values, bool averaged) {
    const SharedReading reading(*this);
    const NamedBlock columns(names_, settings_, names, values, false);
    std::vector<double> scores(values.shape(0));
    hinge::score_block(learner_.memory(), columns.block, averaged, scores.data());
    return numpy_array(std::move(scores));
  }

  void learn_event(nb::handle x, Truth truth, double weight, bool counts) {
    const Writing writing(*this);
    const std::int64_t examples = learner_.examples;
    // The sign of the first of two classes, from a moment before there were more.
    if (truth.value == -1 && settings_.task == "classification" && many_lanes()) truth.value = 0;
    learn_held(x, truth, weight);
    if (!counts) learner_.examples = examples;
  }

 private:
  // `is_read`: its features are in the scratch already, and all of them have columns.
  void learn_held(nb::handle x, const Truth& truth, double weight, bool is_read = false) {
    if (settings_.task == "prototype") throw InputError("each label has its own features: give a block of them");
    const Size known = size();
    try {
      number_the_rest();
      if (!is_read) read(x, weight, scratch_);
      if (names_.columns() > known.columns) learner_.memory().resize(names_.columns());
      learner_.learn_one(scratch_.ordered(), truth, weight);
    } catch (InputError& error) {
      name_the_feature(error);
      forget_after(known);
      throw;
    } catch (...) {
      forget_after(known);
      throw;
    }
  }

 public:
  // One score a row, or one a lane in each row.
  nb::object scores(const Rows& rows, bool averaged) {
    std::vector<double> scores;
    std::size_t lanes = 1;
    {
      const SharedReading reading(*this);
      lanes = learner_.lanes();
      scores = room_for(rows.count(), lanes);
      const WithoutGil released;
      learner_.score(rows, averaged, scores.data());
    }
    return lanes == 1 ? numpy_array(std::move(scores)) : numpy_matrix(std::move(scores), rows.count(), lanes);
  }

  double score_one(nb::handle x, bool averaged) {
    const SharedReading reading(*this);
    if (learner_.lanes() != 1) throw InputError("there are several scores: use scores_one");
    double score = 0;
    score_event(x, averaged, &score);
    return score;
  }
  nb::object scores_one(nb::handle x, bool averaged) {
    const SharedReading reading(*this);
    std::vector<double> scores(learner_.lanes());
    score_event(x, averaged, scores.data());
    return numpy_array(std::move(scores));
  }

 private:
  void score_event(nb::handle x, bool averaged, double* scores) {
    Scratch scratch = std::move(scratch_);  // a value may run Python, and so another thread that reads
    scratch_.clear();
    const double unseen = events_.read(names_, x, false, scratch, learner_.memory().dimension());
    Instance instance = scratch.ordered();
    instance.unseen = unseen;
    try {
      learner_.score_one(instance, averaged, scores);
      scratch_ = std::move(scratch);
    } catch (InputError& error) {
      name_the_feature(error);
      throw;
    }
  }

 public:
  // For each feature that is not 0: (name, value, column, weight); no column and 0 for unknown names.
  nb::list look_up(nb::handle x, std::size_t lane, bool averaged) {
    const SharedReading reading(*this);
    if (lane >= learner_.lanes()) throw InputError("there is no lane " + std::to_string(lane));
    nb::list found;
    Records::for_each(x, [&](nb::handle borrowed, double value) {
      const nb::object name = nb::borrow(borrowed);  // to make a tuple may run a finalizer, which may change x
      const Hashed h = events_.place(names_, name, learner_.memory().dimension());
      if (h.column == none)
        found.append(nb::make_tuple(name, value, nb::none(), 0.0));
      else
        found.append(nb::make_tuple(name, h.sign * value, h.column, learner_.memory().weight(h.column, lane, averaged)));
    });
    return found;
  }

  // Takes back columns that were added and have learned nothing.
  void forget(std::size_t columns) {
    const Writing writing(*this);
    for (std::size_t i = columns; i < learner_.memory().dimension(); ++i)  // another thread may have used them
      if (learner_.memory().touched(i)) return;
    forget_after({columns, columns, names_.ignored});
  }

  // Gives names to the first columns, in their order.
  void name_columns(const nb::list& names) {
    const Writing writing(*this);
    const std::size_t known = names_.columns(), columns = learner_.memory().dimension();
    if (names_.hashing() && names.size() > 0) throw InputError("hashed columns have no names (hash_bits)");
    try {
      for (nb::handle name : names) names_.add_new(*Key(Records::plain_name(name)));
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

  // w, or for many lanes a matrix of lanes x columns. (Ordinal: all lanes have the same w.)
  nb::object weights(bool averaged) {
    const SharedReading reading(*this);
    return weights_held(averaged);
  }
  // The same, of one lane, into an array that is there already. Columns that have not come yet have a weight of 0.
  void write_weights(nb::ndarray<nb::device::cpu, double, nb::ndim<1>, nb::c_contig> to, bool averaged) {
    const SharedReading reading(*this);
    const std::size_t columns = learner_.memory().dimension();
    if (!one_w() || to.size() < columns) throw InputError("there is no room for one weight per column and lane");
    learner_.memory().copy_weights(0, averaged, to.data());
    std::fill(to.data() + columns, to.data() + to.size(), 0.0);
  }

 private:
  nb::object weights_held(bool averaged) const {
    const std::size_t columns = learner_.memory().dimension(), lanes = one_w() ? 1 : learner_.lanes();
    std::vector<double> values(columns * lanes);
    for (std::size_t r = 0; r < lanes; ++r)
      learner_.memory().copy_weights(r, averaged, values.data() + r * columns);
    return one_w() ? numpy_array(std::move(values)) : numpy_matrix(std::move(values), lanes, columns);
  }

 public:
  double extra(std::size_t lane, bool averaged) {
    const SharedReading reading(*this);
    if (lane >= learner_.lanes()) throw InputError("there is no lane " + std::to_string(lane));
    return learner_.memory().bias(lane, averaged);
  }
  nb::object extras(bool averaged) {
    const SharedReading reading(*this);
    std::vector<double> values(learner_.lanes());
    for (std::size_t r = 0; r < values.size(); ++r) values[r] = learner_.memory().bias(r, averaged);
    return numpy_array(std::move(values));
  }

  // w has as many entries for each lane (in turn) as there are columns, `extras` one a lane.
  void start_at(const Doubles& w, const Doubles& extras) {
    const Writing writing(*this);
    const std::size_t lanes = one_w() ? 1 : learner_.lanes();
    if (w.size() % lanes != 0 || extras.size() != learner_.lanes())
      throw InputError("w1 does not have the same number of weights for each label");
    const double limit = settings_.single ? std::numeric_limits<float>::max() / 8 : HUGE_VAL;
    double square = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      square += w.data()[i] * w.data()[i];
      if (!(std::abs(w.data()[i]) <= limit) || !std::isfinite(square))
        throw InputError("w1 is too large: weight " + std::to_string(i) + " of it is more than the model can hold");
    }
    model_.make_room(w.size() / lanes);
    learner_.memory().start_at(w.data(), w.size() / lanes, extras.data());
    learner_.awaits_first = false;
  }
  void change_rule(const std::string& step, double C, double margin, double epsilon, double beta) {
    const Writing writing(*this);
    Settings changed = settings_;
    changed.step = step;
    changed.C = C;
    changed.margin = margin;
    changed.epsilon = epsilon;
    changed.beta = beta;
    learner_.change_rule(build_rule(changed));
    settings_ = std::move(changed);
  }
  // As many labels as there are now, with the weights of their constraints, and what they are called.
  void set_labels(std::size_t labels, const std::optional<Doubles>& nu, nb::object called_so) {
    Called called(std::move(called_so));
    auto core_labels = called.core_labels();
    const Writing writing(*this);
    if (settings_.task == "ordinal" || !settings_.cost.empty()) throw InputError("the labels cannot change");
    for (std::size_t r = labels + settings_.learned_threshold; many_lanes() && r < learner_.lanes(); ++r)
      if (learner_.memory().lane_moved(r)) throw InputError("a label that has learned cannot be given up");
    Settings changed = settings_;
    changed.labels = labels;
    changed.nu = nu ? std::vector<double>(nu->data(), nu->data() + nu->size()) : std::vector<double>();
    auto rule = build_rule(changed);
    if (settings_.task != "prototype")
      add_labels(learner_, settings_, changed);
    learner_.change_rule(std::move(rule));
    settings_ = std::move(changed);
    if (called.labels.is_none()) return;
    std::swap(called_, called);
    std::swap(model_.labels, core_labels);
  }

  // Structured output: what the round that was just learned had predicted.
  void count_prediction(bool mistake, double cost) {
    const Writing writing(*this);
    learner_.statistics.mistakes += mistake;
    learner_.statistics.cost = std::min(std::numeric_limits<double>::max(), learner_.statistics.cost + cost);
  }
  // After several passes over the same rows.
  void forget_rows() {
    const Writing writing(*this);
    learner_.forget_rows();
  }
  // The sums of losses begin at 0 again: those of one pass. (`hinge.compat`.)
  void count_losses_anew() {
    const Writing writing(*this);
    learner_.statistics.loss = learner_.statistics.squared_loss = 0;
  }
  // The radius by quantile, as tracked so far; and set, if all distances are known.
  double tracked_radius() {
    const SharedReading reading(*this);
    if (learner_.quantile() == nullptr) throw InputError("there is no radius by quantile");
    return learner_.quantile()->value;
  }
  void set_tracked_radius(double radius) {
    const Writing writing(*this);
    if (learner_.quantile() == nullptr) throw InputError("there is no radius by quantile");
    if (!(radius >= 0 && std::isfinite(radius))) throw InputError("the radius must be a finite number, 0 or more");
    learner_.quantile()->value = radius;
  }
  nb::tuple statistics() {
    const SharedReading reading(*this);
    const Statistics& s = learner_.statistics;
    const bool kept = has_kernel(settings_);
    return nb::make_tuple(s.rounds, s.mistakes, s.updates, s.loss, s.squared_loss, s.largest_q, s.progress, s.cost,
                          kept ? supports_of(learner_).now.insertions : 0, kept ? supports_of(learner_).now.removals : 0, s.capped, s.weighted);
  }

  // All that a file holds of the model, of one moment.
  nb::dict state() {
    const SharedReading reading(*this);
    return views_of<nb::memview>(model_.state());
  }
  void restore(const nb::dict& state) {
    const BorrowedTensors given(state);
    const Writing writing(*this);
    scratch_.clear();
    model_.restore(given.tensors);
  }

  nb::list names() {
    const SharedReading reading(*this);
    return name_list(names_);
  }
  // The names and the weights of one moment.
  nb::tuple named_weights(bool averaged) {
    const SharedReading reading(*this);
    return nb::make_tuple(name_list(names_), weights_held(averaged));
  }
  nb::object name_of(std::size_t column) {
    const SharedReading reading(*this);
    if (column >= n_names()) throw InputError("column " + std::to_string(column) + " has no name");
    return name_object(names_.key(column));
  }
  // How often a feature was left out because it was new, and there was no more room.
  std::size_t n_ignored() const { return names_.ignored; }
  void count_ignored(std::size_t count) { names_.ignored = count; }
  std::size_t n_names() const { return names_.hashing() ? 0 : names_.columns(); }
  std::size_t n_columns() {
    const SharedReading reading(*this);
    return learner_.memory().dimension();
  }
  std::size_t bytes() {
    const SharedReading reading(*this);
    if (has_kernel(settings_)) return sizeof(*this) + supports_of(learner_).bytes() + names_.bytes() + events_.bytes();
    const std::size_t shape = has_covariance(settings_) ? curved().shape().bytes() : 0;
    return sizeof(*this) + learner_.memory().flat().bytes() + names_.bytes() + events_.bytes() + shape;
  }

  // The numbers of the examples that are supports, their coefficients (a row a support), and the vectors as CSR.
  nb::tuple supports(bool averaged) {
    const SharedReading reading(*this);
    if (!has_kernel(settings_)) throw InputError("there is no kernel");
    const Supports& s = supports_of(learner_);
    SupportArrays vectors(s);
    std::vector<double> coefficients;
    for (std::size_t i = 0; i < s.count(); ++i)
      for (std::size_t r = 0; r < s.held(); ++r)
        coefficients.push_back(averaged ? s.averaged_coefficient(i, r) : s.coefficient(i, r));
    return nb::make_tuple(numpy_array(std::vector<std::int64_t>(s.numbers)),
                          numpy_matrix(std::move(coefficients), s.count(), s.held()),
                          numpy_array(std::move(vectors.values)), numpy_array(std::move(vectors.columns)),
                          numpy_array(std::move(vectors.starts)), s.sparse);
  }
  // How many examples have come.
  std::int64_t n_examples() {
    const SharedReading reading(*this);
    return learner_.examples;
  }
  std::size_t n_support() {
    const SharedReading reading(*this);
    return has_kernel(settings_) ? supports_of(learner_).count() : 0;
  }

  // x'Sx of each row: how unsure the model is in that direction.
  nb::object uncertainty(const Rows& rows) {
    const SharedReading reading(*this);
    const Shape& shape = the_shape();
    if (rows.width() > learner_.memory().dimension())
      throw InputError("the rows have " + std::to_string(rows.width()) + " columns, the model has " +
                    std::to_string(learner_.memory().dimension()));
    std::vector<double> sizes = room_for(rows.count()), scores(learner_.lanes());
    {
      const WithoutGil released;
      Scratch scratch;
      Instance x = rows.blank();
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        rows.take(i, x);
        const bool in_order = learner_.memory().read(x, Reads::product, scores.data()).in_order;
        sizes[i] = checked_size(shape, in_order ? x : rows.in_order(x, i, scratch), i);
      }
    }
    return numpy_array(std::move(sizes));
  }
  double uncertainty_one(nb::handle x) {
    const SharedReading reading(*this);
    Scratch scratch;
    // Features never seen are those of which it knows nothing: their variance is that of the start.
    const double unseen = events_.read(names_, x, false, scratch, learner_.memory().dimension());
    const double size = checked_size(the_shape(), scratch.ordered(), none) + settings_.variance * unseen;
    if (!std::isfinite(size)) throw InputError("the squared norm of the instance overflows float64");
    return size;
  }
  // The variances d, and for a full covariance U: S = U diag(d) U'.
  nb::tuple factors() {
    const SharedReading reading(*this);
    Shape::Factors factors = the_shape().factors();
    const std::size_t size = factors.d.size();
    nb::object d = numpy_array(std::move(factors.d));
    if (factors.u.empty() && settings_.geometry == "diagonal") return nb::make_tuple(d, nb::none());
    return nb::make_tuple(d, numpy_matrix(std::move(factors.u), size, size));
  }

 private:
  struct Size {
    std::size_t columns, names, ignored;
  };
  Size size() const { return {learner_.memory().dimension(), names_.columns(), names_.ignored}; }

  void forget_after(Size known) {
    names_.ignored = known.ignored;
    if (names_.hashing()) return;
    if (names_.columns() > known.names) names_.truncate(known.names);
    scratch_.clear();  // it may have columns that are no more
    learner_.memory().resize(known.columns);
  }

  void number_the_rest() { names_.number_up_to(learner_.memory().dimension()); }

  // Reads an event to be learned. Without weight it teaches nothing, not even new names.
  void read(nb::handle x, double weight, Scratch& scratch) {
    if (!std::isfinite(events_.read(names_, x, weight != 0, scratch, learner_.memory().dimension())))
      throw InputError("the squared norm of the instance overflows float64");
  }

  // What the core calls a column has a name here.
  void name_the_feature(InputError& error) const {
    if (!names_.hashing() && error.column < names_.columns()) error.name = std::string(names_.key(error.column));
  }

  // Where the scores of a batch go, if they are asked for: a row for each visit, a column for each lane.
  void put_scores(Batch& batch, const std::optional<WritableMatrix>& scores, bool averaged, std::size_t known) const {
    if (!scores) return;
    if (scores->shape(0) != batch.count || scores->shape(1) != learner_.lanes())
      throw InputError("scores must have " + std::to_string(batch.count) + " rows of " + std::to_string(learner_.lanes()));
    batch.scores = scores->data();
    batch.averaged = averaged;
    batch.known = known;
  }

  bool many_lanes() const { return lanes_of(settings_) > 0; }
  Shaped& curved() { return static_cast<Shaped&>(learner_.memory()); }
  const Shape& the_shape() {
    if (!has_covariance(settings_)) throw InputError("there is no covariance: geometry is " + settings_.geometry);
    return curved().shape();
  }
  static double checked_size(const Shape& shape, const Instance& x, std::size_t row) {
    const double size = shape.size(x);
    if (!std::isfinite(size)) {
      refuse_bad_values(x, row);
      throw InputError("the squared norm of the instance overflows float64", row);
    }
    return size;
  }
  // One vector of weights, be it for one lane or for all.
  bool one_w() const { return settings_.task == "ordinal" || !many_lanes(); }

  struct Called {
    nb::object labels = nb::none();
    nb::list known;
    nb::dict codes;
    Called() = default;
    explicit Called(nb::object given) : labels(std::move(given)) {
      if (labels.is_none()) return;
      known = nb::cast<nb::list>(labels.attr("known"));
      codes = nb::cast<nb::dict>(labels.attr("codes"));
    }
    std::vector<Label> core_labels() const { return labels_of(known); }
  };

  Model model_;
  Settings& settings_ = model_.settings;
  Learner& learner_ = model_.learner;
  Names& names_ = model_.names;
  Called called_;
  Events events_;
  Scratch scratch_;
};

}  // namespace hinge
