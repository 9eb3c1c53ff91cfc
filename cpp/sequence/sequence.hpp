// Sequence labelling (J06 section 9; S11): the round of a sentence.
//
//     the memory computes the scores of all tags at all positions,
//     the search finds the sequence of tags that competes with the true one,
//     the round of learner.hpp runs with Delta = Phi(x, truth) - Phi(x, competitor), in any geometry.
//
// Phi(x, y) contains the first tag, the features of each token in the block of its tag, and each pair of consecutive
// tags. It is one vector, so there is one lane of weights. The weights of a feature are contiguous, tag by tag:
//     row 0             the tag at the start
//     row 1 + a         the tag after tag a
//     row 1 + stride + j    the tag of a token with feature j
// in rows of `stride` numbers, of which the first `tags` are used.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../model/build.hpp"
#include "../memories/arithmetic/lane_sums.hpp"
#include "search.hpp"
#include "sentences.hpp"

namespace hinge {

// The layout of the weights.
struct Places {
  std::size_t stride = 0;
  std::size_t start(std::size_t tag) const { return tag; }
  std::size_t transition(std::size_t from, std::size_t to) const { return (1 + from) * stride + to; }
  std::size_t emission(std::size_t column, std::size_t tag) const { return head() + column * stride + tag; }
  std::size_t head() const { return (1 + stride) * stride; }
  std::size_t all(std::size_t columns) const { return head() + columns * stride; }
  std::size_t columns(std::size_t all) const { return (all - head()) / stride; }
};

// Builds Phi(x, y) - Phi(x, y'). Common terms cancel exactly.
class Difference {
 public:
  void clear() { terms_.clear(); }
  void add(std::size_t place, double value) { terms_.push_back({static_cast<std::int64_t>(place), value}); }

  // The terms that `ordered` has summed.
  const std::vector<std::int64_t>& places() const { return places_; }
  const std::vector<double>& values() const { return values_; }

  // Sorts by place. At each place, added and subtracted values are summed separately, the smallest first. Rounding
  // residue of sums that cancel (0.1 + 0.2 - 0.3) is dropped: otherwise `pa` would divide by it.
  Instance ordered() {
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) {
      return a.place != b.place ? a.place < b.place : std::abs(a.value) < std::abs(b.value);
    });
    places_.clear();
    values_.clear();
    for (std::size_t i = 0; i < terms_.size();) {
      const std::int64_t place = terms_[i].place;
      double added = 0, taken = 0;
      for (; i < terms_.size() && terms_[i].place == place; ++i)
        terms_[i].value > 0 ? added += terms_[i].value : taken -= terms_[i].value;
      if (std::abs(added - taken) <= rounding * (added + taken)) continue;
      places_.push_back(place);
      values_.push_back(added - taken);
    }
    Instance x;
    x.values = values_.data();
    x.columns = places_.data();
    x.size = places_.size();
    x.layout = Layout::sparse64;
    x.transient = true;
    return x;
  }

 private:
  static constexpr double rounding = 1e-12;
  struct Term {
    std::int64_t place;
    double value;
  };
  std::vector<Term> terms_;
  std::vector<std::int64_t> places_;
  std::vector<double> values_;
};

class SequenceLearner {
 public:
  enum Selection : std::uint8_t { prediction_, max_, max_additive_ };
  // The cost of the predicted tags given the true ones, if it is not a matrix.
  using Cost = std::function<double(std::size_t sentence, const Tag* truth, const Tag* predicted, std::size_t length)>;

  explicit SequenceLearner(const Settings& s)
      : learner_(build(s)),
        single_(s.single),
        shaped_(has_covariance(s)),
        selection_(selection_named(s.selection)),
        margin_(s.margin),
        costs_{s.cost, s.labels} {
    if (!s.cost.empty() && s.cost.size() != s.labels * s.labels) throw std::invalid_argument("cost must be labels x labels");
    for (const double cost : s.cost) {
      if (selection_ == max_ && (cost != std::floor(cost) || cost > largest_cost))
        throw std::invalid_argument("selection 'max' needs costs that are whole numbers, at most 1048576");
    }
    for (std::size_t y = 0; y < s.labels; ++y)
      for (std::size_t r = 0; r < s.labels && !s.cost.empty(); ++r)
        every_mistake_costs_ = every_mistake_costs_ && (r == y || s.cost[y * s.labels + r] > 0);
    widen(s.labels);
  }

  // ---- size ----

  std::size_t tags() const { return tags_; }
  std::size_t columns() const { return columns_; }
  const Places& places() const { return places_; }
  std::size_t bytes() const { return learner_.memory().bytes(); }

  // New columns start at 0; dropped columns must never have moved.
  void resize(std::size_t columns) {
    learner_.memory().resize(places_.all(columns));
    columns_ = columns;
  }
  // Changes the number of tags: new ones start at 0; dropped ones must never have moved.
  void widen(std::size_t tags) {
    if (!costs_.matrix.empty() && tags > costs_.tags) throw InputError("the tags cannot change: there is a matrix of costs");
    if (tags > places_.stride) {
      const std::size_t group = single_ ? lane_group<float> : lane_group<double>;
      const std::size_t wanted = std::max(tags, places_.stride + places_.stride / 2);
      lay_out((wanted + group - 1) / group * group);
    }
    tags_ = tags;
  }

  // ---- learning ----

  // `known`: the number of tags at each sentence.
  struct Batch {
    const Sentences* sentences = nullptr;
    const Tag* tags = nullptr;            // one per token
    const std::size_t* known = nullptr;   // nullptr: the current number
    const double* weights = nullptr;      // nullptr: 1
    const std::int64_t* order = nullptr;  // nullptr: input order
    std::size_t count = 0;
  };

  // Learns the sentences of a batch in turn, all or nothing.
  void learn(const Batch& batch, const Cost& cost, const Poll& poll) {
    const std::size_t tags_before = tags_, stored = 2 * (batch.sentences->stored() + batch.sentences->tokens());
    try {
      learner_.all_or_nothing(batch.count > 1, stored, poll, [&](std::size_t& row) { rounds(batch, cost, poll, row); });
    } catch (...) {
      tags_ = tags_before;
      throw;
    }
  }

  // ---- predicting ----

  // The work for a sentence of that length, in units of a token with about ten tags.
  std::size_t work_of(std::size_t length) const { return length * (1 + tags_ * tags_ / 256); }
  static constexpr std::size_t poll_every = std::size_t{1} << 15;  // some milliseconds

  // The buffers of a search: one per thread.
  struct Work {
    Lattice lattice;
    Search search;
    Path path, competitor;
    std::vector<float> singles;
    std::vector<double> more;
  };

  // The best tags of a sentence, in `work.path`; returns their score.
  double tag(const Sentences& sentences, std::size_t sentence, bool averaged, Work& work) const {
    fill(sentences, sentence, averaged, work);
    return checked(work.search.best_path(work.lattice, work.path));
  }
  // The score of given tags.
  double score(const Sentences& sentences, std::size_t sentence, const Tag* tags, bool averaged, Work& work) const {
    fill(sentences, sentence, averaged, work);
    return checked(work.lattice.score(tags));
  }

  // The loss against the worst competitor of the weights (J06's max-loss): the maximum over all tags y' of margin
  // sqrt(cost) - w.(Phi(x, truth) - Phi(x, y')); `additive` replaces the root by the cost. Nothing is learned.
  double suffered(const Sentences& sentences, std::size_t sentence, const Tag* truth, double margin, bool additive,
                  bool averaged, Work& work) const {
    fill(sentences, sentence, averaged, work);
    const std::size_t length = sentences.length(sentence);
    if (additive)
      checked(work.search.best_path_with_costs(work.lattice, truth, costs_, margin, work.path));
    else
      work.search.worst_path(work.lattice, truth, costs_, margin, work.path);
    const double cost = costs_.total(truth, work.path.data(), length);
    const double lead = work.lattice.score(truth) - work.lattice.score(work.path.data());
    return checked(std::max(0.0, margin * (additive ? cost : std::sqrt(cost)) - lead));
  }

  double weight(std::size_t place, bool averaged) const { return learner_.memory().weight(place, 0, averaged); }
  void change_rule(std::unique_ptr<Rule> rule, double margin) {
    learner_.change_rule(std::move(rule));
    margin_ = margin;
  }
  Learner& learner() { return learner_; }
  const Learner& learner() const { return learner_; }
  // Delta = Phi(x, truth) - Phi(x, competitor) of the latest round.
  const Difference& delta() const { return delta_; }

 private:
  static constexpr double largest_cost = 1 << 20;

  static Selection selection_named(const std::string& name) {
    if (name == "prediction") return prediction_;
    if (name == "max") return max_;
    if (name == "max-additive") return max_additive_;
    throw std::invalid_argument("unknown selection " + name);
  }

  void rounds(const Batch& batch, const Cost& cost, const Poll& poll, std::size_t& row) {
    std::size_t work = 0;
    for (std::size_t i = 0; i < batch.count; ++i) {
      row = batch.order == nullptr ? i : static_cast<std::size_t>(batch.order[i]);
      work += work_of(batch.sentences->length(row));
      if (work >= poll_every) poll(), work = 0;
      if (batch.known != nullptr) tags_ = batch.known[row];
      round(*batch.sentences, row, batch.tags, batch.weights == nullptr ? 1 : batch.weights[row], cost);
    }
  }

  // One round (S11).
  void round(const Sentences& sentences, std::size_t row, const Tag* tags, double weight, const Cost& cost) {
    const Tag* truth = tags + sentences.start(row);
    const std::size_t length = sentences.length(row);
    if (length == 0) throw InputError("the sentence is empty");
    if (weight == 0) return;  // not a round, whatever the tags
    for (std::size_t i = 0; i < length; ++i)
      if (truth[i] >= tags_) throw InputError("tag " + std::to_string(truth[i]) + " of " + std::to_string(tags_));
    fill(sentences, row, false, work_);
    double wanted = 0;
    const Outcome predicted = search(row, truth, length, cost, wanted);
    if (!std::isfinite(learner_.statistics.cost + predicted.cost)) throw InputError("the sum of the costs overflows float64");
    delta_.clear();
    add_path(sentences, row, truth, work_.competitor, 1);
    add_path(sentences, row, work_.competitor, truth, -1);
    if (!learner_.learn_one(delta_.ordered(), Truth{wanted}, weight)) return;
    learner_.statistics.mistakes += predicted.mistake;
    learner_.statistics.cost += predicted.cost;
  }

  // The result of the prediction before the round.
  struct Outcome {
    bool mistake;
    double cost;
  };

  // Finds the competitor, and the margin it requires from the truth.
  Outcome search(std::size_t row, const Tag* truth, std::size_t length, const Cost& given_cost, double& wanted) {
    Path& path = work_.path;
    Path& competitor = work_.competitor;
    const auto is_truth = [&](const Path& it) { return std::equal(it.begin(), it.end(), truth); };
    Lattice& lattice = work_.lattice;
    if (selection_ == max_)
      work_.search.worst_path(lattice, truth, costs_, margin_, competitor);
    else if (selection_ == max_additive_)
      checked(work_.search.best_path_with_costs(lattice, truth, costs_, margin_, competitor));
    // If the truth wins with the margin added to its rivals, it also wins without it.
    if (selection_ != prediction_ && every_mistake_costs_ && is_truth(competitor)) return {false, 0};

    checked(work_.search.best_path(lattice, path));
    Outcome outcome{!is_truth(path), 0};
    if (outcome.mistake && given_cost)
      outcome.cost = given_cost(row, truth, path.data(), length);
    else if (outcome.mistake)
      outcome.cost = costs_.total(truth, path.data(), length);
    if (selection_ == prediction_) competitor = path;
    const double cost =
        selection_ == prediction_ ? outcome.cost : costs_.total(truth, competitor.data(), length);
    wanted = margin_ * (selection_ == max_additive_ ? cost : std::sqrt(cost));
    return outcome;
  }

  // Adds sign * Phi(x, tags), except for the terms that `others` shares at the same positions.
  template <class Tags, class Others>
  void add_path(const Sentences& sentences, std::size_t row, const Tags& tags, const Others& others, double sign) {
    const std::size_t first = sentences.start(row), length = sentences.length(row);
    for (std::size_t i = 0; i < length; ++i) {
      const bool same = tags[i] == others[i];
      if (i == 0 && !same) delta_.add(places_.start(tags[0]), sign);
      if (i > 0 && !(same && tags[i - 1] == others[i - 1])) delta_.add(places_.transition(tags[i - 1], tags[i]), sign);
      if (same) continue;
      const Sentences::Token token = sentences.token(first + i);
      for (std::size_t j = 0; j < token.size; ++j)
        delta_.add(places_.emission(token.column(j), tags[i]), sign * token.value(j));
    }
  }

  // Calls function(weights) with the memory of the weights in its actual type.
  template <class Function>
  decltype(auto) with_weights(Function&& function) const {
    const Memory& flat = const_cast<Learner&>(learner_).memory().flat();
    return single_ ? function(static_cast<const Weights<float>&>(flat))
                   : function(static_cast<const Weights<double>&>(flat));
  }

  // Computes the scores of a sentence.
  void fill(const Sentences& sentences, std::size_t sentence, bool averaged, Work& work) const {
    if (sentences.width() > columns_) throw InputError("a token has a feature that the model does not have");
    Lattice& lattice = work.lattice;
    lattice.length = sentences.length(sentence);
    lattice.tags = tags_;
    lattice.stride = places_.stride;
    lattice.nodes.resize(lattice.length * lattice.stride);
    lattice.transitions.resize((1 + tags_) * lattice.stride);
    with_weights([&](const auto& w) { fill_from(w, sentences, sentence, averaged && w.now.tallied > 0, work); });
    double all = 0;  // not 0 if a score is not finite
    for (const double score : lattice.nodes) all += 0 * score;
    if (all != 0) throw InputError("the score overflows float64");
  }
  template <class Real>
  void fill_from(const Weights<Real>& w, const Sentences& sentences, std::size_t sentence, bool averaged,
                 Work& work) const {
    Lattice& lattice = work.lattice;
    const std::size_t stride = lattice.stride, first = sentences.start(sentence);
    const double share = averaged ? 1 / static_cast<double>(w.now.tallied) : 1;
    for (std::size_t i = 0; i < lattice.transitions.size(); ++i)
      lattice.transitions[i] = averaged ? share * (w.now.alpha * static_cast<double>(w.v[i]) + w.u[i])
                                        : static_cast<double>(w.v[i]);
    work.more.resize(stride);
    for (std::size_t i = 0; i < lattice.length; ++i) {
      double* node = lattice.nodes.data() + i * stride;
      const Sentences::Token token = sentences.token(first + i);
      sums_of(w.v.data(), token, node, work);
      if (!averaged) continue;
      lane_sums(w.u.data() + places_.head(), stride, token, work.more.data());
      for (std::size_t b = 0; b < stride; ++b) node[b] = share * (w.now.alpha * node[b] + work.more[b]);
    }
  }
  void sums_of(const double* v, const Sentences::Token& token, double* node, Work& /*work*/) const {
    lane_sums(v + places_.head(), places_.stride, token, node);
  }
  void sums_of(const float* v, const Sentences::Token& token, double* node, Work& work) const {
    work.singles.resize(places_.stride);
    lane_sums(v + places_.head(), places_.stride, token, work.singles.data());
    std::copy(work.singles.begin(), work.singles.end(), node);
  }

  static double checked(double score) {
    if (!std::isfinite(score)) throw InputError("the score overflows float64");
    return score;
  }

  // Moves the weights to rows with another stride.
  void lay_out(std::size_t stride) {
    const Places from = places_, to{stride};
    if (columns_ > 0) learner_.memory().check_room(to.all(columns_));
    const auto moved = [&](const auto& old) {
      std::remove_cvref_t<decltype(old)> fresh;
      if (old.size() == 0) return fresh;
      fresh.resize(to.all(columns_));
      const auto rows = [&](std::size_t from_place, std::size_t to_place, std::size_t count) {
        for (std::size_t row = 0; row < count; ++row) {
          const auto* its = old.data() + from_place + row * from.stride;
          if (std::all_of(its, its + from.stride, [](auto value) { return value == 0; })) continue;  // touches no page
          std::copy_n(its, from.stride, fresh.data() + to_place + row * to.stride);
        }
      };
      rows(0, 0, 1 + from.stride);
      rows(from.head(), to.head(), columns_);
      return fresh;
    };
    Memory& memory = learner_.memory();
    const auto lay = [&](auto& w) {
      auto v = moved(w.v);
      auto u = moved(w.u);
      if (shaped_) {
        auto& t = static_cast<Diagonal&>(static_cast<Shaped&>(memory).shape()).precisions();
        t = moved(t);
      }
      w.v = std::move(v);
      w.u = std::move(u);
    };
    Memory& flat = memory.flat();
    single_ ? lay(static_cast<Weights<float>&>(flat)) : lay(static_cast<Weights<double>&>(flat));
    places_ = to;
    memory.resize(to.all(columns_));
  }

  Learner learner_;
  bool single_, shaped_;
  Selection selection_;
  double margin_;
  TagCosts costs_;
  bool every_mistake_costs_ = true;
  std::size_t tags_ = 0, columns_ = 0;
  Places places_;
  Work work_;
  Difference delta_;
};

}  // namespace hinge
