// Rounds on scaled values (memories/scaled.hpp): those of the memory inside, on the scaled instance. The scales include
// the values of the instance itself, and are kept only if the round is presented.
#pragma once

#include <cmath>

#include "../memories/scaled.hpp"
#include "plain.hpp"

namespace hinge {

template <class Inner>
struct ScaledRound : RowRound {
  static constexpr bool may_track = false;
  explicit ScaledRound(Rounds& its)
      : all(its), books(its.books), scaled(static_cast<Scaled&>(its.memory)), inner(its, scaled.unscaled()) {}

  void meet(const Batch& batch, std::size_t /*i*/, std::size_t row, const Instance& /*x*/) {
    if (batch.dimensions != nullptr) resize(scaled, batch.dimensions[row]);
  }
  Reading read(const Instance& given, std::size_t i) {
    x = given;
    const Sums s = visit(x, [](const auto& features) { return sums(Nothing{}, features); });
    if (!s.in_order()) return Reading{0, 0, 0, 0, false};
    if (std::isfinite(s.square)) x = scaled.scaling.meet(given);  // otherwise the checks reject it
    return inner.read(x, i);
  }
  Move decide(const Example& e) { return inner.decide(with_scaled(e)); }
  bool admit(const Example& e, Move& move) {
    const bool moves = inner.admit(with_scaled(e), move);
    scaled.scaling.keep();
    return moves;
  }
  void move(const Instance& /*given*/, const Move& move) { inner.move(x, move); }
  void calibrate(const Example& e) { inner.calibrate(with_scaled(e)); }
  void tally() { inner.tally(); }
  static void start_at(const Example& /*e*/) {}  // distances only

  Rounds& all;
  Books& books;

 private:
  Example with_scaled(const Example& e) const { return {x, e.reading, e.truth, e.weight}; }

  Scaled& scaled;
  Inner inner;
  Instance x;  // the scaled instance
};

}  // namespace hinge
