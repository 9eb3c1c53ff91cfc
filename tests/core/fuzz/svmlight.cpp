// svmlight's format: cut anywhere it gives the same, and every feature is what the standard library reads in its place.
#include "../../../cpp/text/svmlight.hpp"

#include "readers.hpp"

using namespace hinge;

const std::vector<std::string> fuzz_seeds = {
    std::string("\0\0", 2) + "1 1:0.5 3:2 # a comment\n-1 2:1\n+1 3:1.5\n",
    std::string("\1\5", 2) + "1,5,7 3:1\n 2:1\n4\n# nothing\n\n-2.5e0 qid:3 1:2 qid:4 2:.5#c\nqid:1 1:1",
    std::string("\2\7", 2) + "-1 2193:0.127756 3955:0.1340548 4379:0.07374913 4820:0.04321972 15888:0.09949403 251:12\r\n1 1:1\r\n",
    std::string("\7\3", 2) + "0 0:1 1:1e5 2:-3 3:+4 12345678:0.1234567890123456 9:12345678.12345678 7:9007199254740993\n1e 1:1e999\n",
};
const std::vector<std::string> fuzz_tokens = {
    " ", "\n", "\t", "\r\n", "#", ":", ",", ".", "-", "+", "e", "E", "qid:", "nan", "inf", "0x1", "1:", " 1:1", " 2:0.5", "1e", "0.",
    "00000000", "12345678", "99999999999999999999", "9007199254740993", "1e308", "1e-320", std::string("\0", 1), "\xff", "|"};

namespace {

// The features of a line that was accepted, slowly.
void expect_features(std::string line, std::size_t first, const TextRows& rows, std::size_t row) {
  line = line.substr(0, std::min(line.find('#'), line.size()));
  std::size_t at = 0, j = static_cast<std::size_t>(rows.starts[row]);
  while ((at = line.find_first_not_of(" \t\r", at)) != line.npos) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size()), colon = line.find(':', at);
    if (colon < end && line.compare(at, 4, "qid:") != 0) {
      EXPECT(j < static_cast<std::size_t>(rows.starts[row + 1]));
      EXPECT(std::strtoull(line.c_str() + at, nullptr, 10) - first == static_cast<std::size_t>(rows.columns[j]));
      EXPECT(std::strtod(line.c_str() + colon + 1, nullptr) == rows.values[j]);
      j += 1;
    }
    at = end;
  }
  EXPECT(j == static_cast<std::size_t>(rows.starts[row + 1]));
}

}  // namespace

// Two bytes of options, then the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bool skip = data[0] & 1, zero_based = data[0] & 2;
  const std::size_t first = zero_based ? 0 : 1, max_features = data[0] & 4 ? 50 : 1 << 24, max_line = data[0] & 8 ? 60 : 1 << 24;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  Outcome whole, cut;
  LineReader<Svmlight> one(Svmlight(first, max_features), max_line, skip), other = one;
  read_text(one, text, 0, whole);
  read_text(other, text, 1 + data[1], cut);
  expect_same(whole, cut);
  EXPECT(!whole.refused.empty() || one.lines() == other.lines());
  expect_sound(whole.rows, whole.rows.width);
  EXPECT(whole.rows.width <= max_features);
  std::size_t line = 0, row = 0;
  for (std::size_t at = 0; row < whole.rows.count(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (static_cast<std::size_t>(whole.rows.lines[row]) == line + 1)
      expect_features(std::string(text.substr(at, end - at)), first, whole.rows, row), row += 1;
    at = end + 1;
  }
  return 0;
}
