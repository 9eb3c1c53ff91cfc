// The state of a learner with supports as named tensors, and back.
//     v, u, biases, bias_sums         as in state.hpp: coefficients (one row per support), ...
//     support_numbers, support_ages   the numbers of the examples, the order of insertion
//     support_starts, _columns, _values       the vectors, as CSR
//     support_given                   ordinal: the contributions to the thresholds
//     support_products, support_truths, support_truth_starts, support_truth_labels    with a budget
//     examples, sparse, columns       the number of examples, whether they were sparse, the number of columns
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "state.hpp"

namespace hinge {

struct SupportArrays {
  std::vector<std::int64_t> starts{0}, columns;
  std::vector<double> values;

  explicit SupportArrays(const Supports& supports) {
    for (std::size_t i = 0; i < supports.count(); ++i) {
      const SparseVector vector = supports.vector(i);
      columns.insert(columns.end(), vector.columns.begin(), vector.columns.end());
      values.insert(values.end(), vector.values.begin(), vector.values.end());
      starts.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }
};

inline std::vector<double> without_padding(const std::vector<double>& padded, std::size_t stride, std::size_t held) {
  std::vector<double> all;
  for (std::size_t i = 0; i < padded.size(); i += stride)
    all.insert(all.end(), padded.data() + i, padded.data() + i + held);
  return all;
}
inline std::vector<double> with_padding(const std::vector<double>& narrow, std::size_t stride, std::size_t held) {
  std::vector<double> wide(narrow.size() / held * stride);
  for (std::size_t i = 0; i < narrow.size() / held; ++i)
    std::copy_n(narrow.data() + i * held, held, wide.data() + i * stride);
  return wide;
}

inline void save_truths(const Budget& budget, Tensors& to) {
  std::vector<double> truths;
  std::vector<std::int64_t> starts{0}, labels;
  for (const KeptTruth& truth : budget.truths) {
    truths.push_back(truth.set ? -2 : truth.value);
    labels.insert(labels.end(), truth.labels.begin(), truth.labels.end());
    starts.push_back(static_cast<std::int64_t>(labels.size()));
  }
  to.put("support_products", budget.products);
  to.put("support_truths", std::move(truths));
  to.put("support_truth_starts", std::move(starts));
  to.put("support_truth_labels", std::move(labels));
}

inline void save_supports(const Settings& settings, Learner& learner, Tensors& to) {
  const bool averaging = settings.average_from > 0;
  const Supports& s = supports_of(learner);
  SupportArrays vectors(s);
  to.put("v", without_padding(s.v, s.stride(), s.held()));
  to.put_unless_empty("u", without_padding(s.u, s.stride(), s.held()));
  to.put("biases", s.biases);
  if (averaging) to.put("bias_sums", s.bias_sums);
  save_fields(s.now, to);
  to.put_number("weight_bound", s.largest_weight());
  to.put_number("examples", learner.examples);
  to.put_number("sparse", s.sparse);
  to.put_number("columns", static_cast<std::int64_t>(s.dimension()));
  to.put("support_numbers", s.numbers);
  to.put("support_ages", s.ages);
  to.put("support_starts", std::move(vectors.starts));
  to.put("support_columns", std::move(vectors.columns));
  to.put("support_values", std::move(vectors.values));
  to.put_unless_empty("support_given", s.given);
  if (s.budget != nullptr) save_truths(*s.budget, to);
  Progress::save(settings, learner, to);
}

// Concatenated lists of ascending numbers below `limit`.
struct AscendingLists {
  std::vector<std::int64_t> starts, entries;

  AscendingLists(const Tensors& from, const char* starts_name, const char* entries_name, std::size_t count, std::size_t limit)
      : starts(from.copy<std::int64_t>(starts_name, count + 1)),
        entries(from.copy<std::int64_t>(entries_name, from.length(entries_name))) {
    const auto size = static_cast<std::int64_t>(entries.size());
    if (starts.front() != 0 || starts.back() != size) Tensors::impossible(starts_name);
    for (std::size_t i = 0; i < count; ++i) {
      if (starts[i + 1] < starts[i] || starts[i + 1] > size) Tensors::impossible(starts_name);
      for (std::int64_t j = starts[i]; j < starts[i + 1]; ++j) {
        const std::int64_t entry = entries[static_cast<std::size_t>(j)];
        const bool ascends = j == starts[i] || entries[static_cast<std::size_t>(j - 1)] < entry;
        if (static_cast<std::size_t>(entry) >= limit || !ascends) Tensors::impossible(entries_name);
      }
    }
  }
};

inline std::vector<KeptTruth> loaded_truths(const Settings& settings, const Tensors& from, std::size_t count) {
  std::vector<KeptTruth> truths(count);
  const double* values = from.vector<double>("support_truths", count);
  const AscendingLists labels(from, "support_truth_starts", "support_truth_labels", count, settings.labels);
  const bool by_index = (settings.task == "classification" && !is_binary(settings)) || settings.task == "ordinal";
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[i];
    const bool is_index = value >= 0 && value < static_cast<double>(settings.labels) && value == std::floor(value);
    if (by_index && !is_index) Tensors::impossible("support_truths");
    truths[i].set = settings.task == "multilabel";
    truths[i].value = truths[i].set ? 0 : value;
    truths[i].labels.assign(labels.entries.begin() + labels.starts[i], labels.entries.begin() + labels.starts[i + 1]);
  }
  return truths;
}

inline void restore_supports(const Settings& settings, Learner& learner, const Tensors& from) {
  Supports& s = supports_of(learner);
  const std::size_t count = from.length("support_numbers"), held = s.held(), lanes = s.lanes();
  if (settings.has_budget && settings.budget > 0 && count > settings.budget) Tensors::impossible("support_numbers");
  const Progress progress(settings, learner, from);
  const auto now = loaded_fields<SupportScalars>(from);
  double bound = 0;
  std::int64_t examples = 0, columns = 0;
  bool sparse = false;
  from.get("weight_bound", bound), from.get("examples", examples), from.get("columns", columns);
  from.get("sparse", sparse);
  auto biases = from.copy<double>("biases", lanes), sums = loaded_bias_sums(settings, lanes, from);
  auto v = from.copy<double>("v", count * held), u = from.copy<double>("u", settings.average_from > 0 ? count * held : 0);
  auto numbers = from.copy<std::int64_t>("support_numbers", count), ages = from.copy<std::int64_t>("support_ages", count);
  auto given = from.copy<double>("support_given", s.kind().shared ? count * lanes : 0);
  const AscendingLists lists(from, "support_starts", "support_columns", count, column_limit(settings));
  const double* values = from.vector<double>("support_values", lists.entries.size());
  std::vector<std::int64_t> sorted(ages);
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() || (count > 0 && sorted.back() >= now.insertions))
    Tensors::impossible("support_ages");
  if (now.insertions - now.removals != static_cast<std::int64_t>(count)) Tensors::impossible("insertions");
  if (!(now.scale > 0)) Tensors::impossible("scale");
  std::vector<double> products;
  std::vector<KeptTruth> truths;
  if (settings.has_budget) {
    products = from.copy<double>("support_products", count * held);
    truths = loaded_truths(settings, from, count);
  }
  std::vector<SparseVector> vectors(count);
  std::int64_t width = 0;
  for (std::size_t i = 0; i < count; ++i) {
    vectors[i].columns.assign(lists.entries.begin() + lists.starts[i], lists.entries.begin() + lists.starts[i + 1]);
    vectors[i].values.assign(values + lists.starts[i], values + lists.starts[i + 1]);
    if (!vectors[i].columns.empty()) width = std::max<std::int64_t>(width, vectors[i].columns.back() + 1);
  }
  if (static_cast<std::size_t>(columns) > column_limit(settings) || width > columns) Tensors::impossible("columns");
  if (static_cast<std::size_t>(columns) > s.dimension()) s.resize(static_cast<std::size_t>(columns));
  progress.put_constant(learner);
  s.numbers = std::move(numbers);
  s.ages = std::move(ages);
  s.v = with_padding(v, s.stride(), held);
  s.u = with_padding(u, s.stride(), held);
  s.given = std::move(given);
  s.biases = std::move(biases);
  s.bias_sums = std::move(sums);
  s.now = now;
  s.sparse = sparse;
  s.check_restored(bound, vectors);
  if (s.budget != nullptr) {
    s.budget->products = std::move(products);
    s.budget->truths = std::move(truths);
  }
  progress.put(learner);
  learner.examples = examples;
}

}  // namespace hinge
