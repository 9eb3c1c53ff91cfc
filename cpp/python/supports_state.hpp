// What a model file holds of supports, and back.
//     v, u, extras, reals, counts     as in state.hpp: coefficients (a row a support), what the average keeps, ...
//     support_origin                  uniclass: the share of the origin in w
//     support_counts                  insertions, removals, examples, whether the instances came sparse, columns
//     support_numbers, support_ages   the numbers of the examples, the order in which they came
//     support_starts, _columns, _values       the vectors, as CSR
//     support_given                   ordinal: what each gave to the thresholds
//     support_products, support_truths, support_truth_starts, support_truth_labels    with a budget
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "../model/build.hpp"
#include "arrays.hpp"

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

// How many `reals` there are.
inline std::size_t reals_of(Learner& learner) { return learner.quantile() == nullptr ? 11 : 14; }
inline void restore_quantile(Learner& learner, const double* reals) {
  Quantile* quantile = learner.quantile();
  if (quantile == nullptr) return;
  const Quantile restored{quantile->share, reals[11], reals[12], reals[13]};
  if (!restored.makes_sense()) throw InputError("the radius is not that of a learner");
  *quantile = restored;
}

// Writes all but the statistics of the learner; returns the numbers that go with these.
inline void save_supports(Learner& learner, nb::dict& state, std::vector<double>& reals,
                          std::vector<std::int64_t>& counts) {
  const Supports& s = supports_of(learner);
  SupportArrays vectors(s);
  state["v"] = numpy_array(without_padding(s.v, s.stride(), s.held()));
  state["u"] = numpy_array(without_padding(s.u, s.stride(), s.held()));
  std::vector<double> extras(s.biases);
  extras.insert(extras.end(), s.bias_sums.begin(), s.bias_sums.end());
  state["extras"] = numpy_array(std::move(extras));
  reals = {s.now.scale, s.now.alpha, s.now.norm2, s.now.sum_norm2, s.now.sum_product, s.largest_weight()};
  counts = {s.now.tallied, 0};
  state["support_origin"] = numpy_array(std::vector<double>{s.now.origin});
  const auto columns = static_cast<std::int64_t>(s.dimension());
  state["support_counts"] = numpy_array(
      std::vector<std::int64_t>{s.now.insertions, s.now.removals, learner.examples, s.sparse ? 1 : 0, columns});
  state["support_numbers"] = numpy_array(std::vector<std::int64_t>(s.numbers));
  state["support_ages"] = numpy_array(std::vector<std::int64_t>(s.ages));
  state["support_starts"] = numpy_array(std::move(vectors.starts));
  state["support_columns"] = numpy_array(std::move(vectors.columns));
  state["support_values"] = numpy_array(std::move(vectors.values));
  state["support_given"] = numpy_array(std::vector<double>(s.given));
  if (supports_of(learner).budget == nullptr) return;
  std::vector<double> truths;
  std::vector<std::int64_t> starts{0}, labels;
  for (const KeptTruth& truth : supports_of(learner).budget->truths) {
    truths.push_back(truth.set ? -2 : truth.value);
    labels.insert(labels.end(), truth.labels.begin(), truth.labels.end());
    starts.push_back(static_cast<std::int64_t>(labels.size()));
  }
  state["support_products"] = numpy_array(std::vector<double>(supports_of(learner).budget->products));
  state["support_truths"] = numpy_array(std::move(truths));
  state["support_truth_starts"] = numpy_array(std::move(starts));
  state["support_truth_labels"] = numpy_array(std::move(labels));
}

// Reads arrays out of a state that nobody has checked.
class UncheckedState {
 public:
  explicit UncheckedState(const nb::dict& state) : state_(state) {}

  std::vector<double> reals(const char* name, std::size_t count) const {
    const auto values = all<double, Doubles>(name);
    if (values.size() != count) fail(name);
    for (const double value : values)
      if (!std::isfinite(value)) fail(name);
    return values;
  }
  std::vector<std::int64_t> wholes(const char* name, std::size_t count) const {
    auto values = all<std::int64_t, Order>(name);
    if (values.size() != count) fail(name);
    for (const std::int64_t value : values)
      if (value < 0 || value >= std::int64_t{1} << 62) fail(name);
    return values;
  }
  std::size_t size(const char* name) const { return nb::len(found(name)); }
  // The starts of lists, and their ascending entries, each below `limit`.
  void lists(const char* starts_name, const char* entries_name, std::size_t count, std::size_t limit,
             std::vector<std::int64_t>& starts, std::vector<std::int64_t>& entries) const {
    starts = wholes(starts_name, count + 1);
    entries = wholes(entries_name, size(entries_name));
    if (starts.front() != 0 || starts.back() != static_cast<std::int64_t>(entries.size())) fail(starts_name);
    for (std::size_t i = 0; i < count; ++i) {
      if (starts[i + 1] < starts[i] || starts[i + 1] > static_cast<std::int64_t>(entries.size())) fail(starts_name);
      for (std::int64_t j = starts[i]; j < starts[i + 1]; ++j) {
        const std::int64_t entry = entries[static_cast<std::size_t>(j)];
        const bool ascends = j == starts[i] || entries[static_cast<std::size_t>(j - 1)] < entry;
        if (static_cast<std::size_t>(entry) >= limit || !ascends) fail(entries_name);
      }
    }
  }
  [[noreturn]] static void fail(const std::string& name) {
    throw InputError("the state of the supports makes no sense: " + name);
  }

 private:
  nb::object found(const char* name) const {
    if (!state_.contains(name)) fail(name);
    return state_[name];
  }
  template <class Number, class Numbers>
  std::vector<Number> all(const char* name) const {
    Numbers numbers;
    if (!nb::try_cast(found(name), numbers, false)) fail(name);
    return std::vector<Number>(numbers.data(), numbers.data() + numbers.size());
  }
  const nb::dict& state_;
};

inline void restore_supports(const Settings& settings, Learner& learner, const nb::dict& state, std::size_t limit) {
  Supports& s = supports_of(learner);
  const UncheckedState from(state);
  const std::size_t count = from.size("support_numbers"), held = s.held(), lanes = s.lanes();
  const auto spread = [&](const std::vector<double>& narrow) {
    std::vector<double> wide(narrow.size() / held * s.stride());
    for (std::size_t i = 0; i < narrow.size() / held; ++i)
      std::copy_n(narrow.data() + i * held, held, wide.data() + i * s.stride());
    return wide;
  };
  if (settings.has_budget && settings.budget > 0 && count > settings.budget) UncheckedState::fail("support_numbers");
  const auto reals = from.reals("reals", reals_of(learner));
  const auto counts = from.wholes("counts", 8), more = from.wholes("support_counts", 5);
  const auto extras = from.reals("extras", 2 * lanes), origin = from.reals("support_origin", 1);
  std::vector<double> v = spread(from.reals("v", count * held));
  std::vector<double> u = spread(from.reals("u", settings.average_from > 0 ? count * held : 0));
  std::vector<std::int64_t> numbers = from.wholes("support_numbers", count), ages = from.wholes("support_ages", count);
  std::vector<double> given = from.reals("support_given", s.kind().shared ? count * lanes : 0);
  std::vector<std::int64_t> starts, columns;
  from.lists("support_starts", "support_columns", count, limit, starts, columns);
  const std::vector<double> values = from.reals("support_values", columns.size());
  std::vector<std::int64_t> sorted(ages);
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() || (count > 0 && sorted.back() >= more[0]) ||
      more[0] - more[1] != static_cast<std::int64_t>(count) ||
      !(reals[0] > 0) || more[3] > 1 || counts[5] > (settings.start_at_first ? 1 : 0))
    UncheckedState::fail("support_ages");
  std::vector<double> products;
  std::vector<KeptTruth> truths(count);
  if (settings.has_budget) {
    products = from.reals("support_products", count * held);
    const std::vector<double> told = from.reals("support_truths", count);
    std::vector<std::int64_t> truth_starts, labels;
    from.lists("support_truth_starts", "support_truth_labels", count, settings.labels, truth_starts, labels);
    const auto label_limit = static_cast<double>(settings.labels);
    for (std::size_t i = 0; i < count; ++i) {
      const bool set = settings.task == "multilabel";
      const bool by_index = (settings.task == "classification" && !is_binary(settings)) || settings.task == "ordinal";
      const bool is_index = told[i] >= 0 && told[i] < label_limit && told[i] == std::floor(told[i]);
      if (by_index && !is_index) UncheckedState::fail("support_truths");
      truths[i].set = set;
      truths[i].value = set ? 0 : told[i];
      truths[i].labels.assign(labels.begin() + truth_starts[i], labels.begin() + truth_starts[i + 1]);
    }
  }
  std::vector<SparseVector> vectors(count);
  std::size_t width = 0;
  for (std::size_t i = 0; i < count; ++i) {
    vectors[i].columns.assign(columns.begin() + starts[i], columns.begin() + starts[i + 1]);
    vectors[i].values.assign(values.begin() + starts[i], values.begin() + starts[i + 1]);
    if (!vectors[i].columns.empty()) width = std::max(width, static_cast<std::size_t>(vectors[i].columns.back()) + 1);
  }
  const auto columns_then = static_cast<std::size_t>(more[4]);
  if (columns_then > limit || width > columns_then) UncheckedState::fail("support_columns");
  if (columns_then > s.dimension()) s.resize(columns_then);
  s.numbers = std::move(numbers);
  s.ages = std::move(ages);
  s.v = std::move(v);
  s.u = std::move(u);
  s.given = std::move(given);
  std::copy_n(extras.begin(), lanes, s.biases.begin());
  std::copy_n(extras.begin() + static_cast<std::ptrdiff_t>(lanes), lanes, s.bias_sums.begin());
  s.now = SupportScalars{reals[0], reals[1], reals[2], reals[3], reals[4], origin[0], counts[0], more[0], more[1]};
  s.sparse = more[3] != 0;
  s.check_restored(reals[5], vectors);
  if (supports_of(learner).budget != nullptr) {
    supports_of(learner).budget->products = std::move(products);
    supports_of(learner).budget->truths = std::move(truths);
  }
  learner.statistics = Statistics{counts[2], counts[3], counts[4], reals[6], reals[7], reals[8], reals[9], reals[10],
                                  counts[6], counts[7]};
  learner.awaits_first = counts[5] != 0;
  learner.examples = more[2];
  restore_quantile(learner, reals.data());
}

}  // namespace hinge
