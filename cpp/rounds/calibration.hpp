// Probabilities from scores, learned online (Platt 1999, with a second-order step per example).
//
// The score of a round was computed before its label was seen, so it is as honest as one on new data. A `Logit` learns
// from such scores how often predictions of a given confidence z are right:
//     two classes    P(the predicted class is right) = sigmoid(a z + b),        z = sqrt(|score| / size), per class
//     many classes   P(r) = softmax_r(b [r = top] - a z_r),                     z_r = (top score - score_r) / size
// `size` follows the size of the scores, so nothing depends on the units of the features. The probabilities never
// contradict the prediction: a and b are clipped where they would.
//
// `Calibration` knows nothing of learners: it has 9 (many classes) or 15 (two) numbers. Only +, -, *, /, sqrt and our
// own exponential are used, so results are bit-identical everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../memories/arithmetic/exponential.hpp"

namespace hinge {

// Newton's method for two parameters, one example at a time: curvatures are summed up, old ones fade, and what fades is
// replaced by the prior.
struct Logit {
  double slope = prior, constant = 0;                               // a, b
  double slope_curvature = 1, mixed_curvature = 0, constant_curvature = 1;
  double seen = 0;                                                  // examples

  static constexpr double prior = 2;     // a at the start
  static constexpr double memory = 1000; // examples after which curvatures have faded to 1/e

  double at(double z) const { return std::clamp(std::max(0.0, slope) * z + constant, -30.0, 30.0); }

  // One step along the gradient (ga, gb) with the curvature (aa, ab, bb) of the log-likelihood of an example at z.
  void step(double z, double ga, double gb, double aa, double ab, double bb) {
    const double rate = std::max(1 / memory, 2 / (seen + 6)), kept = 1 - rate;
    slope_curvature = kept * slope_curvature + aa + rate;
    mixed_curvature = kept * mixed_curvature + ab;
    constant_curvature = kept * constant_curvature + bb + rate;
    ga += rate * (prior - slope);
    gb -= rate * constant;
    const double determinant = slope_curvature * constant_curvature - mixed_curvature * mixed_curvature;
    double da = (constant_curvature * ga - mixed_curvature * gb) / determinant;
    double db = (slope_curvature * gb - mixed_curvature * ga) / determinant;
    const double change = std::max(std::abs(da) * (1 + z), std::abs(db));  // a surprise changes the logit by at most 1
    if (change > 1) da /= change, db /= change;
    slope += da;
    constant += db;
    seen += 1;
  }

  // Whether a learner can reach this state.
  bool makes_sense() const {
    return std::isfinite(slope) && std::isfinite(constant) && slope_curvature > 0 && constant_curvature > 0 &&
           std::isfinite(slope_curvature * constant_curvature) &&
           slope_curvature * constant_curvature > mixed_curvature * mixed_curvature && seen >= 0 && seen <= 0x1p53;
  }
};

struct Calibration {
  Logit first, second;  // two classes: where the score is not positive, where it is. Many classes: `first`
  double size = 0;      // the mean of |score|; many classes: of the top score less the mean score
  double weight = 0;    // the mean weight of the examples
  double seen = 0;      // examples

  // Whether round `rounds` is observed: all until 2048 are seen, then a quarter until 5632 (of a stream: 16384 rounds),
  // then a 64th, because an observation costs as much as three rounds on short rows. They are spread by multiples of the
  // golden ratio, so that no period of a stream is in step with them.
  HINGE_INLINE bool observes(std::int64_t rounds) const {
    const std::uint64_t place = static_cast<std::uint64_t>(rounds) * 0x9E3779B97F4A7C15u;
    return place < (std::uint64_t{1} << 58) || (seen < 5632 && (seen < 2048 || place < (std::uint64_t{1} << 62)));
  }

  // ---- two classes ----

  HINGE_APART void observe(double score, bool positive, double its_weight) {
    if (!adapts(std::abs(score), its_weight)) return;
    const bool shown = score > 0;
    Logit& its = shown ? second : first;
    const double z = confidence(score), q = sigmoid(its.slope * z + its.constant);
    const double w = relative(its_weight);
    const double g = w * ((shown == positive ? 1 : 0) - q), v = w * std::max(least_curvature, q * (1 - q));
    its.step(z, g * z, g, v * z * z, v * z, v);
  }

  // Follows the size of scores that say nothing about predictions (later passes over the same rows).
  HINGE_APART void follow(const double* scores, std::size_t count, double its_weight) {
    adapts(count == 1 ? std::abs(scores[0]) : lead(scores, count, largest(scores, count)), its_weight);
  }
  // The two classes change places, and with them the signs of the scores.
  void swap_classes() { std::swap(first, second); }

  // The probability of the positive class: above 1/2 if and only if the score is above 0.
  double probability(double score) const {
    const bool shown = score > 0;
    const double q = sigmoid((shown ? second : first).at(confidence(score)));
    return shown ? std::max(0.5 + 0x1p-52, q) : std::min(0.5, 1 - q);
  }

  // ---- many classes ----

  HINGE_APART void observe(const double* scores, std::size_t count, std::size_t label, double its_weight) {
    const std::size_t top = largest(scores, count);
    if (!adapts(lead(scores, count, top), its_weight)) return;
    const auto logit = [&](double z, std::size_t r) { return (r == top ? first.constant : 0) - first.slope * z; };
    double highest = 0;  // of all logits: a negative slope or constant would put another one above that of the top
    for (std::size_t r = 0; r < count; ++r) highest = std::max(highest, logit(distance(scores, r, top), r));
    double sum = 0, z1 = 0, z2 = 0, top_part = 0;
    for (std::size_t r = 0; r < count; ++r) {
      const double z = distance(scores, r, top), part = exponential(std::max(-700.0, logit(z, r) - highest));
      sum += part;
      z1 += part * z;
      z2 += part * z * z;
      if (r == top) top_part = part;
    }
    const double mean = z1 / sum, p = top_part / sum, w = relative(its_weight), z = distance(scores, label, top);
    first.step(z, w * (mean - z), w * ((label == top ? 1 : 0) - p),
               w * std::max(least_curvature, z2 / sum - mean * mean), w * p * mean,
               w * std::max(least_curvature, p * (1 - p)));
  }

  // The probabilities of all classes. That of the first highest score is the first highest.
  void probabilities(const double* scores, std::size_t count, double* to) const {
    const std::size_t top = largest(scores, count);
    const double bonus = std::clamp(first.constant, 0.0, 30.0), slope = std::max(0.0, first.slope);
    double sum = 0;
    for (std::size_t r = 0; r < count; ++r) {
      const double logit = r == top ? 0 : -(slope * distance(scores, r, top) + bonus);
      sum += to[r] = exponential(std::max(-30.0, logit));
    }
    for (std::size_t r = 0; r < count; ++r) to[r] /= sum;
    for (std::size_t r = 0; r < top; ++r)
      if (to[r] >= to[top]) to[r] = std::nextafter(to[top], 0.0);
  }

  // Its numbers, in the order of a file.
  template <class Function>
  void each_number(const Function& function) {
    for (Logit* its : {&first, &second}) {
      function(its->slope), function(its->constant), function(its->slope_curvature), function(its->mixed_curvature);
      function(its->constant_curvature), function(its->seen);
    }
    function(size), function(weight), function(seen);
  }
  static constexpr std::size_t numbers = 15;

  // Whether a learner can reach this state.
  bool makes_sense() const {
    return first.makes_sense() && second.makes_sense() && size >= 0 && std::isfinite(size) && weight >= 0 &&
           std::isfinite(weight) && seen >= 0 && seen <= 0x1p53;
  }

 private:
  static constexpr double least_curvature = 1e-3;
  static constexpr double most = 100;  // an outlier counts no more than `most` times the mean size

  static double sigmoid(double t) {
    const double part = exponential(-std::min(700.0, std::abs(t)));
    return (t >= 0 ? 1 : part) / (1 + part);
  }
  double relative(double its_weight) const { return std::min(16.0, its_weight / weight); }

  // Follows the mean size and the mean weight. False if there is nothing to learn.
  bool adapts(double its_size, double its_weight) {
    if (!std::isfinite(its_size)) return false;
    seen += 1;
    const double rate = std::max(1.0 / 300, 1 / seen);
    size += rate * (its_size - size);
    weight += rate * (its_weight - weight);
    return size > 0 && weight > 0;
  }

  double confidence(double score) const { return size > 0 ? std::sqrt(std::min(most, std::abs(score) / size)) : 0; }
  double distance(const double* scores, std::size_t r, std::size_t top) const {
    return size > 0 ? std::min(most, (scores[top] - scores[r]) / size) : 0;
  }
  static std::size_t largest(const double* scores, std::size_t count) {
    return static_cast<std::size_t>(std::max_element(scores, scores + count) - scores);
  }
  // The top score less the mean score.
  static double lead(const double* scores, std::size_t count, std::size_t top) {
    double sum = 0;
    for (std::size_t r = 0; r < count; ++r) sum += scores[top] - scores[r];
    return sum / static_cast<double>(count);
  }
};

}  // namespace hinge
