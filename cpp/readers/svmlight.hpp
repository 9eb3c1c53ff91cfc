// Text in svmlight's format, as it comes, to rows:
//     labels [qid:n] index:value index:value ... [# comment]
// Labels are numbers, none, one or several with commas between them. Blank lines and comments are no rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "text.hpp"

namespace hinge {

// Rows as they were read: a CSR matrix, and the labels of row i from label_starts[i] to [i + 1].
struct TextRows {
  std::vector<double> values, labels;
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> starts{0}, label_starts{0};
  std::size_t width = 0;  // one more than the largest column

  std::size_t count() const { return starts.size() - 1; }
};

class SvmlightReader {
 public:
  // Indices count from `first`, 0 or 1. More than `max_features` of them, and lines longer than `max_line` bytes, are
  // refused. `skip`: bad lines are left out, counted, and the first of them kept.
  SvmlightReader(std::size_t first, std::size_t max_features, std::size_t max_line, bool skip)
      : first_(first),
        max_features_(std::min<std::size_t>(max_features, std::numeric_limits<std::int32_t>::max())),
        max_line_(max_line),
        skip_(skip) {}

  // The rows of all lines that end in these bytes; what is left waits for more.
  TextRows read(const char* data, std::size_t size) {
    TextRows rows;
    rows.values.reserve(expected_);
    rows.columns.reserve(expected_);
    const char* const end = data + size;
    const char* at = data;
    if (!pending_.empty()) {
      const char* newline = find_newline(at, end);
      pending_.append(at, newline == nullptr ? end : newline);
      if (newline == nullptr) return check_pending(), rows;
      read_padded(std::exchange(pending_, {}), rows);
      at = newline + 1;
    }
    // A number is read eight bytes at a time: the last lines are read from a copy with room behind it.
    while (const char* newline = find_newline(at, end)) {
      if (end - newline > padding)
        read_line(at, newline, rows);
      else
        read_padded(std::string(at, newline), rows);
      at = newline + 1;
    }
    pending_.assign(at, end);
    check_pending();
    expected_ = std::max(expected_, rows.values.size() + rows.values.size() / 16);
    return rows;
  }
  // The last line, if nothing ends it.
  TextRows finish() {
    TextRows rows;
    if (!pending_.empty()) read_padded(std::exchange(pending_, {}), rows);
    return rows;
  }

  std::size_t lines() const { return lines_; }
  std::size_t skipped() const { return skipped_; }
  const std::vector<BadLine>& bad_lines() const { return bad_lines_; }

 private:
  static constexpr std::ptrdiff_t padding = 16;
  static constexpr std::size_t most_bad_lines = 10;

  static const char* find_newline(const char* at, const char* end) {
    return static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
  }
  void check_pending() {
    if (pending_.size() <= max_line_) return;
    BadLine bad(max_line_ + 1, "the line is longer than " + std::to_string(max_line_) + " bytes (max_line)");
    bad.line = lines_ + 1;
    throw bad;  // nothing can be skipped: nobody knows where it ends
  }
  void read_padded(std::string line, TextRows& rows) {
    const std::size_t size = line.size();
    line += '\n';
    line.append(static_cast<std::size_t>(padding), '\0');
    read_line(line.data(), line.data() + size, rows);
  }

  // One line, up to its newline.
  void read_line(const char* line, const char* newline, TextRows& rows) {
    lines_ += 1;
    const std::size_t values = rows.values.size(), labels = rows.labels.size();
    try {
      Cursor cursor(line);
      if (static_cast<std::size_t>(newline - line) > max_line_)
        throw BadLine(max_line_ + 1, "the line is longer than " + std::to_string(max_line_) + " bytes (max_line)");
      cursor.skip_spaces();
      if (cursor.ended() || *cursor == '#') return;
      read_labels(cursor, rows);
      read_features(cursor, rows);
      rows.starts.push_back(static_cast<std::int64_t>(rows.values.size()));
      rows.label_starts.push_back(static_cast<std::int64_t>(rows.labels.size()));
    } catch (BadLine& bad) {
      bad.line = lines_;
      rows.values.resize(values);
      rows.columns.resize(values);
      rows.labels.resize(labels);
      if (!skip_) throw;
      skipped_ += 1;
      if (bad_lines_.size() < most_bad_lines) bad_lines_.push_back(bad);
    }
  }

  static bool ends_word(char c) { return c == '\n' || c == '#' || Cursor::is_space(c); }

  static void read_labels(Cursor& cursor, TextRows& rows) {
    if (cursor.at()[0] == 'q' || *cursor.end_of_word() == ':') return;  // it begins with a feature: no label
    for (;;) {
      rows.labels.push_back(read_number(cursor));
      if (*cursor != ',') break;
      cursor.next();
    }
    if (!ends_word(*cursor)) cursor.refuse("a space was expected after the label, not " + cursor.word());
  }

  void read_features(Cursor& cursor, TextRows& rows) const {
    for (;;) {
      cursor.skip_spaces();
      if (cursor.ended() || *cursor == '#') return;
      if (*cursor == 'q' && std::strncmp(cursor.at(), "qid:", 4) == 0) {
        while (!ends_word(*cursor)) cursor.next();
        continue;
      }
      const std::size_t column = read_index(cursor, first_, max_features_);
      const double value = read_number(cursor);
      if (!ends_word(*cursor)) cursor.refuse("a space was expected after the value, not " + cursor.word());
      rows.columns.push_back(static_cast<std::int32_t>(column));
      rows.values.push_back(value);
      rows.width = std::max(rows.width, column + 1);
    }
  }

  std::size_t first_, max_features_, max_line_;
  bool skip_;
  std::string pending_;  // the beginning of a line
  std::size_t lines_ = 0, skipped_ = 0;
  std::size_t expected_ = 0;  // values, of the next bytes
  std::vector<BadLine> bad_lines_;
};

}  // namespace hinge
