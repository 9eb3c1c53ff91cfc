// The sizes of the constraints of a round, where the size of the instance does not determine them.
#pragma once

#include <cstddef>

namespace hinge {

class Sizes {
 public:
  virtual ~Sizes() = default;
  // The squared size of the constraint that label r beats s.
  virtual double between(std::size_t r, std::size_t s) const = 0;
  // At least that of any pair of labels, where q is the squared size of the (largest) instance.
  virtual double pair(double q) const { return 2 * q; }
  // That of the constraint of a threshold (ordinal regression), for an instance of the squared size q.
  virtual double threshold(double q) const { return q + 1; }
  // That of the move that gives each label its amount.
  virtual double moved(const double* amounts, std::size_t count) const = 0;

  // Whether there is an exact projection where the step has no formula (S13.6); and the step, at most `cap`, after which
  // label r beats s by `wanted`.
  virtual bool projects() const { return false; }
  virtual double project(std::size_t /*r*/, std::size_t /*s*/, double /*wanted*/, double /*cap*/) const { return 0; }
  // The same for the constraint side * score >= wanted of a lane.
  virtual double project(std::size_t /*lane*/, double /*side*/, double /*wanted*/, double /*cap*/) const { return 0; }
};

}  // namespace hinge
