// The settings from which a model is built. Their names are also used by Python and the model file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../memories/constant.hpp"
#include "../memories/kernels/kernel_rows.hpp"

namespace hinge {

// Python has checked the values (options/validators.py). build.hpp rejects combinations that cannot be built. A file
// contains only the settings that differ from their defaults, so changing a default requires a new file version.
struct Settings {
  std::string task = "classification";  // regression, uniclass, multilabel, ordinal, prototype, structured
  std::string step = "pa1";
  double C = 1;
  double margin = 1;
  double epsilon = 0.1;
  double radius = 0;            // uniclass; the upper bound B for a learned radius
  bool learned_radius = false;
  double contamination = 0;     // uniclass: the share outside the radius (by quantile); 0: a given radius
  bool fit_intercept = false;
  double intercept_value = 0;   // of the constant feature; 0: auto (memories/constant.hpp)
  bool scaled = false;          // whether values are divided by the size of their column (memories/scaling.hpp)
  bool start_at_first = false;  // uniclass
  bool single = false;          // float32 weights
  std::int64_t average_from = 0;  // the first round that the average includes; 0: no average
  bool scikit_learn = false;    // hinge.compat: scikit-learn's intercept, weights and average
  double intercept_rate = 1;
  // Many labels.
  std::size_t labels = 2;          // the number of labels or ranks
  std::string selection = "max";
  double beta = 0.01;              // mira, perceptron
  std::vector<double> cost;        // labels x labels, or empty
  std::vector<double> nu;          // labels x labels, or one per threshold (ordinal), or empty
  bool learned_threshold = false;  // multilabel
  bool lenient = false;            // a learned threshold leans towards the irrelevant labels
  bool sort_thresholds = false;    // ordinal
  double threshold = 0;            // multilabel, if it is not learned
  std::string experts;             // of a committee (committee/experts.hpp); empty: one learner
  // Geometries.
  std::string geometry = "euclidean";  // mahalanobis, diagonal, entropy
  double regularizer = 1;              // r of a covariance
  double variance = 1;                 // its initial variance
  bool drop = true;                    // diagonal: the kind of update
  double max_covariance = 0x1p30;      // mahalanobis: bytes
  double phi = 0;                      // cw
  double scale = 10;                   // entropy
  bool is_signed = true;
  bool paper = false;                  // the sizes as printed in N03
  // Kernels.
  std::string kernel;             // linear, poly, rbf, custom; empty: weights
  unsigned degree = 3;
  double gamma = 1;
  double coef0 = 0;
  bool has_budget = false;
  std::size_t budget = 0;         // 0: adaptive
  bool oldest = false;            // removal
  double max_cache = 0;           // bytes
  std::shared_ptr<CustomKernel> custom_kernel;  // the function for kernel = custom; not part of a file
  double max_weights = 0x1p32;    // bytes; without a kernel
  // Names.
  std::size_t hash_bits = 0;  // 0: a vocabulary
  std::size_t max_features = std::size_t{1} << 24;
  bool ignore_new = false;    // whether new features beyond the limit are ignored instead of rejected
};

// Calls function(name, member) for each setting except the custom kernel.
template <class Function>
void each_setting(Function&& function) {
  using S = Settings;
  function("task", &S::task), function("step", &S::step), function("C", &S::C), function("margin", &S::margin);
  function("epsilon", &S::epsilon), function("radius", &S::radius), function("learned_radius", &S::learned_radius);
  function("contamination", &S::contamination), function("fit_intercept", &S::fit_intercept);
  function("intercept_value", &S::intercept_value), function("scaled", &S::scaled);
  function("start_at_first", &S::start_at_first), function("single", &S::single);
  function("average_from", &S::average_from), function("scikit_learn", &S::scikit_learn);
  function("intercept_rate", &S::intercept_rate), function("labels", &S::labels);
  function("selection", &S::selection), function("beta", &S::beta), function("cost", &S::cost), function("nu", &S::nu);
  function("learned_threshold", &S::learned_threshold), function("lenient", &S::lenient);
  function("sort_thresholds", &S::sort_thresholds);
  function("threshold", &S::threshold), function("experts", &S::experts);
  function("geometry", &S::geometry), function("regularizer", &S::regularizer), function("variance", &S::variance);
  function("drop", &S::drop), function("max_covariance", &S::max_covariance), function("phi", &S::phi);
  function("scale", &S::scale), function("signed", &S::is_signed), function("paper", &S::paper);
  function("kernel", &S::kernel), function("degree", &S::degree), function("gamma", &S::gamma);
  function("coef0", &S::coef0), function("has_budget", &S::has_budget), function("budget", &S::budget);
  function("oldest", &S::oldest), function("max_cache", &S::max_cache), function("max_weights", &S::max_weights);
  function("hash_bits", &S::hash_bits), function("max_features", &S::max_features);
  function("ignore_new", &S::ignore_new);
}

inline bool is_committee(const Settings& s) { return !s.experts.empty(); }
inline bool has_kernel(const Settings& s) { return !s.kernel.empty(); }

// The maximum number of columns.
inline std::size_t column_limit(const Settings& s) { return s.hash_bits > 0 ? std::size_t{1} << s.hash_bits : s.max_features; }

// Whether the constant feature of the intercept depends on the first instance. In the feature space of another kernel
// than the linear one, and on the simplex, the values of instances have no such scale: there it is 1.
inline bool waits_for_constant(const Settings& s) {
  if (is_committee(s) || s.scaled) return false;  // each input of a committee has its own; scaled values are near 1
  return s.fit_intercept && s.intercept_value == 0 && (!has_kernel(s) || s.kernel == "linear") && s.geometry != "entropy";
}
// The constant feature at the start; 0 without an intercept.
inline double first_constant(const Settings& s) {
  if (!s.fit_intercept) return 0;
  if (s.intercept_value != 0) return s.intercept_value;
  return s.scaled ? constant_of_scaled : 1;
}

inline bool has_covariance(const Settings& s) { return s.geometry == "mahalanobis" || s.geometry == "diagonal"; }

}  // namespace hinge
