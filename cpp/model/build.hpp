// Builds a learner from settings: the only place that knows every rule and every memory by name.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../committee/bank.hpp"
#include "../learner.hpp"
#include "../memories/scaled.hpp"
#include "../memories/shapes/covariance.hpp"
#include "../memories/shapes/shaped.hpp"
#include "../memories/shapes/diagonal.hpp"
#include "../memories/lanes.hpp"
#include "../memories/simplex.hpp"
#include "../memories/kernels/supports_of.hpp"
#include "../memories/weights.hpp"
#include "../rounds/committee.hpp"
#include "../rounds/plain.hpp"
#include "../rounds/scaled.hpp"
#include "../rounds/shaped.hpp"
#include "../rounds/supported.hpp"
#include "../rules/binary.hpp"
#include "../rules/cost.hpp"
#include "../rules/mira.hpp"
#include "../rules/ordinal.hpp"
#include "../rules/ranking.hpp"
#include "../rules/regression.hpp"
#include "../rules/simultaneous.hpp"
#include "../rules/structured.hpp"
#include "../rules/threshold.hpp"
#include "../rules/uniclass.hpp"
#include "settings.hpp"

namespace hinge {

inline Step::Kind step_named(const std::string& name) {
  if (name == "pa") return Step::pa_;
  if (name == "pa1") return Step::pa1_;
  if (name == "pa2") return Step::pa2_;
  if (name == "perceptron") return Step::perceptron_;
  if (name == "cw") return Step::cw_;
  throw std::invalid_argument("unknown step " + name);
}

inline Scheme scheme_named(const std::string& selection) {
  if (selection == "simperc" || selection == "uniform") return Scheme::simperc;
  if (selection == "conproj") return Scheme::conproj;
  if (selection == "simproj" || selection == "max") return Scheme::simproj;
  throw std::invalid_argument("unknown selection " + selection);
}

// Two classes share one w with a sign, unless an option needs the scores of both.
inline bool is_binary(const Settings& s) {
  return s.task == "classification" && s.labels <= 2 && s.selection == "max" && s.cost.empty();
}

inline std::unique_ptr<Rule> build_label_rule(const Settings& s, Step step) {
  if (!s.cost.empty()) {
    if (s.cost.size() != s.labels * s.labels) throw std::invalid_argument("cost must be labels x labels");
    const auto selection = s.selection == "prediction" ? CostSensitive::prediction_ : CostSensitive::max_;
    return std::make_unique<CostSensitive>(step, s.margin, selection, s.cost);
  }
  if (s.selection == "mira") return std::make_unique<Mira>(step, s.beta);
  if (s.selection == "max") return std::make_unique<Ranking>(step, s.margin, Ranking::max_);
  if (s.selection == "prediction") return std::make_unique<Ranking>(step, s.margin, Ranking::prediction_);
  if (!s.nu.empty() && s.nu.size() != s.labels * s.labels) throw std::invalid_argument("nu must be labels x labels");
  return std::make_unique<Simultaneous>(Projection(step, s.margin, scheme_named(s.selection)), s.nu);
}

inline std::unique_ptr<Rule> build_rule(const Settings& s) {
  if (s.labels < (s.task == "ordinal" ? 2u : 1u)) throw std::invalid_argument("there are too few labels");
  Step step{step_named(s.step), s.C, s.scikit_learn};
  if (has_covariance(s) && step.kind == Step::perceptron_) step.second_order = s.regularizer;
  step.phi = s.phi;
  if (step.kind == Step::perceptron_) step.beta = s.beta;
  if (step.kind == Step::cw_ && !has_covariance(s)) throw std::invalid_argument("cw needs a covariance");
  if (is_binary(s)) return std::make_unique<Binary>(step, s.margin);
  if (s.task == "regression") return std::make_unique<Regression>(step, s.epsilon);
  if (s.task == "uniclass" && s.contamination > 0) return std::make_unique<Uniclass>(step, Quantile{s.contamination});
  if (s.task == "uniclass") return std::make_unique<Uniclass>(step, s.radius);
  if (s.task == "structured") return std::make_unique<Structured>(step);
  if (s.task == "ordinal") {
    if (!s.nu.empty() && s.nu.size() + 1 != s.labels) throw std::invalid_argument("nu must have one entry per threshold");
    return std::make_unique<Ordinal>(Projection(step, s.margin, scheme_named(s.selection)), s.selection == "max", s.nu);
  }
  if (s.task == "classification" || s.task == "multilabel" || s.task == "prototype") {
    auto rule = build_label_rule(s, step);
    if (!s.learned_threshold) return rule;
    const bool has_no_C = step.kind == Step::perceptron_ || step.kind == Step::cw_;
    const Step threshold_step{has_no_C ? Step::pa1_ : step.kind, s.C};
    return std::make_unique<WithThreshold>(std::move(rule), threshold_step, s.margin, s.lenient ? s.margin / 10 : 0);
  }
  throw std::invalid_argument("unknown task " + s.task);
}

// The number of lanes; 0 if there is one w.
inline std::size_t lanes_of(const Settings& s) {
  if (s.task == "ordinal") return s.labels - 1;
  if (s.task == "multilabel" || (s.task == "classification" && !is_binary(s))) return s.labels + s.learned_threshold;
  return 0;
}

template <class Real>
std::unique_ptr<Memory> build_flat_of(const Settings& s) {
  const bool averaging = s.average_from > 0;
  using Kind = typename Lanes<Real>::Kind;
  if (s.task == "ordinal")
    return std::make_unique<Lanes<Real>>(lanes_of(s), Kind{-1, true, s.sort_thresholds}, averaging);
  if (lanes_of(s) > 0)
    return std::make_unique<Lanes<Real>>(lanes_of(s), Kind{first_constant(s)}, averaging);
  const Bias bias{first_constant(s), !s.scikit_learn, s.intercept_rate};
  return std::make_unique<Weights<Real>>(bias, s.learned_radius ? s.radius : 0, averaging, s.task == "uniclass");
}
inline Kernel::Kind kernel_named(const std::string& name) {
  if (name == "linear") return Kernel::linear;
  if (name == "poly") return Kernel::poly;
  if (name == "rbf") return Kernel::rbf;
  if (name == "custom") return Kernel::custom;
  throw std::invalid_argument("unknown kernel " + name);
}
inline std::unique_ptr<Memory> build_supports(const Settings& s) {
  Supports::Kind kind;
  kind.kernel = Kernel{kernel_named(s.kernel), s.gamma, s.coef0, s.degree};
  kind.shared = s.task == "ordinal";
  kind.sorted = kind.shared && s.sort_thresholds;
  kind.distances = s.task == "uniclass";
  kind.start = s.learned_radius ? s.radius : 0;
  kind.averaging = s.average_from > 0;
  kind.keeps_values = s.has_budget;
  kind.max_bytes = s.max_cache;
  const std::size_t lanes = std::max<std::size_t>(1, lanes_of(s));
  auto budget = s.has_budget ? std::make_unique<Budget>(Budget::Kind{s.budget, s.oldest}) : nullptr;
  std::unique_ptr<Supports> supports;
  if (s.single)
    supports = std::make_unique<SupportsOf<float>>(kind, lanes, s.custom_kernel, std::move(budget));
  else
    supports = std::make_unique<SupportsOf<double>>(kind, lanes, s.custom_kernel, std::move(budget));
  supports->set_constant(first_constant(s));
  return supports;
}

inline std::unique_ptr<Memory> build_flat(const Settings& s) {
  if (has_kernel(s)) return build_supports(s);
  if (s.geometry == "entropy") {
    const bool ordinal = s.task == "ordinal";
    const double constant = ordinal ? -1 : first_constant(s);
    const Simplex::Kind kind{s.scale, s.is_signed, s.paper, constant, ordinal, ordinal && s.sort_thresholds};
    return std::make_unique<Simplex>(std::max<std::size_t>(1, lanes_of(s)), kind, s.average_from > 0,
                                     s.task == "uniclass");
  }
  return s.single ? build_flat_of<float>(s) : build_flat_of<double>(s);
}
inline std::unique_ptr<Memory> build_limited_flat(const Settings& s) {
  auto flat = build_flat(s);
  flat->limit_bytes(s.max_weights);
  return flat;
}

// ---- a committee ----

// The rule of a member, as it would be alone. Before its C or r is known: that of PA.
inline std::shared_ptr<const Rule> member_rule(Settings s, const Member& m) {
  using Kind = ExpertWord::Kind;
  s.experts.clear();
  s.step = "pa";
  if (m.place == Member::Place::bottom) {  // always a full step: the perceptron that moves at every margin
    s.step = "perceptron";
    s.beta = HUGE_VAL;
  } else if (m.parameter > 0 && m.word.kind == Kind::arow) {  // AROW is PA-II in the geometry of S, 1/(2C) = r
    s.step = "pa2";
    s.C = 1 / (2 * m.parameter);
  } else if (m.parameter > 0 && m.word.kind != Kind::pa && m.place != Member::Place::top) {
    s.step = m.word.kind == Kind::pa2 ? "pa2" : "pa1";
    s.C = m.parameter;
  }
  return build_rule(s);
}
inline Bank::MakeRule rules_for_members(const Settings& s) {
  return [s](const Member& m) { return member_rule(s, m); };
}
inline Election election_of(const Settings& s) {
  if (s.task == "regression") return Election::numbers;
  if (s.task == "ordinal") return Election::ranks;
  if (s.task == "multilabel") return Election::sets;
  if (s.task == "classification") return is_binary(s) ? Election::signs : Election::labels;
  throw std::invalid_argument("there is no committee for the task " + s.task);
}
inline Bank::Kind bank_kind(const Settings& s) {
  if (s.single || !s.cost.empty() || has_kernel(s) || s.geometry != "euclidean" || s.average_from > 0)
    throw std::invalid_argument("a committee has float64 weights, no costs, no kernel, no geometry and no average");
  Bank::Kind kind;
  kind.ballot = {election_of(s), s.learned_threshold, s.threshold, s.epsilon, 2 * s.margin};
  kind.lanes = std::max<std::size_t>(1, lanes_of(s));
  kind.ranks = s.task == "ordinal";
  kind.has_constant = s.fit_intercept;
  kind.constant = s.intercept_value;
  kind.margin = s.margin;
  kind.sorted = s.sort_thresholds;
  kind.has_lattice = s.task == "regression" || (s.task == "classification" && s.selection == "max");
  return kind;
}
inline std::unique_ptr<Memory> build_bank(const Settings& s) {
  auto bank = std::make_unique<Bank>(bank_kind(s), expert_words(s.experts), rules_for_members(s));
  bank->limit_bytes(s.max_weights);
  return bank;
}

inline std::unique_ptr<Memory> build_unscaled(const Settings& s) {
  if (!has_covariance(s)) return build_limited_flat(s);
  const double constant = first_constant(s);
  std::unique_ptr<Shape> shape;
  if (s.geometry == "diagonal")
    shape = std::make_unique<Diagonal>(constant, s.variance, s.drop);
  else
    shape = std::make_unique<Covariance>(constant, s.variance, s.max_covariance);
  return std::make_unique<Shaped>(build_limited_flat(s), std::move(shape), s.regularizer,
                                  s.task == "ordinal" ? -1 : 0);
}

inline std::unique_ptr<Memory> build_memory(const Settings& s) {
  if (is_committee(s)) return build_bank(s);
  if (!s.scaled) return build_unscaled(s);
  if (has_kernel(s) || s.geometry == "entropy" || s.task == "uniclass")
    throw std::invalid_argument("only linear scores in the geometry of a norm have scaled values");
  return std::make_unique<Scaled>(build_unscaled(s));
}

// One lane of weights, with inner products as scores: the loop is compiled for the most frequent rules.
template <class Real>
std::unique_ptr<Rounds> build_rounds_on(Weights<Real>& weights, const Rule& rule, Books& books) {
  if (const auto* binary = dynamic_cast<const Binary*>(&rule))
    return std::make_unique<WeightsRounds<Real, Binary>>(*binary, weights, books);
  if (const auto* regression = dynamic_cast<const Regression*>(&rule))
    return std::make_unique<WeightsRounds<Real, Regression>>(*regression, weights, books);
  return std::make_unique<WeightsRounds<Real, Rule>>(rule, weights, books);
}
inline std::unique_ptr<Rounds> build_rounds(const Rule& rule, Memory& memory, Books& books) {
  if (dynamic_cast<Bank*>(&memory) != nullptr) return std::make_unique<RoundsOf<CommitteeRound>>(rule, memory, books);
  if (dynamic_cast<Scaled*>(&memory) != nullptr) {
    if (dynamic_cast<Shaped*>(&memory.unscaled()) != nullptr)
      return std::make_unique<RoundsOf<ScaledRound<ShapedRound>>>(rule, memory, books);
    return std::make_unique<RoundsOf<ScaledRound<PlainRound>>>(rule, memory, books);
  }
  if (auto* supports = dynamic_cast<Supports*>(&memory))
    return std::make_unique<SupportedRounds>(rule, *supports, books);
  if (dynamic_cast<Shaped*>(&memory) != nullptr) return std::make_unique<RoundsOf<ShapedRound>>(rule, memory, books);
  if (rule.reads() == Reads::product) {
    if (auto* weights = dynamic_cast<Weights<double>*>(&memory)) return build_rounds_on(*weights, rule, books);
    if (auto* weights = dynamic_cast<Weights<float>*>(&memory)) return build_rounds_on(*weights, rule, books);
  }
  return std::make_unique<RoundsOf<PlainRound>>(rule, memory, books);
}

inline Learner build(const Settings& s) {
  const Averaging averaging{s.average_from > 0, s.average_from, s.scikit_learn};
  const auto observes = s.task == "classification" && !s.scikit_learn ? Observes::outcomes : Observes::nothing;
  return Learner(build_rule(s), build_memory(s), averaging, s.start_at_first, waits_for_constant(s), observes, build_rounds);
}

// The memory of a learner with a kernel.
inline Supports& supports_of(Learner& learner) { return static_cast<Supports&>(learner.memory()); }

// The memory of a learner with a covariance.
inline Shaped& shaped_of(Learner& learner) { return static_cast<Shaped&>(learner.memory().unscaled()); }

// Adds labels. Two classes with one w become two lanes, with half of w each.
template <class One, class Many>
void add_labels_as(Learner& learner, const Settings& before, const Settings& after) {
  Memory& flat = learner.memory().flat();
  if (is_binary(before) && !is_binary(after)) {
    auto lanes = build_limited_flat(after);
    lanes->set_constant(flat.constant());
    static_cast<Many&>(*lanes).start_from(static_cast<One&>(flat));
    if (has_covariance(after)) shaped_of(learner).change_flat(std::move(lanes));
    else if (after.scaled) static_cast<Scaled&>(learner.memory()).change_inner(std::move(lanes));
    else return learner.change_memory(std::move(lanes));
  } else if (!is_binary(after)) {
    static_cast<Many&>(flat).widen(lanes_of(after));
  }
  learner.choose_rounds();
}
inline void add_labels_to_supports(Learner& learner, const Settings& before, const Settings& after) {
  Supports& supports = supports_of(learner);
  if (is_binary(before) && !is_binary(after)) supports.split();
  const std::size_t lanes = std::max<std::size_t>(1, lanes_of(after));
  if (lanes != supports.lanes()) supports.widen(lanes);
  learner.choose_rounds();
}
inline void add_labels_to_bank(Learner& learner, const Settings& before, const Settings& after) {
  auto& bank = static_cast<Bank&>(learner.memory());
  bank.change_labels(bank_kind(after), rules_for_members(after), is_binary(before) && !is_binary(after));
  learner.choose_rounds();
}
inline void add_labels(Learner& learner, const Settings& before, const Settings& after) {
  if (is_binary(before) && !is_binary(after)) learner.calibration = Calibration();  // other scores
  if (is_committee(before)) return add_labels_to_bank(learner, before, after);
  if (has_kernel(before)) return add_labels_to_supports(learner, before, after);
  if (before.geometry == "entropy") return add_labels_as<Simplex, Simplex>(learner, before, after);
  before.single ? add_labels_as<Weights<float>, Lanes<float>>(learner, before, after)
                : add_labels_as<Weights<double>, Lanes<double>>(learner, before, after);
}

}  // namespace hinge
