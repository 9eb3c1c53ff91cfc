// What Python holds of a sequence learner: the names of its features, its tags, safe to use from several threads.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "../model/model.hpp"
#include "arrays.hpp"
#include "events.hpp"
#include "labels.hpp"
#include "locks.hpp"
#include "sentence_reader.hpp"
#include "tensors.hpp"

namespace hinge {

class SequenceEngine : public Guarded {
 public:
  // `labels`: the tags that are known ahead.
  SequenceEngine(Settings settings, nb::list labels)
      : model_(std::move(settings), labels_of(labels)), labels_(std::move(labels)) {}

  // ---- sentences: lists of tokens, or arrays with a row for each token ----

  // Features that are new get columns; those of sentences without weight are left out.
  Sentences read(const nb::list& sentences, const std::optional<Doubles>& weights) {
    const Writing writing(*this);
    Sentences read;
    with_new_features([&] {
      read = reader_.read(sentences, true, weights);
      make_room();
    });
    return read;
  }

  // What was read before, in the given order.
  void learn_read(const Sentences& sentences, const Order& tags, const std::optional<Doubles>& weights,
                  const std::optional<Order>& order, nb::handle cost) {
    const Writing writing(*this);
    learn_held(sentences, tags, std::nullopt, weights, order, cost);
  }
  // `known`: how many of the tags there are once a sentence is met; `labels`: what all of them are called. All or none.
  void learn(const nb::list& sentences, const Order& tags, const Order& known, nb::list labels,
             const std::optional<Doubles>& weights, nb::handle cost) {
    const Writing writing(*this);
    for (std::size_t i = 0; i < known.size(); ++i)
      if (static_cast<std::uint64_t>(known.data()[i]) > labels.size()) throw InputError("there are more tags than labels");
    if (labels.size() < labels_.size()) throw InputError("there are more tags than labels");
    with_new_features([&] {
      const Sentences read = reader_.read(sentences, true, weights);
      make_room();
      learn_held(read, tags, known, weights, std::nullopt, cost);
      adopt(labels);
    });
  }

  // The tags of each sentence; None if there is no tag yet.
  nb::list tag(const nb::list& sentences, bool averaged) {
    const SharedReading reading(*this);
    const Sentences read = reader_.read(sentences, false);
    Path all(read.tokens());
    const bool knows = learner_.tags() > 0;
    if (knows)
      each_sentence(read, [&](std::size_t i, SequenceLearner::Work& work) {
        learner_.tag(read, i, averaged, work);
        std::copy(work.path.begin(), work.path.end(), all.begin() + static_cast<std::ptrdiff_t>(read.start(i)));
      });
    nb::list tagged;
    for (std::size_t i = 0; i < read.count(); ++i) {
      PyObject* path = PyList_New(static_cast<Py_ssize_t>(read.length(i)));
      if (path == nullptr) throw nb::python_error();
      for (std::size_t j = 0; j < read.length(i); ++j) {
        nb::object label = knows ? nb::object(labels_[all[read.start(i) + j]]) : nb::none();
        PyList_SET_ITEM(path, static_cast<Py_ssize_t>(j), label.release().ptr());
      }
      tagged.append(nb::steal(path));
    }
    return tagged;
  }

  // The score of the tags of a sentence, or of the best ones.
  double score(const nb::list& sentences, const std::optional<Order>& tags, bool averaged) {
    const SharedReading reading(*this);
    const Sentences read = reader_.read(sentences, false);
    if (read.count() != 1 || read.length(0) == 0) throw InputError("the sentence is empty");
    if (learner_.tags() == 0) return 0;
    SequenceLearner::Work work;
    if (!tags) return learner_.tag(read, 0, averaged, work);
    const Path path = known_tags(*tags, read.tokens());
    return learner_.score(read, 0, path.data(), averaged, work);
  }

  // What the weights suffer from their own worst rivals, a sentence each; roots of costs that are whole numbers.
  nb::object suffered(const nb::list& sentences, const Order& tags, double margin, bool additive, bool averaged) {
    const SharedReading reading(*this);
    const Sentences read = reader_.read(sentences, false);
    const Path truth = known_tags(tags, read.tokens());
    std::vector<double> losses(read.count());
    each_sentence(read, [&](std::size_t i, SequenceLearner::Work& work) {
      losses[i] = learner_.suffered(read, i, truth.data() + read.start(i), margin, additive, averaged, work);
    });
    return numpy_array(std::move(losses));
  }

  // Delta of the latest round: (whether it is a feature, or the tag before; which; the tag; value; weight now).
  nb::list delta() {
    const SharedReading reading(*this);
    const Places& places = learner_.places();
    const auto& found = learner_.delta();
    nb::list all;
    for (std::size_t i = 0; i < found.places().size(); ++i) {
      const auto place = static_cast<std::size_t>(found.places()[i]);
      const std::size_t row = place / places.stride, tag = place % places.stride;
      const bool is_feature = place >= places.head();
      const std::size_t column = is_feature ? row - 1 - places.stride : 0;
      const std::size_t before = is_feature || row == 0 ? 0 : row - 1;
      if (std::max(tag, before) >= learner_.tags() || column >= learner_.columns() + !is_feature) continue;  // it was refused
      nb::object which = row == 0     ? nb::none()
                         : is_feature ? names_.hashing() ? nb::object(nb::int_(column)) : name_object(names_.key(column))
                                      : nb::object(labels_[before]);
      all.append(nb::make_tuple(is_feature, which, labels_[tag], found.values()[i], learner_.weight(place, false)));
    }
    return all;
  }

  // ---- what has been learned ----

  // (from, to, weight) and (feature, tag, weight) for the weights that are not 0; from is None at the start.
  nb::list transitions(bool averaged) {
    const SharedReading reading(*this);
    nb::list found;
    const auto tags = static_cast<std::int64_t>(learner_.tags());
    for (std::int64_t from = -1; from < tags; ++from)
      for (std::int64_t to = 0; to < tags; ++to) {
        const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
        const double weight =
            learner_.weight(from < 0 ? learner_.places().start(b) : learner_.places().transition(a, b), averaged);
        if (weight != 0) found.append(nb::make_tuple(from < 0 ? nb::none() : nb::object(labels_[a]), labels_[b], weight));
      }
    return found;
  }
  nb::list emissions(bool averaged) {
    const SharedReading reading(*this);
    nb::list found;
    for (std::size_t j = 0; j < learner_.columns(); ++j)
      for (std::size_t b = 0; b < learner_.tags(); ++b) {
        const double weight = learner_.weight(learner_.places().emission(j, b), averaged);
        if (weight == 0) continue;
        const nb::object name = names_.hashing() ? nb::object(nb::int_(j)) : name_object(names_.key(j));
        found.append(nb::make_tuple(name, labels_[b], weight));
      }
    return found;
  }
  // For each feature of a token: (name, value, weights of the tags, 0 if it is unknown).
  nb::list look_up(nb::handle token, bool averaged) {
    const SharedReading reading(*this);
    nb::list found;
    const auto add = [&](nb::handle borrowed, double value) {
      const nb::object name = nb::borrow(borrowed);  // to make a tuple may run a finalizer, which may change the token
      const Hashed h = events_.place(names_, Records::plain_name(name), names_.columns());
      std::vector<double> weights(learner_.tags());
      for (std::size_t b = 0; h.column != none && b < weights.size(); ++b)
        weights[b] = learner_.weight(learner_.places().emission(h.column, b), averaged);
      found.append(nb::make_tuple(name, h.sign * value, numpy_array(std::move(weights))));
    };
    SentenceReader::for_each_feature(token, add);
    return found;
  }

  void change_rule(const std::string& step, double C, double margin) {
    const Writing writing(*this);
    Settings changed = settings_;
    changed.step = step;
    changed.C = C;
    changed.margin = margin;
    learner_.change_rule(build_rule(changed), margin);
    settings_ = std::move(changed);
  }
  // What the tags are called, before anything was learned of them.
  void set_labels(nb::list labels) {
    const Writing writing(*this);
    if (labels.size() < labels_.size()) throw InputError("a tag cannot be given up");
    learner_.widen(labels.size());
    adopt(labels);
  }
  nb::list labels() {
    const SharedReading reading(*this);
    return nb::steal<nb::list>(PySequence_List(labels_.ptr()));
  }
  // Throws if it is called from within one of its own calls.
  void check_free() const { hinge::check_free(*this); }

  nb::tuple statistics() {
    const SharedReading reading(*this);
    return statistics_tuple(learner_.learner().statistics, 0, 0);
  }
  void name_columns(const nb::list& names) {
    const Writing writing(*this);
    if (names_.hashing() && names.size() > 0) throw InputError("hashed columns have no names (hash_bits)");
    with_new_features([&] {
      for (nb::handle name : names) names_.add_new(*Key(Records::plain_name(name)));
      make_room();
    });
  }
  nb::list names() {
    const SharedReading reading(*this);
    return name_list(names_);
  }
  std::size_t n_columns() {
    const SharedReading reading(*this);
    return learner_.columns();
  }
  std::size_t n_tags() {
    const SharedReading reading(*this);
    return learner_.tags();
  }
  std::size_t n_ignored() const { return names_.ignored; }
  void count_ignored(std::size_t count) { names_.ignored = count; }
  std::size_t bytes() {
    const SharedReading reading(*this);
    return sizeof(*this) + learner_.bytes() + names_.bytes();
  }

  // All that a file holds of the model, of one moment.
  nb::dict state() {
    const SharedReading reading(*this);
    return views_of<nb::memview>(model_.state());
  }
  void restore(const nb::dict& state) {
    const BorrowedTensors given(state);
    const Writing writing(*this);
    model_.restore(given.tensors);
  }

 private:
  // function(i, work) for each sentence that has tokens, without the GIL, and stopping when asked to.
  template <class Function>
  void each_sentence(const Sentences& read, const Function& function) const {
    const WithoutGil released;
    SequenceLearner::Work work;
    std::size_t since_poll = 0;
    for (std::size_t i = 0; i < read.count(); ++i) {
      if (read.length(i) == 0) continue;
      since_poll += learner_.work_of(read.length(i));
      if (since_poll >= SequenceLearner::poll_every) answer_signals(), since_poll = 0;
      try {
        function(i, work);
      } catch (InputError& error) {
        error.row = i;
        throw;
      }
    }
  }

  static Path checked_tags(const Order& tags, std::size_t tokens) {
    if (tags.size() != tokens)
      throw InputError("there are " + std::to_string(tags.size()) + " tags for " + std::to_string(tokens) + " tokens");
    Path path(tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
      if (tags.data()[i] < 0 || tags.data()[i] >= std::int64_t{1} << 31) throw InputError("a tag is out of range");
      path[i] = static_cast<Tag>(tags.data()[i]);
    }
    return path;
  }
  Path known_tags(const Order& tags, std::size_t tokens) const {
    Path path = checked_tags(tags, tokens);
    for (const Tag tag : path)
      if (tag >= learner_.tags()) throw InputError("there is no tag " + std::to_string(tag));
    return path;
  }

  // ---- learning ----

  void learn_held(const Sentences& sentences, const Order& tags, const std::optional<Order>& known,
                  const std::optional<Doubles>& weights, const std::optional<Order>& order, nb::handle cost) {
    const std::size_t count = sentences.count();
    const Path truth = checked_tags(tags, sentences.tokens());
    if ((weights && weights->size() != count) || (known && known->size() != count))
      throw InputError("there must be one weight for each sentence");
    for (std::size_t i = 0; order && i < order->size(); ++i)
      if (order->data()[i] < 0 || static_cast<std::size_t>(order->data()[i]) >= count)
        throw InputError("order names sentence " + std::to_string(order->data()[i]) + " of " + std::to_string(count));
    const std::size_t tags_before = learner_.tags();
    std::vector<std::size_t> numbers;
    SequenceLearner::Batch batch;
    std::size_t work = 0;
    for (std::size_t i = 0; i < count; ++i) work += learner_.work_of(sentences.length(i));
    if (known) {
      numbers.assign(known->data(), known->data() + count);
      for (const std::size_t number : numbers)
        if (number < tags_before || number > (std::size_t{1} << 24)) throw InputError("the number of tags is out of range");
      if (count > 0) learner_.widen(*std::max_element(numbers.begin(), numbers.end()));
      batch.known = numbers.data();
    }
    batch.sentences = &sentences;
    batch.tags = truth.data();
    batch.weights = weights ? weights->data() : nullptr;
    batch.order = order ? order->data() : nullptr;
    batch.count = order ? order->size() : count;
    try {
      std::optional<WithoutGil> released;
      if (batch.count > 1 || work > SequenceLearner::poll_every) released.emplace();
      learner_.learn(batch, asking(cost), answer_signals);
    } catch (...) {
      learner_.widen(tags_before);
      throw;
    }
  }

  // A cost that is a function of Python: of the true and the predicted tags, by their numbers.
  static SequenceLearner::Cost asking(nb::handle function) {
    if (function.is_none()) return nullptr;
    return [function](std::size_t sentence, const Tag* truth, const Tag* predicted, std::size_t length) {
      const WithGil acquired;
      nb::list true_tags, predicted_tags;
      for (std::size_t i = 0; i < length; ++i) true_tags.append(truth[i]), predicted_tags.append(predicted[i]);
      return unless_ended([&] { return nb::cast<double>(function(sentence, true_tags, predicted_tags)); });
    };
  }

  // The new tags; the old list goes when the lock is free.
  void adopt(nb::list& labels) {
    auto core_labels = labels_of(labels);
    std::swap(labels_, labels);
    std::swap(model_.labels, core_labels);
  }
  void make_room() {
    if (names_.columns() > learner_.columns()) learner_.resize(names_.columns());
  }
  // Runs function(). If it throws, names and columns are as before.
  template <class Function>
  void with_new_features(const Function& function) {
    const std::size_t known = names_.columns();
    try {
      function();
    } catch (...) {
      if (!names_.hashing()) names_.truncate(known), learner_.resize(known);
      throw;
    }
  }

  SequenceModel model_;
  Settings& settings_ = model_.settings;
  SequenceLearner& learner_ = model_.learner;
  Names& names_ = model_.names;
  nb::list labels_;  // what the tags are called, as Python has them
  Events events_;
  SentenceReader reader_{names_};
};

}  // namespace hinge
