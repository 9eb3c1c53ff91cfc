// Text in Vowpal Wabbit's format to rows:
//     [label[,label...] [importance]] ['tag]|[namespace[:scale]] feature[:value] ... |namespace ...
// As there, a word that touches the bar is a tag, and a feature without a value counts 1. The full name of a feature is
// namespace^feature. Zeros are left out; the values of a repeated feature are added up.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "../data/rows.hpp"
#include "lines.hpp"
#include "text_part.hpp"
#include "../names/murmur.hpp"
#include "../names/namespaces.hpp"
#include "utf8.hpp"
#include "../names/vocabulary.hpp"

namespace hinge {

class VowpalText {
 public:
  using Text = TextRows;
  using Part = TextPart;

  // Names fall into 2^bits columns by their hash, or (bits = 0) get columns of a vocabulary of at most `max_features`. If
  // it does not `grow`, features with other names have no column: a row knows the sum of their squares. New features of a
  // full vocabulary are rejected, or (`ignore`) left out and counted.
  VowpalText(std::size_t bits, std::size_t max_features, bool grow, bool ignore = false)
      : hashed_columns_(bits == 0 ? 0 : std::size_t{1} << bits),
        max_features_(std::min<std::size_t>(max_features, std::numeric_limits<std::int32_t>::max())),
        grow_(grow),
        ignore_(ignore) {}

  Selection selection;
  Interactions interactions;

  // A name that is known from the start. False: it is known already.
  bool add_name(std::string_view name) {
    const std::uint32_t hash = Vocabulary::hash_of(name);
    if (vocabulary_.find(name, hash) != none) return false;
    vocabulary_.add(name, hash);
    known_ = reported_ = vocabulary_.size();
    return true;
  }
  // To be called when rows are complete: they get the names that are new. Returns how many columns there are so far.
  std::size_t finish(TextRows& rows) {
    for (; reported_ < known_; ++reported_) rows.new_names.push(reported_, vocabulary_.name(reported_));
    return width();
  }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  std::size_t width() const { return hashed_columns_ > 0 ? hashed_columns_ : known_; }
  bool counts_unseen() const { return hashed_columns_ == 0 && !grow_; }
  std::size_t ignored() const { return ignored_; }

  void expect(std::size_t, TextRows&) const {}
  const char* read_line(const char* line, TextRows& rows, bool& empty) {
    Cursor cursor(line);
    cursor.skip_spaces();
    empty = cursor.ended();
    if (empty) return cursor.at();
    double weight = std::numeric_limits<double>::quiet_NaN();
    read_header(cursor, rows, weight);
    features_.clear();
    named_.clear();
    names_.clear();
    interactions.clear();
    while (*cursor == '|') read_namespace(cursor);
    if (!interactions.empty()) multiply(Cursor(line));
    for (const Named& feature : named_) vocabulary_.prefetch_name(feature.hash);
    for (const Named& feature : named_) look_up(feature);
    keep_features(Cursor(line), rows);
    keep_weight(weight, rows);
    return cursor.at();
  }
  void keep_line() {
    if (!grow_) return;
    known_ = vocabulary_.size();
    ignored_ += line_ignored_;
    line_ignored_ = 0;
  }
  void forget_line() {
    vocabulary_.truncate(known_);
    line_ignored_ = 0;
  }

 private:
  // ---- before the bar

  static bool ends_word(char c) { return c == '\n' || c == '|' || Cursor::is_space(c); }

  static void read_header(Cursor& cursor, TextRows& rows, double& weight) {
    for (int word = 0; *cursor != '|'; ++word) {
      const char* end = cursor.at();
      while (!ends_word(*end)) ++end;
      if (*cursor == '\'' || *end == '|') return read_tag(cursor, end);
      if (cursor.ended()) cursor.reject("\"|\" was expected before the features");
      if (word == 0)
        read_labels(cursor, rows);
      else if (word == 1)
        weight = read_importance(cursor);
      else
        cursor.reject("\"|\" or a tag was expected, not " + cursor.word() + ": initial predictions are not supported");
      cursor.skip_spaces();
    }
  }
  static void read_tag(Cursor& cursor, const char* end) {
    cursor.move_to(end);
    cursor.skip_spaces();
    if (*cursor != '|') cursor.reject("\"|\" was expected after the tag");
  }
  static void read_labels(Cursor& cursor, TextRows& rows) {
    for (;;) {
      rows.labels.push(read_number(cursor));
      if (*cursor != ',') break;
      cursor.next();
    }
    if (!ends_word(*cursor)) cursor.reject("a space was expected after the label, not " + cursor.rest());
  }
  static double read_importance(Cursor& cursor) {
    Cursor begin = cursor;
    const double weight = read_number(cursor);
    if (!ends_word(*cursor)) cursor.reject("a space was expected after the importance, not " + cursor.rest());
    if (weight < 0) begin.reject("the importance is " + begin.word() + ": it must not be negative");
    return weight;
  }
  // Weights are kept from the first row on that has one; those before count 1.
  static void keep_weight(double weight, TextRows& rows) {
    if (std::isnan(weight) && rows.weights.size() == 0) return;
    while (rows.weights.size() < rows.count()) rows.weights.push(1);
    rows.weights.push(std::isnan(weight) ? 1 : weight);
  }

  // ---- after the bar

  void read_namespace(Cursor& cursor) {
    cursor.next();
    const std::string_view name = read_name(cursor);
    double scale = 1;
    if (*cursor == ':') {
      if (name.empty()) cursor.reject("the name of a namespace was expected before \":\"");
      cursor.next();
      scale = read_number(cursor);
      if (!ends_word(*cursor)) cursor.reject("a space was expected after the scale, not " + cursor.rest());
    }
    prefix_ = name;
    if (!name.empty()) prefix_ += '^';
    for (cursor.skip_spaces(); !cursor.ended() && *cursor != '|'; cursor.skip_spaces()) read_feature(cursor, scale);
  }

  void read_feature(Cursor& cursor, double scale) {
    const Cursor begin = cursor;
    const std::string_view name = read_name(cursor);
    if (name.empty()) cursor.reject("the name of a feature was expected before \":\"");
    double value = scale;
    if (*cursor == ':') {
      cursor.next();
      value = read_number(cursor) * scale;
      if (!ends_word(*cursor)) cursor.reject("a space was expected after the value, not " + cursor.rest());
      if (!std::isfinite(value)) begin.reject("the value of " + begin.rest() + " is too large for float64");
    }
    if (value == 0) return;
    if (prefix_.empty()) {
      if (!takes(name, value)) return;
      if (hashed_columns_ > 0) return add_hashed(name, value);
      return add_named({begin, name.data(), 0, name.size(), Vocabulary::hash_of(name), value});
    }
    const std::size_t from = names_.size();
    names_.append(prefix_).append(name);
    if (takes(std::string_view(names_).substr(from), value))
      add_full(begin, from, value);
    else
      names_.resize(from);
  }
  // Whether a feature is one of those that are read; if so, it may have products with others.
  bool takes(std::string_view full, double value) {
    const std::size_t space_size = prefix_.empty() ? 0 : prefix_.size() - 1;
    if (!selection.takes_all() && !selection.takes(full.substr(0, space_size), full)) return false;
    if (!interactions.empty()) interactions.see(space_size, full, value);
    return true;
  }
  void multiply(const Cursor& line) {
    const bool done = interactions.multiply([&](std::string_view name, double value) {
      if (!std::isfinite(value)) line.reject("the product of two features is too large for float64");
      if (value == 0) return;  // both were tiny
      const std::size_t from = names_.size();
      names_.append(name);
      add_full(line, from, value);
    });
    if (!done)
      line.reject("the interactions make more than " + std::to_string(Interactions::most) + " features of this line");
  }
  // A feature whose full name is the last of `names_`.
  void add_full(const Cursor& begin, std::size_t from, double value) {
    const std::string_view full = std::string_view(names_).substr(from);
    if (hashed_columns_ > 0) {
      add_hashed(full, value);
      names_.clear();
    } else {
      add_named({begin, nullptr, from, full.size(), Vocabulary::hash_of(full), value});
    }
  }
  void add_hashed(std::string_view name, double value) {
    const Hashed place = hashed(name.data(), name.size(), hashed_columns_);
    features_.add(place.column, place.sign * value);
  }

  // A feature of the vocabulary, or not: all of a line are looked up together.
  struct Named {
    Cursor begin;
    const char* name;        // in the line; none: the full name is among `names_`, from `from` on
    std::size_t from, size;
    std::uint32_t hash;
    double value;
  };
  void add_named(const Named& feature) {
    named_.push_back(feature);
    vocabulary_.prefetch_slot(feature.hash);
  }
  void look_up(const Named& feature) {
    const std::string_view name(feature.name == nullptr ? names_.data() + feature.from : feature.name, feature.size);
    std::size_t column = vocabulary_.find(name, feature.hash);
    if (column == none) {
      // A name that gets no column has one until the line ends: so its values are added up as others are.
      if (grow_ && !ignore_ && vocabulary_.size() >= max_features_)
        feature.begin.reject("the feature " + feature.begin.rest() + " is new, and there are already " +
                             std::to_string(max_features_) + " features, the limit (max_features)");
      column = vocabulary_.add(name, feature.hash);
    }
    features_.add(column, feature.value);
  }

  // The name that begins here: any bytes of UTF-8 up to a space, a colon, a bar or the newline.
  static std::string_view read_name(Cursor& cursor) {
    const char* const begin = cursor.at();
    const char* end = begin;
    unsigned char all = 0;
    for (unsigned char kind = 0; (kind = kinds[static_cast<unsigned char>(*end)]) != stop; ++end) all |= kind;
    const std::string_view name(begin, static_cast<std::size_t>(end - begin));
    if (all != 0 && !is_utf8(name)) cursor.reject("the name " + cursor.word() + " is not UTF-8");
    cursor.move_to(end);
    return name;
  }
  static constexpr unsigned char stop = 1, not_ascii = 2;
  static constexpr std::array<unsigned char, 256> kinds = [] {
    std::array<unsigned char, 256> all{};
    for (std::size_t c = 128; c < 256; ++c) all[c] = not_ascii;
    for (const char c : {' ', '\t', '\r', '\n', ':', '|'}) all[static_cast<std::size_t>(c)] = stop;
    return all;
  }();

  void keep_features(const Cursor& line, TextRows& rows) {
    const std::size_t width = counts_unseen() ? known_ : ignore_ && hashed_columns_ == 0 ? max_features_ : none;
    const Instance x = features_.ordered();
    const auto* columns = static_cast<const std::int64_t*>(x.columns);
    const auto* values = static_cast<const double*>(x.values);
    rows.values.make_room(x.size);
    rows.columns.make_room(x.size);
    double unseen = 0;
    for (std::size_t j = 0; j < x.size; ++j) {
      if (!std::isfinite(values[j])) line.reject("the values of a feature that is repeated add up to more than float64 holds");
      if (static_cast<std::size_t>(columns[j]) >= width) {
        unseen += values[j] * values[j];
        line_ignored_ += 1;
        continue;
      }
      rows.columns.push(static_cast<std::int32_t>(columns[j]));
      rows.values.push(values[j]);
    }
    if (counts_unseen()) {
      vocabulary_.truncate(known_);
      rows.unseen.push(unseen);
    } else if (vocabulary_.size() > width) {
      vocabulary_.truncate(width);
    }
  }

  std::size_t hashed_columns_, max_features_;
  bool grow_, ignore_;
  std::size_t ignored_ = 0, line_ignored_ = 0;  // features that were new when the vocabulary was full
  Vocabulary vocabulary_;
  std::size_t known_ = 0;     // names of the vocabulary that stay
  std::size_t reported_ = 0;  // names that earlier rows have brought
  Scratch features_;
  std::string prefix_;     // namespace^
  std::string names_;      // of this line, one after the other
  std::vector<Named> named_;
};

}  // namespace hinge
