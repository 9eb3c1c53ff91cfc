// What a model is built from. Each setting has a name, which Python and the model file use too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../memories/kernels/kernel_rows.hpp"

namespace hinge {

// Python has checked the values (options/validators.py). What cannot be built is rejected in build.hpp. A file holds the
// settings that differ from the defaults: to change a default is to change the version of the file.
struct Settings {
  std::string task = "classification";  // regression, uniclass, multilabel, ordinal, prototype, structured
  std::string step = "pa1";
  double C = 1;
  double margin = 1;
  double epsilon = 0.1;
  double radius = 0;            // uniclass; the upper bound B if the radius is learned
  bool learned_radius = false;
  double contamination = 0;     // uniclass: the share outside of a radius by quantile; 0: the radius is given
  bool fit_intercept = false;
  bool start_at_first = false;  // uniclass
  bool single = false;          // float32 weights
  std::int64_t average_from = 0;  // the round from which on vectors are averaged; 0: no average
  bool scikit_learn = false;    // hinge.compat: scikit-learn's intercept, weights and average
  double intercept_rate = 1;
  // Many labels.
  std::size_t labels = 2;          // how many, or how many ranks
  std::string selection = "max";
  double beta = 0.01;              // mira, perceptron
  std::vector<double> cost;        // labels x labels, or none
  std::vector<double> nu;          // labels x labels, or one per threshold (ordinal), or none
  bool learned_threshold = false;  // multilabel
  bool sort_thresholds = false;    // ordinal
  // Geometries.
  std::string geometry = "euclidean";  // mahalanobis, diagonal, entropy
  double regularizer = 1;              // r of a covariance
  double variance = 1;                 // its initial variance
  bool drop = true;                    // diagonal: which update
  double max_covariance = 0x1p30;      // mahalanobis: bytes
  double phi = 0;                      // cw
  double scale = 10;                   // entropy
  bool is_signed = true;
  bool paper = false;                  // N03's sizes as printed
  // Kernels.
  std::string kernel;             // linear, poly, rbf, custom; none: weights
  unsigned degree = 3;
  double gamma = 1;
  double coef0 = 0;
  bool has_budget = false;
  std::size_t budget = 0;         // 0: adaptive
  bool oldest = false;            // removal
  double max_cache = 0;           // bytes
  std::shared_ptr<CustomKernel> custom_kernel;  // the function of kernel = custom; no file holds it
  double max_weights = 0x1p32;    // bytes, without a kernel
  // Names.
  std::size_t hash_bits = 0;  // 0: a vocabulary
  std::size_t max_features = std::size_t{1} << 24;
  bool ignore_new = false;    // further features are ignored, not rejected
};

// Calls function(name, member) for each setting but the function of a kernel.
template <class Function>
void each_setting(Function&& function) {
  using S = Settings;
  function("task", &S::task), function("step", &S::step), function("C", &S::C), function("margin", &S::margin);
  function("epsilon", &S::epsilon), function("radius", &S::radius), function("learned_radius", &S::learned_radius);
  function("contamination", &S::contamination), function("fit_intercept", &S::fit_intercept);
  function("start_at_first", &S::start_at_first), function("single", &S::single);
  function("average_from", &S::average_from), function("scikit_learn", &S::scikit_learn);
  function("intercept_rate", &S::intercept_rate), function("labels", &S::labels);
  function("selection", &S::selection), function("beta", &S::beta), function("cost", &S::cost), function("nu", &S::nu);
  function("learned_threshold", &S::learned_threshold), function("sort_thresholds", &S::sort_thresholds);
  function("geometry", &S::geometry), function("regularizer", &S::regularizer), function("variance", &S::variance);
  function("drop", &S::drop), function("max_covariance", &S::max_covariance), function("phi", &S::phi);
  function("scale", &S::scale), function("signed", &S::is_signed), function("paper", &S::paper);
  function("kernel", &S::kernel), function("degree", &S::degree), function("gamma", &S::gamma);
  function("coef0", &S::coef0), function("has_budget", &S::has_budget), function("budget", &S::budget);
  function("oldest", &S::oldest), function("max_cache", &S::max_cache), function("max_weights", &S::max_weights);
  function("hash_bits", &S::hash_bits), function("max_features", &S::max_features);
  function("ignore_new", &S::ignore_new);
}

inline bool has_kernel(const Settings& s) { return !s.kernel.empty(); }

// How many columns there may be.
inline std::size_t column_limit(const Settings& s) { return s.hash_bits > 0 ? std::size_t{1} << s.hash_bits : s.max_features; }

inline bool has_covariance(const Settings& s) { return s.geometry == "mahalanobis" || s.geometry == "diagonal"; }

}  // namespace hinge
