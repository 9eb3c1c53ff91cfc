// A fleet without Python: lines of JSON, changes that are written while it learns, and copies. tests/core/test_fleet_alone.py
// builds and runs it.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "../../cpp/fleet/changes/apply.hpp"
#include "../../cpp/fleet/changes/writer.hpp"
#include "../../cpp/fleet/ingest.hpp"

namespace {

using namespace hinge;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

FleetOptions options_of(bool shared, double memory) {
  FleetOptions options;
  options.settings.task = "classification";
  options.settings.step = "pa1";
  options.settings.average_from = 1;
  options.shared = shared;
  options.max_keys = 4000;
  options.at_max_keys = WhenFull::evict;
  options.memory = memory;
  return options;
}

struct Ignore {
  void operator()(std::size_t, const FleetScores&) {}
};
void learn(Fleet& fleet, const std::string& lines) {
  JsonMeaning meaning;
  meaning.key = "key", meaning.label = "label";
  JsonBatch batch(fleet, meaning, 1 << 20);
  batch.read(lines);
  Ignore ignore;
  fleet.learn_many(batch.size(), batch, true, ignore, [] {});
}

// Lines that are learned, or of which the last one is invalid.
std::string some_lines(std::mt19937_64& random, std::size_t count, bool invalid) {
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    lines += "{\"key\": \"user " + std::to_string(random() % 4500) + "\", \"label\": \"" + "bacd"[random() % 4] + "\"";
    const std::size_t first = random() % 300;
    for (std::size_t j = 0; j < 30; ++j)
      lines += ", \"f" + std::to_string((first + 7 * j) % 300) + "\": " + std::to_string(random() % 100 + 1);
    lines += "}\n";
  }
  return invalid ? lines + "{\"key\": \"user 1\", \"label\": \"a\", \"x\": 1e300}\n" : lines;
}

void change(Fleet& fleet, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0: {
      const auto user = static_cast<std::uint32_t>(random() % fleet.keys.slots());
      if (fleet.keys.exists(user)) fleet.remove(user);
      return;
    }
    case 1:
      try {
        learn(fleet, some_lines(random, 20, true));
      } catch (const InputError&) {
        return;
      }
      check(false, "an invalid line was learned");
      return;
    default: learn(fleet, some_lines(random, 50, false));
  }
}

// All changes since a moment. With `random`, the fleet learns between two pieces.
std::string written(Fleet& fleet, std::uint64_t since, std::mt19937_64* random = nullptr) {
  std::string all;
  ChangesWriter writer(fleet, since, "{}", ChangesWriter::room_for(fleet));
  std::size_t pieces = 0;
  for (bool more = true; more; ++pieces) {
    more = writer.next(all);
    for (int i = 0; random != nullptr && i < 5; ++i) change(fleet, *random);
  }
  check(since > 0 || pieces > 5, "there are several pieces");
  return all;
}

bool take(Fleet& fleet, const std::string& bytes) {
  const char* at = bytes.data();
  ChunkReader reader([&at](char* to, std::size_t size) { std::memcpy(to, at, size), at += size; }, bytes.size(), "the bytes");
  ChangesApplier applier(fleet, read_head(reader));
  return applier.apply(reader, [] {});
}

void check_fleet(bool shared, double memory) {
  std::mt19937_64 random(shared ? 1 : 2);
  Fleet fleet(options_of(shared, memory));
  for (int i = 0; i < 30; ++i) learn(fleet, some_lines(random, 500, false));
  check(fleet.keys.size() == 4000, "the fleet is full");
  check((fleet.keys.cold() > 0) == (memory < 1e9), "some keys are on disk");

  const std::string before = written(fleet, 0);
  const std::uint64_t clock = fleet.clock;
  const std::string meanwhile = written(fleet, 0, &random);
  check(fleet.clock > clock, "it has learned meanwhile");
  check(before == meanwhile, "a snapshot is of one moment");

  Fleet copy(options_of(shared, memory));
  check(take(copy, meanwhile), "the changes are new");
  check(!take(copy, before), "they are not new twice");
  check(copy.clock == clock, "the copy is of that moment");
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t until = fleet.clock;
    const std::string changes = written(fleet, copy.clock, &random);
    check(take(copy, changes) && copy.clock == until, "the copy follows");
  }
  take(copy, written(fleet, copy.clock));
  check(written(copy, 0) == written(fleet, 0), "the copy is the same fleet");
}

}  // namespace

int main() {
  for (const bool shared : {true, false})
    for (const double memory : {HUGE_VAL, 2e6}) check_fleet(shared, memory);
  std::puts("a fleet without Python: fine");
}
