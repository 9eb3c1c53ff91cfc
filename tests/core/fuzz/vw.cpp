// Vowpal Wabbit's text: cut anywhere it gives the same, and bad lines leave no names behind.
#include "../../../cpp/text/vw.hpp"

#include "readers.hpp"

using namespace hinge;

const std::vector<std::string> fuzz_seeds = {
    std::string("\0\0", 2) + "1 | a b:2 c:0.5\n-1 2 'tag|n x y:3 |m:0.5 x z\n| a\n",
    std::string("\1\5", 2) + "1,2,3 |a b c|d e\n0 1 tag|f:2 g:-1e-3 g:1\n1 1 0.5 | a\nx | a\n\n1 |n \xc3\xa4:1 \xff\n",
    std::string("\2\7", 2) + "1 2.5 | 2193:0.127756 3955:0.1340548 4379:0.07374913 4820:0.04321972 15888:0.09949403\r\n",
    std::string("\5\3", 2) + "1 | a b c d e f g h i j k l m n o p q r s t\n1 | u\n1 |:2 a\n1 | :3\n1 -1 | a\n1 'a b | c\n1\n",
};
const std::vector<std::string> fuzz_tokens = {
    " ", "\n", "\t", "\r\n", "|", ":", ",", "'", "'tag", " | ", "|n ", "|n:2 ", "a", "b:", ":1", ":0", ":-1", "1e", "1e308", "nan", "^", "n^a", "1 ", "-1 ",
    "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\xa0\x80", "\xff", std::string("\0", 1), "12345678", "0.1234567890123"};

// Two bytes of options, then the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bool skip = data[0] & 1, grow = !(data[0] & 16);
  const std::size_t bits = data[0] & 2 ? 4 : 0, max_features = data[0] & 4 ? 12 : 1 << 24, max_line = data[0] & 8 ? 60 : 1 << 24;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  VowpalText format(bits, max_features, grow);
  EXPECT(format.add_name("a") && format.add_name("n^a") && !format.add_name("a"));
  Outcome whole, cut;
  LineReader<VowpalText> one(format, max_line, skip), other = one;
  read_text(one, text, 0, whole);
  read_text(other, text, 1 + data[1], cut);
  expect_same(whole, cut);
  const VowpalText& result = one.format();
  expect_sound(whole.rows, result.width());
  EXPECT(whole.rows.unseen.size() == (result.counts_unseen() ? whole.rows.count() : 0));

  // Columns ascend, and every name that has one is in some row.
  std::vector<bool> met(result.vocabulary().size());
  for (std::size_t row = 0; row < whole.rows.count(); ++row)
    for (std::int64_t j = whole.rows.starts[row]; j < whole.rows.starts[row + 1]; ++j) {
      const auto at = static_cast<std::size_t>(j);
      EXPECT(j == whole.rows.starts[row] || whole.rows.columns[at] > whole.rows.columns[at - 1]);
      if (bits == 0) met[static_cast<std::size_t>(whole.rows.columns[at])] = true;
    }
  EXPECT(met.size() == other.format().vocabulary().size() && (bits > 0 || met.size() == result.width()));
  EXPECT(met.size() <= max_features && (grow || met.size() == 2));
  for (std::size_t column = 0; column < met.size(); ++column) {
    const std::string_view name = result.vocabulary().name(column);
    EXPECT(column < 2 || met[column]);
    EXPECT(name == other.format().vocabulary().name(column) && is_utf8(name));
    EXPECT(result.vocabulary().find(name, Vocabulary::hash_of(name)) == column);
  }
  return 0;
}
