// Lines of JSON as events, without Python. tests/core/test_json_events.py builds and runs it:
//     json_alone checks              what is in here
//     json_alone LABEL WEIGHT KEY [last] [escapes]
// reads lines and prints for each the fields with a meaning and the features, or why it is rejected.
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <iostream>
#include <string>

#include "../../cpp/text/json_event.hpp"

namespace {

using namespace hinge;

std::string padded(std::string line) { return line += '\n' + std::string(padding, '"'); }
std::string hex(std::string_view text) {
  std::string shown;
  char two[3];
  for (const char c : text) std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c)), shown += two;
  return shown;
}

// name=value; ... of all features, or what is wrong and where.
std::string features(JsonEvent& event, const std::string& text) {
  const std::string line = padded(text);
  std::string found;
  try {
    if (event.read(line.data()) != line.data() + text.size()) return "another end";
    event.for_each_feature([&](std::string_view name, double value) {
      found += std::string(name) + ' ' + std::to_string(value) + "; ";
    });
  } catch (const InputError& error) {
    const auto* name = std::any_cast<std::string>(&error.name);
    return (error.column == none ? "" : std::to_string(error.column) + ": ") + (name == nullptr ? "" : *name + ": ") + error.what();
  }
  return found;
}

#define CHECK(condition) \
  if (!(condition)) return std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition), false

bool reads_events() {
  JsonEvent event({.label = "y", .weight = "w", .key = "who", .aside = {"id"}, .within = {"x"}, .escapes = true});
  const std::string whole = R"({"y": "spam", "a": 1.5, "b=c": 2, "w": 2e0, "s": "\u00e9\n", "l": [1, null, 3], "o": {"p": {"q": true}}, "who": 17, "id": 4})";
  for (int time = 0; time < 2; ++time)
    CHECK(features(event, whole) == "a 1.500000; b\\=c 2.000000; s=\xc3\xa9\n 1.000000; l[0] 1.000000; l[2] 3.000000; o.p.q 1.000000; ");
  const std::string line = padded(whole);
  event.read(line.data());
  CHECK(event.label().kind == JsonKind::string && event.label().text == "spam");
  CHECK(event.weight().kind == JsonKind::real && event.weight().number == 2 && event.weight().written == "2e0");
  CHECK(event.key().integer() == 17);
  CHECK(features(event, R"({"x": {"a": 1, "y": 2}, "z": 3})") == "a 1.000000; y 2.000000; ");
  CHECK(!event.label().is_there && event.label().is_missing() && !event.key().integer());
  CHECK(features(event, "{}").empty());
  return true;
}
// A field that is repeated is found whether or not its line is as an earlier one, and however often names collide.
bool finds_repeated_fields() {
  JsonEvent strict({}), last({.repeated = Repeated::last});
  const std::string plain = R"({"a": 1, "b": {"a": 2, "c": 3}, "c": 4})";
  for (int time = 0; time < 3; ++time) {
    CHECK(features(strict, plain) == "a 1.000000; b.a 2.000000; b.c 3.000000; c 4.000000; ");
    CHECK(features(strict, R"({"a": 1, "b": {"a": 2, "a": 3}})") == "24: the field \"a\" occurs 2 times");
    CHECK(features(strict, R"({"a": 1, "c": {"a": 2, "c": 3}, "a": 4, "a": 5})") == "41: the field \"a\" occurs 3 times");
    CHECK(features(strict, R"({"c": 1, "b": {"c": 2, "a": 3}})") == "c 1.000000; b.c 2.000000; b.a 3.000000; ");
    CHECK(features(last, R"({"a": {"b": 1}, "c": 2, "a": [5], "d": 6, "a": {"e": 3}})") == "a.e 3.000000; c 2.000000; d 6.000000; ");
  }
  return true;
}
bool has_limits() {
  JsonEvent event({});
  const std::size_t many = 100'000;
  CHECK(features(event, std::string(many, '[')) == "objects and lists are nested too deep");
  std::string deep;
  for (std::size_t i = 0; i < many; ++i) deep += "{\"a\":";
  CHECK(features(event, deep) == "objects and lists are nested too deep");
  std::string wide = "{\"" + std::string(many, 'n') + "\": {";
  for (std::size_t i = 0; i < many; ++i) wide += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":1";
  CHECK(features(event, wide + "}}").find("more than 2^28 bytes") != std::string::npos);
  return true;
}

void show(const char* what, const JsonValue& value) {
  static constexpr const char* kinds[] = {"null", "false", "true", "integer", "real", "string", "list", "object"};
  const std::string_view shown = value.kind == JsonKind::string ? value.text : value.written;
  std::printf(" %s:%s:%s", what, value.is_there ? kinds[static_cast<int>(value.kind)] : "none", hex(shown).c_str());
}
void show_lines(JsonEvent& event) {
  for (std::string text; std::getline(std::cin, text);) {
    const std::string line = padded(text);
    std::string found;
    try {
      event.read(line.data());
      event.for_each_feature([&](std::string_view name, double value) {
        char bits[20];
        std::snprintf(bits, sizeof bits, "=%016" PRIx64, std::bit_cast<std::uint64_t>(value));
        found += ' ' + hex(name) + bits;
      });
      std::printf("read");
      show("label", event.label()), show("weight", event.weight()), show("key", event.key());
      std::printf("%s\n", found.c_str());
    } catch (const InputError& error) {
      const auto* name = std::any_cast<std::string>(&error.name);
      std::printf("rejected %s %s\n", hex(name == nullptr ? "" : *name).c_str(), hex(error.what()).c_str());
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return reads_events() && finds_repeated_fields() && has_limits() ? std::puts("lines become events"), 0 : 1;
  JsonMeaning meaning{.label = arguments[1], .weight = arguments[2], .key = arguments[3]};
  for (int i = 4; i < count; ++i) {
    if (std::string_view(arguments[i]) == "last") meaning.repeated = Repeated::last;
    if (std::string_view(arguments[i]) == "escapes") meaning.escapes = true;
  }
  JsonEvent event(std::move(meaning));
  show_lines(event);
  return 0;
}
