// Text in svmlight's format to rows:
//     labels [qid:n] index:value index:value ... [# comment]
// Labels are numbers, none, one or several with commas between them. Blank lines and comments are not rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "lines.hpp"
#include "text_part.hpp"

namespace hinge {

class Svmlight {
 public:
  using Text = TextRows;
  using Part = TextPart;

  // Indices count from `first`, 0 or 1. Those beyond `max_features` are rejected, or (`ignore`) left out and counted.
  Svmlight(std::size_t first, std::size_t max_features, bool ignore = false)
      : first_(first),
        max_features_(std::min<std::size_t>(max_features, std::numeric_limits<std::int32_t>::max())),
        largest_index_(ignore ? std::size_t{1} << 59 : max_features_) {}
  std::size_t ignored() const { return ignored_; }

  // Columns that are read, and columns that are not: ranges, both ends included. No `keep`: all are read.
  using Range = std::pair<std::size_t, std::size_t>;
  std::vector<Range> keep, drop;
  // To be called when rows are complete. Returns how many columns there are so far.
  std::size_t finish(TextRows& rows) {
    width_ = std::max(width_, rows.width);
    if (!keep.empty() || !drop.empty()) select(rows);
    return width_;
  }

  // A feature takes four bytes at least: an index, a colon, a digit, and what ends it.
  void expect(std::size_t size, TextRows& rows) const {
    rows.values.make_room(size / 4);
    rows.columns.make_room(size / 4);
  }
  const char* read_line(const char* line, TextRows& rows, bool& empty) {
    Cursor cursor(line);
    cursor.skip_spaces();
    empty = ends_row(*cursor);
    if (!empty) {
      read_labels(cursor, rows);
      read_features(cursor, rows);
    }
    while (!cursor.ended()) cursor.next();  // a comment
    return cursor.at();
  }
  void keep_line() {
    ignored_ += line_ignored_;
    line_ignored_ = 0;
  }
  void forget_line() { line_ignored_ = 0; }

 private:
  static bool ends_row(char c) { return c == '\n' || c == '#'; }
  static bool ends_word(char c) { return ends_row(c) || Cursor::is_space(c); }

  static void read_labels(Cursor& cursor, TextRows& rows) {
    if (*cursor == 'q' || *cursor.end_of_word() == ':') return;  // it begins with a feature: no label
    for (;;) {
      rows.labels.push(read_number(cursor));
      if (*cursor != ',') break;
      cursor.next();
    }
    if (!ends_word(*cursor)) cursor.reject("a space was expected after the label, not " + cursor.word());
  }

  // Nearly all features are simple: they are read without a loop over their characters, and without branches that
  // could go either way.
  void read_features(Cursor& cursor, TextRows& rows) {
    double* const values = rows.values.data();
    std::int32_t* const columns = rows.columns.data();
    std::size_t count = rows.values.size(), width = rows.width;
    const auto add = [&](std::size_t column, double value) {
      values[count] = value;
      columns[count] = static_cast<std::int32_t>(column);
      count += 1;
      width = std::max(width, column + 1);
    };
    const auto finish = [&] {
      rows.width = width;
      rows.values.set_size(count);
      rows.columns.set_size(count);
    };
    const char* at = cursor.at();
    for (;;) {
      // To look at 64 bytes together costs little more than at a few, and most often they hold three features.
      std::uint64_t marks = find_nondigits(at);
      for (int i = 0; i < 3; ++i) {
        std::size_t column = 0;
        double value = 0;
        const char* end = read_simple_feature(at, marks, column, value);
        if (*end == ' ' && column < max_features_) [[likely]] {
          add(column, value);
          marks >>= 1;
          at = end + 1;
          continue;
        }
        if (column < max_features_ && ends_word(*end)) {
          add(column, value);
          at = end;
        } else if (i == 0) {
          cursor.move_to(at);
          if (!read_other(cursor, add)) return finish();
          at = cursor.at();
        }
        break;
      }
    }
  }

  // index:value, where both are short and the value has no exponent. Returns its end; if it is not such a feature, the
  // column is `none` and the end is the beginning. `marks` are the non-digits from there on, as far as they are known; they
  // are shifted along.
  const char* read_simple_feature(const char* at, std::uint64_t& marks, std::size_t& column, double& value) const {
    column = std::numeric_limits<std::size_t>::max();
    const auto digits = static_cast<unsigned>(std::countr_zero(marks));
    if (digits - 1 >= 8 || at[digits] != ':') [[unlikely]] return at;
    const char* const number = at + digits + 1;
    const std::uint64_t rest = marks >> digits >> 1;
    const auto whole = static_cast<unsigned>(number[0] ^ '0');
    const auto fraction = static_cast<unsigned>(std::countr_zero(rest >> 2));
    if (whole < 10 && number[1] == '.' && fraction - 1 < 8) [[likely]] {
      const std::uint64_t both = read_digits_twice(at, digits, number + 2, fraction);
      column = static_cast<std::uint32_t>(both) - first_;
      const std::uint64_t mantissa = whole * whole_powers_of_ten[fraction] + (both >> 32);
      value = static_cast<double>(static_cast<std::int64_t>(mantissa)) / powers_of_ten[fraction];
      marks = rest >> 2 >> fraction;
      return number + 2 + fraction;
    }
    const bool negative = *number == '-';
    const char* const first = number + negative;
    const char* end = first;
    value = read_simple(end, rest >> negative);
    if (end == first) return at;
    if (negative) value = -value;
    marks = rest >> (end - number);
    column = static_cast<std::size_t>(read_digits(at, digits)) - first_;
    return end;
  }

  // Anything else; an invalid feature is rejected. False: the row has ended.
  template <class Add>
  bool read_other(Cursor& cursor, const Add& add) {
    if (Cursor::is_space(*cursor)) return cursor.skip_spaces(), true;
    if (ends_row(*cursor)) return false;
    if (*cursor == 'q' && std::strncmp(cursor.at(), "qid:", 4) == 0) {
      while (!ends_word(*cursor)) cursor.next();
      return true;
    }
    const std::size_t column = read_index(cursor, first_, largest_index_);
    const double value = read_number(cursor);
    if (!ends_word(*cursor)) cursor.reject("a space was expected after the value, not " + cursor.word());
    if (column < max_features_)
      add(column, value);
    else
      line_ignored_ += 1;
    return true;
  }

  void select(TextRows& rows) const {
    const auto is_in = [](const std::vector<Range>& ranges, std::size_t column) {
      return std::any_of(ranges.begin(), ranges.end(),
                         [&](const Range& range) { return range.first <= column && column <= range.second; });
    };
    std::size_t kept = 0, j = 0;
    for (std::size_t row = 0; row < rows.count(); ++row) {
      for (const auto end = static_cast<std::size_t>(rows.starts[row + 1]); j < end; ++j) {
        const auto column = static_cast<std::size_t>(rows.columns[j]);
        if ((!keep.empty() && !is_in(keep, column)) || is_in(drop, column)) continue;
        rows.columns.data()[kept] = rows.columns[j];
        rows.values.data()[kept++] = rows.values[j];
      }
      rows.starts.data()[row + 1] = static_cast<std::int64_t>(kept);
    }
    rows.columns.set_size(kept);
    rows.values.set_size(kept);
  }

  std::size_t first_, max_features_, largest_index_;
  std::size_t ignored_ = 0, line_ignored_ = 0;
  std::size_t width_ = 0;  // one more than the largest column of all rows so far
};

}  // namespace hinge
