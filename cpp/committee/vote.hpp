// The vote of many experts: AdaHedge with a prior and a share (de Rooij, van Erven, Gruenwald and Koolen 2014; Herbster
// and Warmuth 1998). It sees losses, never features or labels.
//
// Expert k has the prior pi_k and a loss so far G_k, relative to the best one. Its weight before a round is
//     p_k ~ pi_k exp(-eta G_k),    eta = a/Delta.
// Delta adds up what mixing costs: h = sum p_k l_k, the expected loss, less the mix loss m = -(1/eta) ln sum p_k
// exp(-eta l_k). There is no rate, no horizon and no range of losses to choose: losses times 1000 give the same weights.
// After each round the share mixes p with pi: an expert that was bad can return when the data change.
//
// Guarantee (theory: T1.2): sum h <= sum l_k + Delta (1 + (ln(1/pi_k) + ln D)/a) for every k, D rounds with different
// losses. Rounds on which all experts lose the same change nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../memories/arithmetic/exponentials.hpp"

namespace hinge {

// What the theorems need, as it was observed.
struct VoteRecord {
  double delta = 0;          // Delta
  double expected_loss = 0;  // H: the sum of h
  double telling_loss = 0;   // the same over the rounds that told experts apart
  double variance = 0;       // V: the sum of the variances of the losses under p
  double range = 0;          // S: the largest difference of two losses
  double loss_of_all = 0;    // the sum of losses of rounds in which all experts lost the same
  std::int64_t telling = 0;  // D: the rounds that told experts apart
  double weight = 0;         // of all rounds: the sum of the weights of their examples
  double loss = 0;           // of the vote's own predictions
};

class Vote {
 public:
  static constexpr double a = 2;

  // Several experts with the same prior.
  void begin(std::size_t experts) { begin(std::vector<double>(experts, 1 / static_cast<double>(experts))); }
  void begin(const std::vector<double>& priors) {
    weights = prior = priors;
    behind = lost = lost_telling = std::vector<double>(prior.size());
  }
  // Expert `child` is a copy of `parent`, from which it takes a fraction of the prior and of the weight.
  void split(std::size_t parent, std::size_t child, double fraction) {
    const auto place = static_cast<std::ptrdiff_t>(child);
    const auto divide = [&](std::vector<double>& shares) {
      const double part = fraction * shares[parent];
      shares[parent] -= part;
      shares.insert(shares.begin() + place, part);
    };
    divide(prior);
    divide(weights);
    for (std::vector<double>* each : {&behind, &lost, &lost_telling}) {
      const double its = (*each)[parent];
      each->insert(each->begin() + place, its);
    }
  }

  // What another vote has learned about some of its experts, at these places.
  void take(const Vote& other, const std::vector<std::size_t>& places) {
    record = other.record;
    for (std::size_t k = 0; k < places.size(); ++k) {
      prior[k] = other.prior[places[k]], weights[k] = other.weights[places[k]];
      lost[k] = other.lost[places[k]], lost_telling[k] = other.lost_telling[places[k]];
    }
    for (std::vector<double>* shares : {&prior, &weights}) {
      double sum = 0;
      for (const double share : *shares) sum += share;
      for (double& share : *shares) share /= sum;
    }
    relate();
  }

  double expected(const double* losses) const {
    double sum = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] * losses[k];
    return sum;
  }

  // Whether all sums stay finite after a round with these losses.
  bool can_learn(const double* losses) const {
    double squares = record.variance;
    for (std::size_t k = 0; k < weights.size(); ++k) squares += losses[k] * losses[k];
    return std::isfinite(squares);
  }
  // After a round with these losses, whose expectation is h.
  void learn(const double* losses, double h) {
    const auto [lowest, highest] = std::minmax_element(losses, losses + weights.size());
    const double low = *lowest, range = *highest - low;
    record.expected_loss += h;
    for (std::size_t k = 0; k < weights.size(); ++k) lost[k] += losses[k];
    const double delta = range > 0 ? record.delta + mixing_cost(losses, low) : 0;
    if (!(delta > std::numeric_limits<double>::min())) return void(record.loss_of_all += low);  // as if they were equal
    record.telling_loss += h;
    record.range = std::max(record.range, range);
    record.telling += 1;
    double variance = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      variance += weights[k] * (losses[k] - h) * (losses[k] - h);
      lost_telling[k] += losses[k];
    }
    record.variance += variance;
    record.delta = delta;
    for (std::size_t k = 0; k < weights.size(); ++k) behind[k] += losses[k] - low;
    weigh();
    share(1 / static_cast<double>(record.telling + 1));
  }

  // The expert with the largest weight, the first on ties.
  std::size_t leader() const {
    return static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  }

  std::vector<double> prior, weights, behind;  // pi, p, G
  std::vector<double> lost, lost_telling;      // the sums of losses, of all rounds and of those that told experts apart
  VoteRecord record;

 private:
  // h - m, in terms of the losses' distances from the lowest. Before the first difference eta is infinite, and the mix
  // loss the lowest. A gap that is 0 or 1, as for mistakes, needs one exponential.
  double mixing_cost(const double* losses, double low) const {
    const double eta = a / record.delta;
    double sum = 0, expected = 0, gap = -1, power = 1;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      if (losses[k] - low != gap) gap = losses[k] - low, power = gap == 0 ? 1 : exponential_anywhere(-eta * gap);
      sum += weights[k] * power;
      expected += weights[k] * gap;
    }
    return record.delta > 0 ? std::max(0.0, expected + logarithm(sum) / eta) : expected;
  }
  void weigh() {
    const double eta = a / record.delta, least = *std::min_element(behind.begin(), behind.end());
    double sum = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = -eta * (behind[k] - least);
    exponentials(weights.data(), weights.size());
    for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] = prior[k] * weights[k];
    for (double& weight : weights) weight /= sum;
  }
  // p <- (1 - alpha) p + alpha pi, and G so that p ~ pi exp(-eta G).
  void share(double alpha) {
    for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = (1 - alpha) * weights[k] + alpha * prior[k];
    relate();
  }
  void relate() {
    const double scale = record.delta / a;
    for (std::size_t k = 0; k < weights.size(); ++k) behind[k] = weights[k] / prior[k];
    logarithms(behind.data(), behind.size());
    for (double& each : behind) each *= -scale;
    const double least = *std::min_element(behind.begin(), behind.end());
    for (double& each : behind) each -= least;
  }
};

}  // namespace hinge
