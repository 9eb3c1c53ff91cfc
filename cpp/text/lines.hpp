// Text in pieces that end anywhere, to whole lines: what the readers of all formats share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text.hpp"

namespace hinge {

// A format reads into a `Text`, which has end_row(line) and drop_row(), and has these functions:
//     expect(size, rows)            lines of `size` bytes, newlines included, are about to be read
//     read_line(line, rows, empty)  one line into `rows`, which ends no row; returns its newline; may throw InputError
//     keep_line(), forget_line()    keeps or takes back what else the line has left behind
template <class Format>
class LineReader {
 public:
  using Text = typename Format::Text;

  // Lines longer than `max_line` bytes are rejected. `skip`: invalid lines are left out, and kept for `take_bad_lines`.
  LineReader(Format format, std::size_t max_line, bool skip)
      : format_(std::move(format)), max_line_(max_line), skip_(skip) {}

  // Reads all lines that end in these bytes into `rows`; what is left waits for more.
  void read(const char* data, std::size_t size, Text& rows) {
    const std::size_t before = lines_;
    try {
      read_piece(data, size, rows);
    } catch (const InputError&) {  // nothing after it will be read: count it
      const std::string_view text(data, size);
      const auto newlines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
      unread_ = newlines - std::min(newlines, lines_ - before);
      const std::size_t last = text.rfind('\n');
      pending_.assign(text, last == text.npos ? 0 : last + 1);
      throw;
    }
  }
  // The lines after an invalid one that ended the reading, and the bytes of an incomplete last line.
  std::size_t unread_lines() const { return unread_; }
  std::size_t unread_bytes() const { return pending_.size(); }
  // The last line, if nothing ends it.
  void finish(Text& rows) {
    if (pending_.empty()) return;
    pending_ += '\n';
    read_pending(rows);
  }
  // The next bytes are the first of another file.
  void restart(bool skip) {
    pending_.clear();
    take_bad_lines();
    lines_ = unread_ = 0;
    dropping_ = false;
    skip_ = skip;
  }

  std::size_t lines() const { return lines_; }
  // Whether so many lines are invalid, or they are so long, that they should be taken.
  bool has_many_bad_lines() const { return bad_lines_.size() >= 1000 || bad_bytes_ >= 1 << 20; }
  std::vector<InputError> take_bad_lines() {
    bad_bytes_ = 0;
    return std::exchange(bad_lines_, {});
  }
  Format& format() { return format_; }

 private:
  void read_piece(const char* data, std::size_t size, Text& rows) {
    const std::string_view text(data, size);
    std::size_t at = 0;
    if (dropping_ || !pending_.empty()) {
      const std::size_t newline = text.find('\n');
      at = newline == text.npos ? size : newline + 1;
      if (!dropping_) pending_.append(text, 0, at);
      if (newline == text.npos) return check_pending(rows);
      if (!std::exchange(dropping_, false)) read_pending(rows);
    }
    // In place, as far as there is enough behind the newline; the last lines from a copy.
    if (size - at > padding) {
      const std::size_t last = text.rfind('\n', size - padding - 1);
      if (last != text.npos && last >= at) {
        read_lines(data + at, data + last + 1, rows);
        at = last + 1;
      }
    }
    pending_.assign(text, at);
    read_pending(rows);
    check_pending(rows);
  }
  // The lines of `pending_` that have ended; the rest stays.
  void read_pending(Text& rows) {
    const std::size_t last = pending_.rfind('\n');
    if (last == std::string::npos) return;
    std::string text = std::exchange(pending_, {});
    pending_.assign(text, last + 1);
    text.resize(last + 1);
    text.append(padding, '\0');
    read_lines(text.data(), text.data() + last + 1, rows);
  }
  // A line that is too long is not kept until it ends.
  void check_pending(Text& rows) {
    if (pending_.size() <= max_line_ || dropping_) return;
    pending_.clear();
    lines_ += 1;
    meet(too_long(), rows);
    dropping_ = true;
  }

  // `end` is behind a newline; `padding` bytes behind it can be read.
  void read_lines(const char* at, const char* end, Text& rows) {
    format_.expect(static_cast<std::size_t>(end - at), rows);
    while (at < end) {
      lines_ += 1;
      const char* newline = nullptr;
      try {
        bool empty = false;
        newline = format_.read_line(at, rows, empty);
        if (static_cast<std::size_t>(newline - at) > max_line_) throw too_long();
        if (!empty) rows.end_row(lines_);
        format_.keep_line();
      } catch (const InputError& bad) {
        newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
        const bool is_long = static_cast<std::size_t>(newline - at) > max_line_;
        meet(is_long ? too_long() : bad, rows);
      }
      at = newline + 1;
    }
  }
  void meet(InputError bad, Text& rows) {
    rows.drop_row();
    format_.forget_line();
    bad.line = lines_;
    if (!skip_) throw bad;
    bad_bytes_ += bad.text.size();
    bad_lines_.push_back(std::move(bad));
  }
  InputError too_long() const {
    return InputError("the line is longer than " + std::to_string(max_line_) + " bytes (max_line)", none, max_line_ + 1);
  }

  Format format_;
  std::size_t max_line_;
  bool skip_;
  std::string pending_;    // the beginning of a line
  bool dropping_ = false;  // its beginning was too long: the rest is left out
  std::size_t lines_ = 0, unread_ = 0;
  std::vector<InputError> bad_lines_;
  std::size_t bad_bytes_ = 0;
};

}  // namespace hinge
