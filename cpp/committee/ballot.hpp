// What an expert's scores mean for a task: its loss, and how the predictions of all experts become one.
//
//     task                  loss of an expert                 the committee's prediction                      its loss
//     two classes           1 if its margin <= 0              the sign of sum_k p_k sign(score_k)             <= 2h
//     many classes          1 if its margin <= 0              the label with the largest weight of experts    <= 2h
//     label sets            share of labels that are wrong    label by label                                  <= 2h
//     ranks                 distance of the ranks             the weighted median                             <= 2h
//     numbers               absolute error                    the weighted mean                               <= h
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "../data/truth.hpp"
#include "../rules/labels.hpp"

namespace hinge {

enum class Election : std::uint8_t { signs, labels, sets, ranks, numbers };

struct Ballot {
  Election election;
  bool learned_threshold = false;  // sets: lane 0 is the threshold
  double threshold = 0;            // sets without one: a label counts if its score is above it
  double epsilon = 0;              // numbers: errors up to it are no mistakes
  double clip = 1;                 // the margin that the experts keep

  // Of two or many classes.
  double margin(const double* scores, std::size_t lanes, const Truth& truth) const {
    return election == Election::signs ? truth.value * scores[0] : worst_margin({scores, lanes, 0}, truth);
  }
  // What a prediction has cost.
  struct Outcome {
    double loss = 0;
    bool mistake = false;
  };
  Outcome judge(const double* scores, std::size_t lanes, const Truth& truth) const {
    switch (election) {
      case Election::signs: case Election::labels: return mistake_if(margin(scores, lanes, truth) <= 0);
      case Election::sets: return judge_set(scores, lanes, truth);
      case Election::ranks: return judge_rank(scores, lanes, truth.value);
      case Election::numbers: break;
    }
    const double error = std::abs(truth.value - scores[0]);
    return {error, error > epsilon};
  }

  // The scores of the committee, one per lane: `scores` has those of each expert, in turn. The vote decides which label
  // wins. How clearly it wins is the weighted mean of the experts' scores, each clipped at the margin: a vote alone
  // would be unanimous on most instances, and tell them apart no further.
  void combine(const double* scores, const double* weights, std::size_t experts, std::size_t lanes, double* to) const {
    const Experts its{scores, weights, experts, lanes};
    if (election == Election::labels) return combine_labels(its, to);
    for (std::size_t r = 0; r < lanes; ++r) to[r] = combined(its, r);
  }

 private:
  struct Experts {
    const double* scores;
    const double* weights;
    std::size_t count, lanes;
    const double* of(std::size_t k) const { return scores + k * lanes; }
  };
  static constexpr double least = 0x1p-20;  // by how much a winner leads

  double combined(const Experts& its, std::size_t r) const {
    double vote = 0, mean = 0;
    for (std::size_t k = 0; k < its.count; ++k) {
      const double score = its.of(k)[r] - limit_of(its.of(k)), p = its.weights[k];
      vote += p * (election == Election::numbers ? score : election == Election::ranks ? (score < 0 ? -1 : 1) : sign_of(score));
      mean += p * std::clamp(score / clip, -1.0, 1.0);
    }
    if (election == Election::numbers) return vote;
    // Half are above the threshold, half below: the lower rank.
    if (election == Election::ranks) return vote == 0 ? -std::numeric_limits<double>::min() : vote;
    const double its_limit = election == Election::sets && !learned_threshold ? threshold : 0;
    return its_limit + (vote > 0 ? std::max(mean, least * vote) : vote < 0 ? std::min(mean, least * vote) : 0);
  }
  // The score of a label is the mean of its distances from the highest score of each expert.
  void combine_labels(const Experts& its, double* to) const {
    std::fill_n(to, its.lanes, 0.0);
    for (std::size_t k = 0; k < its.count; ++k) to[top_label({its.of(k), its.lanes, 0})] += its.weights[k];
    const std::size_t winner = top_label({to, its.lanes, 0});
    std::fill_n(to, its.lanes, 0.0);
    for (std::size_t k = 0; k < its.count; ++k) {
      const double* const scores = its.of(k);
      const double highest = *std::max_element(scores, scores + its.lanes), p = its.weights[k];
      for (std::size_t r = 0; r < its.lanes; ++r) to[r] -= p * std::min(1.0, (highest - scores[r]) / clip);
    }
    const double highest = *std::max_element(to, to + its.lanes);
    for (std::size_t r = 0; r < its.lanes; ++r) to[r] = r == winner ? highest : std::min(to[r], highest - least);
  }

  static double sign_of(double x) { return static_cast<double>(x > 0) - static_cast<double>(x < 0); }
  double limit_of(const double* scores) const {
    if (election != Election::sets) return 0;
    return learned_threshold ? scores[0] : threshold;
  }
  static Outcome mistake_if(bool wrong) { return {wrong ? 1.0 : 0.0, wrong}; }

  Outcome judge_set(const double* scores, std::size_t lanes, const Truth& truth) const {
    const std::size_t first = learned_threshold, labels = lanes - first;
    const double limit = limit_of(scores);
    std::size_t wrong = 0;
    Relevant(truth, labels).each(labels, [&](std::size_t r, bool relevant) {
      wrong += (scores[first + r] > limit) != relevant;
    });
    return {static_cast<double>(wrong) / static_cast<double>(labels), wrong > 0};
  }
  static Outcome judge_rank(const double* scores, std::size_t lanes, double rank) {
    std::size_t wrong = 0;
    for (std::size_t j = 0; j < lanes; ++j) wrong += (static_cast<double>(j) < rank ? scores[j] : -scores[j]) <= 0;
    return {static_cast<double>(wrong), wrong > 0};
  }
};

}  // namespace hinge
