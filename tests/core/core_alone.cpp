// The core without Python: it is enough to learn from a stream, and from sentences. tests/core/test_core_alone.py builds and runs it.
#include <cmath>
#include <cstdio>

#include "../../cpp/sequence/sequence.hpp"

namespace {

// Two tokens with a feature of their own each, tags 0 and 1: from w = 0 the prediction is 0 0, which costs 1. They
// differ in the second tag: Delta has 1 and -1 for the feature and for the transition, q = 4, tau = 1/4.
bool learns_a_sequence() {
  using namespace hinge;
  Settings settings;
  settings.task = "structured";
  settings.selection = "prediction";
  settings.step = "pa";
  SequenceLearner learner(settings);
  learner.resize(2);
  Sentences sentences;
  for (std::size_t column = 0; column < 2; ++column) sentences.add(column, 1), sentences.end_token();
  sentences.end_sentence();
  const Tag tags[] = {0, 1};
  SequenceLearner::Batch batch;
  batch.sentences = &sentences;
  batch.tags = tags;
  batch.count = 1;
  learner.learn(batch, nullptr, [] {});
  const Places& places = learner.places();
  SequenceLearner::Work work;
  return learner.weight(places.emission(1, 1), false) == 0.25 && learner.weight(places.transition(0, 0), false) == -0.25 &&
         learner.tag(sentences, 0, false, work) == 0.5 && work.path == Path{0, 1};
}

// Supports on a budget of 2: (x.z)^2 of 1, 2, 3 and their products; each row is asked for the step that makes its loss 0.
bool learns_with_supports() {
  using namespace hinge;
  Settings settings;
  settings.task = "regression";
  settings.step = "pa";
  settings.kernel = "poly";
  settings.degree = 2;
  settings.has_budget = true;
  settings.budget = 2;
  settings.oldest = true;
  settings.max_cache = 1e6;
  settings.epsilon = 0;
  Learner learner = build(settings);
  learner.memory().resize(1);
  const double values[] = {1, 2, 1, NAN}, targets[] = {1, 8, 3, 0};
  Rows rows = Rows::dense(values, Precision::double_, 3, 1, 1, 1);
  Batch batch;
  batch.rows = &rows;
  batch.targets = targets;
  batch.count = 3;
  if (learner.learn(batch, [] {}) != 3) return false;
  // c_0 = 1; then 8 - 4 over 16: c_1 = 1/4. The third row comes after the first one has gone: 3 - 4/4 over 1: 2.
  const Supports& supports = supports_of(learner);
  const auto as_expected = [&] {
    return supports.count() == 2 && supports.now.removals == 1 && supports.numbers == std::vector<std::int64_t>{1, 2} &&
           supports.coefficient(0, 0) == 0.25 && supports.coefficient(1, 0) == 2 && learner.examples == 3 &&
           supports.values_of(0)[1] == 4 && supports_of(learner).budget->products == std::vector<double>{12, 3};
  };
  if (!as_expected()) return false;
  rows = Rows::dense(values, Precision::double_, 4, 1, 1, 1);
  batch.count = 4;
  try {
    learner.learn(batch, [] {});
  } catch (const InputError& error) {
    return error.row == 3 && error.column == 0 && as_expected();
  }
  return false;
}

// Kernel values of supports with 100 rows: 800 bytes each, of which 2,500 may be kept.
bool keeps_kernel_values_within_the_limit() {
  using namespace hinge;
  const std::vector<double> values(100, 1.0);
  RowProducts products;
  products.begin(Rows::dense(values.data(), Precision::double_, 100, 1, 1, 1), 1, 2500);
  std::size_t kept = 0;
  for (std::size_t support = 0; support < 10; ++support) {
    products.keep(support, values.data());
    kept += products.kernels_of(support).values != nullptr;
  }
  return kept == 3 && products.kept_bytes() == 2400;
}

}  // namespace

int main() {
  using namespace hinge;
  if (!learns_a_sequence()) return 6;
  if (!learns_with_supports()) return 7;
  if (!keeps_kernel_values_within_the_limit()) return 8;
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
  } catch (const InputError& error) {
    if (error.row != 2 || error.column != 1) return 4;
  }
  for (std::size_t i = 0; i < 3; ++i)
    if (std::abs(learner.memory().weight(i, 0, false) - expected[i]) > 1e-12) return 5;
  std::puts("the core stands alone");
  return 0;
}
