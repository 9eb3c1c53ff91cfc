// Numbers: each is read as the standard library reads it, to the bit, or refused if it is none.
#include "../../../cpp/text/text.hpp"

#include <cmath>

#include "target.hpp"

using namespace hinge;

const std::vector<std::string> fuzz_seeds = {"1", "-0.5", "12345678.12345678", "0.1234567890123456", "9007199254740993", "1e5", ".5", "5.",
                                             "1.7976931348623157e308", "5e-324", "123456789012345678901234567890e-20", "nan", "1e", "+1"};
const std::vector<std::string> fuzz_tokens = {"0", "9", ".", "-", "+", "e", "E", "e-", "e+", "00000000", "99999999", "1e308", "e-320", " ", ",", "|", ":", "inf", "nan", "0x"};

namespace {

// [+-] digits [. digits] [e [+-] digits], with a digit before or after the point
bool is_number(const std::string& text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - from;
  };
  const auto skip = [&](std::string_view some) { return at < text.size() && some.find(text[at]) != some.npos && ++at; };
  skip("+-");
  std::size_t count = digits();
  if (skip(".")) count += digits();
  if (count == 0) return false;
  if (skip("eE")) {
    skip("+-");
    if (digits() == 0) return false;
  }
  return at == text.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view given(reinterpret_cast<const char*>(data), size);
  std::string text(given.substr(0, std::min(given.find('\n'), size)));
  const std::size_t length = text.size();
  const std::string word = text.substr(0, std::min(text.find_first_not_of("0123456789.eE+-"), length));
  text += '\n';
  text.append(padding, '7');
  const std::unique_ptr<char[]> line = exactly(text);
  Cursor cursor(line.get());
  try {
    const double value = read_number(cursor);
    const std::string read(line.get(), static_cast<std::size_t>(cursor.at() - line.get()));
    const double expected = std::strtod(read.c_str(), nullptr);
    EXPECT(is_number(read));
    EXPECT(std::isfinite(value) && value == expected && std::signbit(value) == std::signbit(expected));
  } catch (const InputError& bad) {
    EXPECT(bad.column == 1);
    EXPECT(!is_number(word) || !std::isfinite(std::strtod(word.c_str(), nullptr)));
  }
  // Runs of 1 to 8 digits, alone and two together.
  for (std::size_t at = 0; at < length; ++at) {
    const auto count = static_cast<unsigned>(std::countr_zero(find_nondigits(line.get() + at)));
    if (count - 1 >= 8) continue;
    const std::uint64_t number = std::stoull(std::string(line.get() + at, count));
    EXPECT(read_digits(line.get() + at, count) == number);
    EXPECT(read_digits_twice(line.get() + at, count, line.get() + at, 1) ==
           (number | static_cast<std::uint64_t>(line[at] - '0') << 32));
    if (at > 200) break;
  }
  return 0;
}
