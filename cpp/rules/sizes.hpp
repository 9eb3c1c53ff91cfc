// The sizes of the constraints of a round, for memories where the size of the instance does not determine them.
#pragma once

#include <cstddef>

namespace hinge {

class Sizes {
 public:
  virtual ~Sizes() = default;
  // The squared size of the constraint that label r outscores label s.
  virtual double between(std::size_t r, std::size_t s) const = 0;
  // An upper bound for all pairs of labels; q is the squared size of the (largest) instance.
  virtual double pair(double q) const { return 2 * q; }
  // The squared size of a threshold's constraint (ordinal regression), for an instance of squared size q.
  virtual double threshold(double q) const { return q + 1; }
  // The squared size of the move with these amounts.
  virtual double moved(const double* amounts, std::size_t count) const = 0;

  // Whether there are exact projections where the step has no formula (S13.6). `project` returns the step, at most
  // `cap`, after which label r outscores label s by `wanted`.
  virtual bool projects() const { return false; }
  virtual double project(std::size_t /*r*/, std::size_t /*s*/, double /*wanted*/, double /*cap*/) const { return 0; }
  // The same for the constraint side * score >= wanted of a lane.
  virtual double project(std::size_t /*lane*/, double /*side*/, double /*wanted*/, double /*cap*/) const { return 0; }
};

}  // namespace hinge
