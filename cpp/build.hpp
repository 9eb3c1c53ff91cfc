// From settings to a learner: the only place that knows every rule and every memory by name.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "learner.hpp"
#include "memories/weights.hpp"
#include "rules/binary.hpp"
#include "rules/regression.hpp"
#include "rules/uniclass.hpp"

namespace hinge {

// Checked in Python already (parameters.py): here they are only translated.
struct Settings {
  std::string task = "classification";
  std::string step = "pa1";
  double C = 1;
  double margin = 1;
  double epsilon = 0.1;
  double radius = 1;            // uniclass; the upper bound B if the radius is learned
  bool learned_radius = false;
  bool fit_intercept = false;
  bool start_at_first = false;  // uniclass
  bool single = false;          // float32 weights
  std::int64_t average_from = 0;  // 0: no average; else the round from which on vectors are counted
  bool scikit_learn = false;    // hinge.compat: scikit-learn's intercept, weights and average
  double intercept_rate = 1;
};

inline Step::Kind step_named(const std::string& name) {
  if (name == "pa") return Step::pa_;
  if (name == "pa1") return Step::pa1_;
  if (name == "pa2") return Step::pa2_;
  if (name == "perceptron") return Step::perceptron_;
  throw std::invalid_argument("unknown step " + name);
}

inline std::unique_ptr<Rule> build_rule(const Settings& s) {
  const Step step{step_named(s.step), s.C, s.scikit_learn};
  if (s.task == "classification") return std::make_unique<Binary>(step, s.margin);
  if (s.task == "regression") return std::make_unique<Regression>(step, s.epsilon);
  if (s.task == "uniclass") return std::make_unique<Uniclass>(step, s.radius);
  throw std::invalid_argument("unknown task " + s.task);
}

inline std::unique_ptr<Memory> build_memory(const Settings& s) {
  const Extra extra{s.fit_intercept ? 1.0 : 0.0, !s.scikit_learn, s.intercept_rate};
  const double extra_start = s.learned_radius ? s.radius : 0;
  const bool averaging = s.average_from > 0, distances = s.task == "uniclass";
  if (s.single) return std::make_unique<Weights<float>>(extra, extra_start, averaging, distances);
  return std::make_unique<Weights<double>>(extra, extra_start, averaging, distances);
}

inline Learner build(const Settings& s) {
  return Learner(build_rule(s), build_memory(s),
                 Averaging{s.average_from > 0, s.average_from, s.scikit_learn}, s.start_at_first);
}

}  // namespace hinge
