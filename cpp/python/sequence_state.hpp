// What a model file holds of a sequence learner, and back. Most weights of a feature are 0, for most tags: only those
// that have moved are kept, with their places, numbered as if there were a row of exactly `tags` numbers for the
// start, for each tag, and for each feature.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sequence_engine.hpp"
#include "state.hpp"

namespace hinge {

// Calls function(places, weights, what the inverse of the covariance got).
template <class Function>
decltype(auto) with_parts(const Settings& s, SequenceLearner& learner, Function&& function) {
  Memory& memory = learner.learner().memory();
  Diagonal* shape = has_covariance(s) ? &static_cast<Diagonal&>(static_cast<Shaped&>(memory).shape()) : nullptr;
  Memory& flat = memory.flat();
  return s.single ? function(static_cast<Weights<float>&>(flat), shape)
                  : function(static_cast<Weights<double>&>(flat), shape);
}

inline nb::tuple SequenceEngine::state() {
  const SharedReading reading(*this);
  nb::dict state;
  with_parts(settings_, learner_, [&]<class Real>(const Weights<Real>& w, Diagonal* shape) {
    const Places& places = learner_.places();
    const std::size_t tags = learner_.tags(), rows = 1 + tags + learner_.columns();
    const bool averaging = settings_.average_from > 0;
    std::vector<std::int64_t> kept;
    std::vector<Real> v;
    std::vector<double> u, t;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t tag = 0; tag < tags; ++tag) {
        const std::size_t place = (row <= tags ? row : row - tags + places.stride) * places.stride + tag;
        if (w.v[place] == 0 && !(averaging && w.u[place] != 0) && !(shape && shape->precisions()[place] != 0)) continue;
        kept.push_back(static_cast<std::int64_t>(row * tags + tag));
        v.push_back(w.v[place]);
        if (averaging) u.push_back(w.u[place]);
        if (shape != nullptr) t.push_back(shape->precisions()[place]);
      }
    state["places"] = numpy_array(std::move(kept));
    state["v"] = numpy_array(std::move(v));
    state["u"] = numpy_array(std::move(u));
    state["t"] = numpy_array(std::move(t));
    const Statistics& s = learner_.learner().statistics;
    state["reals"] = numpy_array(std::vector<double>{w.now.alpha, w.largest_weight(), shape ? shape->added() : 0, s.loss,
                                                     s.squared_loss, s.largest_q, s.progress, s.cost});
    state["counts"] = numpy_array(std::vector<std::int64_t>{w.now.tallied, s.rounds, s.mistakes, s.updates, s.capped, s.weighted});
  });
  return nb::make_tuple(state, names_.all());
}

inline void SequenceEngine::restore(const Order& kept, const Array& v, const Doubles& u, const Doubles& t,
                                    const Doubles& reals, const Order& counts) {
  const Writing writing(*this);
  with_parts(settings_, learner_, [&]<class Real>(Weights<Real>& w, Diagonal* shape) {
    const Places& places = learner_.places();
    const std::size_t size = kept.size(), tags = learner_.tags(), rows = 1 + tags + learner_.columns();
    const bool averaging = settings_.average_from > 0;
    if (v.ndim() != 1 || v.dtype() != nb::dtype<Real>() || (size > 1 && v.stride(0) != 1) || v.size() != size ||
        u.size() != (averaging ? size : 0) || t.size() != (shape != nullptr ? size : 0) || reals.size() != 8 ||
        counts.size() != 6)
      throw InputError("the state does not fit the settings of the learner");
    const auto* its = static_cast<const Real*>(v.data());
    const auto finite = [](const auto* values, std::size_t count) {
      return std::all_of(values, values + count, [](auto value) { return std::isfinite(value); });
    };
    const auto countable = [](std::int64_t value) { return value >= 0 && value < std::int64_t{1} << 62; };
    if (!finite(its, size) || !finite(u.data(), u.size()) || !finite(t.data(), t.size()) || !finite(reals.data(), 8) ||
        !std::all_of(counts.data(), counts.data() + 6, countable))
      throw InputError("the state is not one that a learner can be in");
    std::vector<double> covariance(shape == nullptr ? 0 : 1 + places.all(learner_.columns()));
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t number = kept.data()[i];
      if (number < 0 || static_cast<std::uint64_t>(number) >= rows * tags || (i > 0 && number <= kept.data()[i - 1]))
        throw InputError("the places of the weights are not those of a learner");
      const std::size_t row = static_cast<std::size_t>(number) / tags, tag = static_cast<std::size_t>(number) % tags;
      const std::size_t place = (row <= tags ? row : row - tags + places.stride) * places.stride + tag;
      w.v[place] = its[i];
      if (averaging) w.u[place] = u.data()[i];
      if (shape != nullptr) covariance[1 + place] = t.data()[i];
    }
    w.now.alpha = reals.data()[0];
    w.now.tallied = counts.data()[0];
    w.check_restored(reals.data()[1]);
    if (shape != nullptr) {
      covariance[0] = reals.data()[2];
      shape->restore(covariance.data(), covariance.size(), places.all(learner_.columns()));
    }
    const double* r = reals.data();
    const std::int64_t* c = counts.data();
    learner_.learner().statistics = Statistics{c[1], c[2], c[3], r[3], r[4], r[5], r[6], r[7], c[4], c[5]};
  });
}

}  // namespace hinge
