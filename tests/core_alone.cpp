// The core without Python: learner.hpp is enough to learn from a stream. tests/test_core_alone.py builds and runs it.
#include <cmath>
#include <cstdio>

#include "../cpp/build.hpp"

int main() {
  using namespace hinge;
  Settings settings;
  settings.step = "pa";
  Learner learner = build(settings);
  learner.memory().resize(3);

  const double values[] = {1, 2, 0.5, 1, 1, 1};
  const std::int32_t columns[] = {0, 2, 1, 0, 1, 2}, starts[] = {0, 2, 3, 6};
  const double targets[] = {1, -1, 1};
  const Rows rows = Rows::sparse(values, Precision::double_, columns, false, starts, false, 3, 3, 6);
  Batch batch;
  batch.rows = &rows;
  batch.targets = targets;
  batch.count = 3;
  if (learner.learn(batch, [] {}) != 3) return 1;

  // After the first step w = (0.2, 0, 0.4); after the second w_1 = -2; the third adds (2.4 / 3) to each.
  const double expected[] = {1.0, -1.2, 1.2};
  for (std::size_t i = 0; i < 3; ++i)
    if (std::abs(learner.memory().weight(i, 0, false) - expected[i]) > 1e-12) return 2;

  const double bad[] = {1, 2, 0.5, 1, NAN, 1};
  const Rows bad_rows = Rows::sparse(bad, Precision::double_, columns, false, starts, false, 3, 3, 6);
  batch.rows = &bad_rows;
  try {
    learner.learn(batch, [] {});
    return 3;
  } catch (const Refused& refused) {
    if (refused.row != 2 || refused.column != 1) return 4;
  }
  for (std::size_t i = 0; i < 3; ++i)
    if (std::abs(learner.memory().weight(i, 0, false) - expected[i]) > 1e-12) return 5;
  std::puts("the core stands alone");
  return 0;
}
