// The experts of a committee, as words. A word is [scaled:]KIND[:j|=value][:average].
//
//     KIND      step                                            j: relative to the first round       =value
//     pa        PA, which has no C
//     pa1       PA-I                                            C = 4^j l/q                          C
//     pa2       PA-II                                           C = 4^j/q                            C
//     arow      AROW with a diagonal covariance                 r = 16^j q                           r
//     lattice   PA-I with C = 4^j l/q for every integer j (lattice.hpp)
//
// l and q are the loss and the squared size of the first constraint that is violated, and l/q and q are rounded to
// powers of 2: so the units of x and y do not matter. `scaled`: the expert sees values that are divided by the root
// mean square of their column (scaling.hpp). `average`: the average of its weights votes.
//
// To add an expert to a committee is to add a word (src/hinge/model/experts.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "../data/errors.hpp"
#include "../text/text.hpp"

namespace hinge {

struct ExpertWord {
  enum class Kind { pa, pa1, pa2, arow, lattice };
  Kind kind = Kind::pa1;
  bool scaled = false;
  bool average = false;
  bool relative = false;  // whether `value` is the exponent j
  double value = 0;       // j, C or r

  // Whether both are the same learner, whose weights and their average may both vote.
  bool same_learner(const ExpertWord& other) const {
    return kind == other.kind && scaled == other.scaled && relative == other.relative && value == other.value;
  }
  // Whether the first round determines it.
  bool is_relative() const { return relative || kind == Kind::pa || kind == Kind::lattice; }
  // C, or r of AROW, given those of the first round.
  double parameter(double first_C, double first_size) const {
    if (!relative) return value;
    const int j = static_cast<int>(value);
    const double its = kind == Kind::arow  ? std::ldexp(first_size, 4 * j)
                       : kind == Kind::pa2 ? std::ldexp(1 / first_size, 2 * j)
                                           : std::ldexp(first_C, 2 * j);
    return std::clamp(its, std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
  }
};

inline ExpertWord::Kind expert_kind(std::string_view name) {
  if (name == "pa") return ExpertWord::Kind::pa;
  if (name == "pa1") return ExpertWord::Kind::pa1;
  if (name == "pa2") return ExpertWord::Kind::pa2;
  if (name == "arow") return ExpertWord::Kind::arow;
  if (name == "lattice") return ExpertWord::Kind::lattice;
  throw InputError("there is no kind of expert " + std::string(name));
}

inline ExpertWord expert_word(std::string_view word) {
  constexpr std::string_view scaled = "scaled:", average = ":average";
  const std::string all(word);
  const auto fail = [&] { throw InputError("the expert " + all + " is not [scaled:]KIND[:j|=value][:average]"); };
  ExpertWord expert;
  if ((expert.scaled = word.starts_with(scaled))) word.remove_prefix(scaled.size());
  if ((expert.average = word.ends_with(average))) word.remove_suffix(average.size());
  const std::size_t end = word.find_first_of(":=");
  expert.kind = expert_kind(word.substr(0, end));
  const bool has_value = end != std::string_view::npos;
  const bool wants_value = expert.kind != ExpertWord::Kind::pa && expert.kind != ExpertWord::Kind::lattice;
  if (has_value != wants_value) fail();
  if (!has_value) return expert;
  expert.relative = word[end] == ':';
  const std::string_view number = word.substr(end + 1);
  const char* const last = number.data() + number.size();
  if (number.empty() || read_decimal(number.data(), last, expert.value) != last) fail();
  constexpr double most = 120;  // 16^120 is still far from overflow
  const bool valid = expert.relative ? std::abs(expert.value) <= most && expert.value == std::floor(expert.value)
                                     : expert.value > 0 && std::isfinite(expert.value);
  if (!valid) fail();
  return expert;
}

// Words with spaces between them.
inline std::vector<ExpertWord> expert_words(std::string_view text) {
  constexpr std::size_t most = 64;
  std::vector<ExpertWord> experts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) experts.push_back(expert_word(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (experts.empty()) throw InputError("there are no experts");
  if (experts.size() > most) throw InputError("there are more than 64 experts");
  return experts;
}

}  // namespace hinge
