// The state of a sequence learner, as named tensors, and back. Most weights of a feature are 0, for most tags: only those
// that have moved are kept, with their places, numbered as if there were a row of exactly `tags` numbers for the
// start, for each tag, and for each feature.
#pragma once

#include <vector>

#include "../sequence/sequence.hpp"
#include "state.hpp"

namespace hinge {

// Calls function(weights, what the inverse of the covariance got).
template <class Function>
decltype(auto) with_parts(const Settings& s, SequenceLearner& learner, Function&& function) {
  Memory& memory = learner.learner().memory();
  Diagonal* shape = has_covariance(s) ? &static_cast<Diagonal&>(static_cast<Shaped&>(memory).shape()) : nullptr;
  Memory& flat = memory.flat();
  return s.single ? function(static_cast<Weights<float>&>(flat), shape)
                  : function(static_cast<Weights<double>&>(flat), shape);
}

// Where number `row` * tags + `tag` of a file lies.
inline std::size_t place_of(const Places& places, std::size_t row, std::size_t tag, std::size_t tags) {
  return (row <= tags ? row : row - tags + places.stride) * places.stride + tag;
}

inline void save_sequence(const Settings& s, SequenceLearner& learner, Tensors& to) {
  with_parts(s, learner, [&]<class Real>(const Weights<Real>& w, Diagonal* shape) {
    const std::size_t tags = learner.tags(), rows = 1 + tags + learner.columns();
    const bool averaging = s.average_from > 0;
    std::vector<std::int64_t> kept;
    std::vector<Real> v;
    std::vector<double> u, t;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t tag = 0; tag < tags; ++tag) {
        const std::size_t place = place_of(learner.places(), row, tag, tags);
        if (w.v[place] == 0 && !(averaging && w.u[place] != 0) && !(shape && shape->precisions()[place] != 0)) continue;
        kept.push_back(static_cast<std::int64_t>(row * tags + tag));
        v.push_back(w.v[place]);
        if (averaging) u.push_back(w.u[place]);
        if (shape != nullptr) t.push_back(shape->precisions()[place]);
      }
    to.put("places", std::move(kept));
    to.put("v", std::move(v));
    to.put_unless_empty("u", std::move(u));
    to.put_unless_empty("t", std::move(t));
    to.put_number("alpha", w.now.alpha);
    to.put_number("tallied", w.now.tallied);
    to.put_number("weight_bound", w.largest_weight());
    to.put_number("added", shape ? shape->added() : 0.0);
    save_fields(learner.learner().statistics, to);
  });
}

inline void restore_sequence(const Settings& s, SequenceLearner& learner, const Tensors& from) {
  with_parts(s, learner, [&]<class Real>(Weights<Real>& w, Diagonal* shape) {
    const Places& places = learner.places();
    const std::size_t size = from.length("places"), tags = learner.tags(), rows = 1 + tags + learner.columns();
    const bool averaging = s.average_from > 0;
    const auto* kept = from.vector<std::int64_t>("places", size);
    const auto* v = from.vector<Real>("v", size);
    const auto* u = from.vector<double>("u", averaging ? size : 0);
    const auto* t = from.vector<double>("t", shape != nullptr ? size : 0);
    const auto statistics = loaded_fields<Statistics>(from);
    double alpha = 0, bound = 0, added = 0;
    std::int64_t tallied = 0;
    from.get("alpha", alpha), from.get("weight_bound", bound), from.get("added", added), from.get("tallied", tallied);
    std::vector<double> covariance(shape == nullptr ? 0 : 1 + places.all(learner.columns()));
    for (std::size_t i = 0; i < size; ++i) {
      const auto number = static_cast<std::size_t>(kept[i]);
      if (number >= rows * tags || (i > 0 && kept[i] <= kept[i - 1])) Tensors::impossible("places");
      const std::size_t place = place_of(places, number / tags, number % tags, tags);
      w.v[place] = v[i];
      if (averaging) w.u[place] = u[i];
      if (shape != nullptr) covariance[1 + place] = t[i];
    }
    w.now.alpha = alpha;
    w.now.tallied = tallied;
    w.check_restored(bound);
    if (shape != nullptr) {
      covariance[0] = added;
      shape->restore(covariance.data(), covariance.size(), places.all(learner.columns()));
    }
    learner.learner().statistics = statistics;
  });
}

}  // namespace hinge
