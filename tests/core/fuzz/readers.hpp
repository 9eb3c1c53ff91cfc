// Reading text whole and in pieces, and that both come to the same.
#pragma once

#include "../../../cpp/text/lines.hpp"
#include "target.hpp"

// All that a reader says of a text.
struct Outcome {
  hinge::TextRows rows;
  std::vector<std::string> refused;  // line: column: reason
};

inline std::string told(const hinge::InputError& bad) {
  return std::to_string(bad.line) + ": " + std::to_string(bad.column) + ": " + bad.what();
}

// In pieces of up to `largest` bytes (0: all at once).
template <class Format>
void read_text(hinge::LineReader<Format>& reader, std::string_view text, std::size_t largest, Outcome& outcome) {
  std::uint32_t random = 12345 + static_cast<std::uint32_t>(largest);
  try {
    while (!text.empty()) {
      random = random * 1664525 + 1013904223;
      const std::size_t size = largest == 0 ? text.size() : std::min<std::size_t>(text.size(), (random >> 8) % (largest + 1));
      reader.read(exactly(text.substr(0, size)).get(), size, outcome.rows);
      text.remove_prefix(size);
    }
    reader.finish(outcome.rows);
  } catch (const hinge::InputError& bad) {
    outcome.refused.push_back(told(bad));
    EXPECT(reader.take_bad_lines().empty());
  }
  for (const hinge::InputError& bad : reader.take_bad_lines()) outcome.refused.push_back(told(bad));
}

template <class T>
bool same(const hinge::Growing<T>& a, const hinge::Growing<T>& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline void expect_same(const Outcome& a, const Outcome& b) {
  EXPECT(a.refused == b.refused);
  EXPECT(same(a.rows.values, b.rows.values));
  EXPECT(same(a.rows.columns, b.rows.columns));
  EXPECT(same(a.rows.starts, b.rows.starts));
  EXPECT(same(a.rows.labels, b.rows.labels));
  EXPECT(same(a.rows.label_starts, b.rows.label_starts));
  EXPECT(same(a.rows.lines, b.rows.lines));
  EXPECT(same(a.rows.weights, b.rows.weights));
  EXPECT(same(a.rows.unseen, b.rows.unseen));
  EXPECT(a.rows.width == b.rows.width);
}

// What must be true of all rows.
inline void expect_sound(const hinge::TextRows& rows, std::size_t width) {
  const std::size_t count = rows.count();
  EXPECT(rows.starts.size() == count + 1 && rows.label_starts.size() == count + 1);
  EXPECT(rows.starts[0] == 0 && rows.label_starts[0] == 0);
  EXPECT(static_cast<std::size_t>(rows.starts[count]) == rows.values.size());
  EXPECT(static_cast<std::size_t>(rows.label_starts[count]) == rows.labels.size());
  EXPECT(rows.columns.size() == rows.values.size());
  EXPECT(rows.weights.size() == 0 || rows.weights.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT(rows.starts[i] <= rows.starts[i + 1] && rows.label_starts[i] <= rows.label_starts[i + 1]);
    EXPECT(i == 0 || rows.lines[i] > rows.lines[i - 1]);
  }
  for (std::size_t j = 0; j < rows.values.size(); ++j) {
    EXPECT(std::isfinite(rows.values[j]));
    EXPECT(rows.columns[j] >= 0 && static_cast<std::size_t>(rows.columns[j]) < width);
  }
}
