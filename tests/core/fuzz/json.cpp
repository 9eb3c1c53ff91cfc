// Lines of JSON: what was read in another line changes nothing, every number is what the standard library reads in its
// place, and a line is either read to its end or rejected.
#include "../../../cpp/text/json_event.hpp"

#include <cmath>

#include "target.hpp"

using namespace hinge;

const std::vector<std::string> fuzz_seeds = {
    std::string("\0", 1) + R"({"label": "a", "x": 1.5, "color": "red", "n": null, "t": true, "l": [1, 2], "s": ["u", "v"], "o": {"p": {"q": 1}}})",
    std::string("\1", 1) + R"({"a": 1, "b": {"c": 2, "c": 3}, "a": {"b": 1, "b": 2}, "a.b": 3})" + "\n" + R"({"a": 1, "b": {"c": 2}})",
    std::string("\3", 1) + R"({"x": {"a\\=b": 1, "é": "\u00e9\ud83d\ude00", "n": [1, null, -2.5e-3, 12345678901234567890]}, "id": "q", "w": 2})",
    std::string("\2", 1) + "{\"a\": [[{}], []], \"label\": [1, \"x\"]}\r\n{\"a\": 0.1234567890123456789, \"b\": 1e400, \"c\": \"\\ud800\"}\n",
};
const std::vector<std::string> fuzz_tokens = {
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\ude00", "\\n", "\"a\": 1, ", "\"a\"", "\"label\": ", "\"x\": {", "\n", "\r\n", " ", "\t",
    "null", "true", "false", "NaN", "-Infinity", "-", "0", ".5", "1e", "e-320", "1e308", "9007199254740993", "00000000", "99999999999999999999",
    "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\xa0\x80", "\xff", std::string("\0", 1), "\x1f", "[[[[[[[[", "{\"a\":{\"a\":"};

namespace {

// All that is said of a line.
std::string told(JsonEvent& event, const std::string& line) {
  const std::unique_ptr<char[]> copy = exactly(line + '\n' + std::string(padding, '"'));
  std::string all;
  const auto add = [&](std::string_view text) { all += std::to_string(text.size()) + ' ' + std::string(text) + ';'; };
  try {
    EXPECT(event.read(copy.get()) == copy.get() + line.size());
    for (const JsonValue& value : {event.label(), event.weight(), event.key()}) {
      add(value.is_there ? std::to_string(static_cast<int>(value.kind)) : "none"), add(value.text), add(value.written);
      EXPECT(value.kind != JsonKind::string || is_utf8(value.text));
    }
    for (const JsonNode& node : event.line().nodes()) {
      EXPECT(node.begin < node.end && node.begin >= copy.get() && node.end <= copy.get() + line.size());
      if (node.is_number()) EXPECT(std::strtod(std::string(node.written()).c_str(), nullptr) == node.number);
    }
    event.for_each_feature([&](std::string_view name, double value) {
      EXPECT(std::isfinite(value) && value != 0 && is_utf8(name));
      add(name), add(std::to_string(value));
    });
  } catch (const InputError& bad) {
    EXPECT(is_utf8(bad.reason) && bad.reason.size() < 400);
    EXPECT(bad.column == none || (bad.column >= 1 && bad.column <= line.size() + 1));
    add(bad.reason), add(std::to_string(bad.column));
  }
  return all;
}

}  // namespace

// A byte of options, then lines.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  JsonMeaning meaning{.label = "label", .weight = "w", .key = "id", .aside = {"b"}, .within = {"x"}};
  meaning.repeated = data[0] & 1 ? Repeated::last : Repeated::rejected;
  meaning.escapes = data[0] & 2;
  JsonEvent event(meaning);
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    JsonEvent fresh(meaning);
    EXPECT(told(event, line) == told(fresh, line));
    at = end + 1;
  }
  return 0;
}
