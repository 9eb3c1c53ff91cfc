// Budgets of supports (B03, S14): which of the cached examples to remove.
//
// An example is judged by its slack (Rule::slack) at the scores without its own contribution. `adaptive`: after each
// insertion, examples that the rule would not insert again are removed, one by one. `fixed`: if the cache is full, one
// is removed before another is inserted. The scores of all cached examples and the kernel values among them
// (Supports::values_of) are kept, so judging and removing compute no kernel values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "supports.hpp"
#include "../../rules/rule.hpp"

namespace hinge {

// The truth of a cached example: a number, or a set of labels.
struct KeptTruth {
  double value = 0;
  bool set = false;
  std::vector<std::int64_t> labels;

  static KeptTruth of(const Truth& truth) {
    if (truth.labels == nullptr) return {truth.value, false, {}};
    return {0, true, std::vector<std::int64_t>(truth.labels, truth.labels + truth.count)};
  }
  Truth seen() const { return set ? Truth{0, &none_if_empty(), labels.size()} : Truth{value}; }

 private:
  static inline const std::int64_t nothing_ = 0;
  const std::int64_t& none_if_empty() const { return labels.empty() ? nothing_ : labels.front(); }
};

class Budget {
 public:
  struct Kind {
    std::size_t size = 0;  // fixed; 0: adaptive
    bool oldest = false;   // removal: the oldest example; otherwise the one with the largest slack
  };
  explicit Budget(Kind kind) : kind_(kind) {}

  bool adaptive() const { return kind_.size == 0; }
  bool full(const Supports& supports) const { return !adaptive() && supports.count() >= kind_.size; }

  // The support to remove, or `none` if only redundant ones may be removed and no support is redundant.
  std::size_t choose(const Rule& rule, const Supports& supports, bool only_redundant) {
    std::size_t chosen = none;
    double most = 0;
    if (only_redundant && supports.kind().distances && supports.count() == 1) return none;  // a ball needs a centre
    for (std::size_t i = 0; i < supports.count(); ++i) {
      const double slack = kind_.oldest && !only_redundant ? 0 : slack_of(i, rule, supports);
      if (only_redundant && !(slack >= 0)) continue;
      const bool older = chosen == none || supports.ages[i] < supports.ages[chosen];
      if (chosen == none || (kind_.oldest ? older : slack > most || (slack == most && older))) {
        chosen = i;
        most = slack;
      }
    }
    return chosen;
  }

  // Removes support i and its contribution to the products of the others.
  void remove(std::size_t i, Supports& supports) {
    const std::size_t held = supports.held(), last = supports.count() - 1;
    const double own = products[i * held];
    const bool afresh = supports.kind().distances && supports.is_most(i);
    const double* const values = supports.values_of(i);
    const double rest = supports.kind().distances ? supports.rest_without(i) : 1;
    for (std::size_t r = 0; r < held; ++r) {
      const double c = supports.coefficient(i, r);
      if (c == 0 && rest == 1) continue;
      for (std::size_t j = 0; j <= last; ++j) {
        double& product = products[j * held + r];
        product = rest == 1 ? product - c * values[j] : (product - c * values[j]) / rest;
      }
    }
    supports.remove(i, own);
    std::copy_n(products.data() + last * held, held, products.data() + i * held);
    products.resize(products.size() - held);
    std::swap(truths[i], truths[last]);
    truths.pop_back();
    if (supports.kind().distances) sum_up_anew(supports, afresh);
  }

  // Reserves memory before supports.move, so that `moving` does not allocate.
  void make_room(const Supports& supports, const Truth& truth) {
    const std::size_t count = supports.count() + 1;
    if (count > truths.capacity()) truths.reserve(std::max(count, 2 * truths.capacity()));
    if (count * supports.held() > products.capacity())
      products.reserve(std::max(count * supports.held(), 2 * products.capacity()));
    coming_ = KeptTruth::of(truth);
  }
  // Updates the products of the supports for a move. Called before the move, while kernel values and products are those
  // of the current row.
  void moving(const Supports& supports, const double* amounts, double decay) {
    const std::size_t held = supports.held(), count = supports.count();
    const bool fresh = supports.known() == none;
    double total = 0;
    for (std::size_t r = 0; r < supports.lanes(); ++r) total += amounts[r];
    const auto amount = [&](std::size_t r) { return supports.kind().shared ? total : amounts[r]; };
    for (std::size_t r = 0; r < held; ++r) {
      if (amount(r) == 0 && decay == 1) continue;
      for (std::size_t i = 0; i < count; ++i) {
        double& product = products[i * held + r];
        product = (decay == 1 ? product : decay * product) + amount(r) * supports.kernel(i);
      }
    }
    if (!fresh) return;
    for (std::size_t r = 0; r < held; ++r) {
      const double product = supports.products()[r];
      products.push_back((decay == 1 ? product : decay * product) + amount(r) * supports.itself());
    }
    truths.push_back(std::move(coming_));
  }

  // Transactions.
  void begin() { before_ = {products, truths}; }
  void commit() { before_ = {}; }
  void rollback() {
    products = std::move(before_.products);
    truths = std::move(before_.truths);
    commit();
  }

  // Splits two classes into two lanes, for which memory is already reserved.
  void split() {
    for (std::size_t i = 0; i < products.size(); i += 2) {
      products[i + 1] = products[i] / 2;
      products[i] = 0 - products[i + 1];
    }
    for (KeptTruth& truth : truths) truth.value = truth.value > 0 ? 1 : 0;
  }
  // Dropped lanes must never have moved.
  void widen(std::size_t before, std::size_t after) {
    std::vector<double> wide(truths.size() * after);
    for (std::size_t i = 0; i < truths.size(); ++i)
      std::copy_n(products.data() + i * before, std::min(before, after), wide.data() + i * after);
    products = std::move(wide);
  }
  void negate() {
    for (double& product : products) product = 0 - product;
    for (KeptTruth& truth : truths) truth.value = 0 - truth.value;
  }

  // The state, public for saving and restoring: w.x_i of each support, one per lane, and its truth.
  std::vector<double> products;
  std::vector<KeptTruth> truths;

 private:
  // A ball divides by 1 - c at each removal, so rounding errors grow: at once if the support dominated, or e-fold in
  // about as many removals as there are supports. Then the sums are recomputed.
  void sum_up_anew(Supports& supports, bool at_once) {
    const std::size_t count = supports.count();
    if (count == 0) return;
    if (!at_once && static_cast<std::size_t>(supports.now.removals) % std::bit_floor(count) != 0) return;
    double norm2 = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double* const values = supports.values_of(i);
      products[i] = 0;
      for (std::size_t j = 0; j < count; ++j) products[i] += supports.coefficient(j, 0) * values[j];
      norm2 += supports.coefficient(i, 0) * products[i];
    }
    supports.now.norm2 = std::max(0.0, norm2);
  }

  double slack_of(std::size_t i, const Rule& rule, const Supports& supports) {
    const double* const its_products = products.data() + i * supports.held();
    const double itself = supports.itself_of(i);
    scores_.resize(supports.lanes());
    supports.scores_without(i, its_products, scores_.data());
    const double q = supports.kind().distances ? 1 : itself;
    return rule.slack(Scores{scores_.data(), scores_.size(), q}, truths[i].seen());
  }

  Kind kind_;
  std::vector<double> scores_;
  KeptTruth coming_;
  struct Before {
    std::vector<double> products;
    std::vector<KeptTruth> truths;
  };
  Before before_;
};

}  // namespace hinge

#include "supports/rollback.hpp"
