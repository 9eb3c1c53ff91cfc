// A rule knows what an example asks of the scores. It never sees features: only the scores, the
// truth, and q, the squared size of the instance in the memory's geometry. Pure arithmetic.
#pragma once

#include <cstdint>

#include "../step.hpp"

namespace hinge {

// What a rule wants to read from the memory: the inner product w.x, or the squared distance |x - w|^2.
enum class Reads : std::uint8_t { product, distance };

// What is to happen: w <- decay * w + amount * x (the amounts, one a lane, are written beside it).
struct Move {
  double loss = 0;     // suffered before the move
  double length = 0;   // tau; 0 means that nothing moves
  double decay = 1;    // 1 but for uniclass
  bool mistake = false;
};

class Rule {
 public:
  virtual ~Rule() = default;
  virtual Reads reads() const { return Reads::product; }
  // `scores` and `amounts` have one entry a lane.
  virtual Move decide(const double* scores, double target, double q, double weight,
                      double* amounts) const = 0;
};

}  // namespace hinge
