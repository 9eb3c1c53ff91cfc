// A fuzzer for where there is no libFuzzer: it keeps the inputs that reach something new, and changes them.
//     target SECONDS [SEED]      looks for inputs that fail; one that does is written to failing-SEED, beside the program
//     target FILE                runs that one input
// The target is compiled with -fsanitize-coverage=trace-pc, which calls __sanitizer_cov_trace_pc at every branch; this
// file is not.
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <random>

#include "target.hpp"

namespace {

constexpr std::size_t places = 1 << 16;
std::array<std::uint8_t, places> hits;   // of this run, for each step from branch to branch
std::array<std::uint8_t, places> known;  // of all runs: how often, as one bit for 1, 2, 3, 4 to 7, ...
std::uintptr_t previous = 0;

std::string input, failing_path;

// Called when a sanitizer or a check ends the program.
void write_input() {
  std::ofstream(failing_path, std::ios::binary) << input;
  std::fprintf(stderr, "\nthe input that failed is in %s\n", failing_path.c_str());
}
void too_slow(int) {
  std::fputs("more than ten seconds for one input\n", stderr);
  std::abort();
}

void run(const std::string& text) {
  input = text;
  previous = 0;
  alarm(10);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

// Whether the last run reached something for the first time, or more often than before.
bool is_new() {
  bool found = false;
  for (std::size_t i = 0; i < places; i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, &hits[i], 8);
    if (eight == 0) continue;
    for (std::size_t j = i; j < i + 8; ++j) {
      const unsigned count = hits[j];
      if (count == 0) continue;
      const int bucket = count < 4 ? static_cast<int>(count) - 1 : count < 8 ? 3 : count < 16 ? 4 : count < 32 ? 5 : count < 128 ? 6 : 7;
      found = found || !(known[j] & 1 << bucket);
      known[j] = static_cast<std::uint8_t>(known[j] | 1 << bucket);
    }
  }
  hits.fill(0);
  return found;
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  std::string changed(const std::vector<std::string>& corpus) {
    std::string text = corpus[below(corpus.size())];
    for (std::size_t i = 0, times = 1 + below(5); i < times; ++i) change(text, corpus);
    if (text.size() > 1500) text.resize(1500);
    return text;
  }

 private:
  void change(std::string& text, const std::vector<std::string>& corpus) {
    const std::size_t at = below(text.size() + 1), size = std::min(below(20), text.size() - at);
    const std::string& other = corpus[below(corpus.size())];
    switch (below(9)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 1 << below(8));
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 2:
        text.erase(at, size);
        break;
      case 3:
        text.insert(below(text.size() + 1), text.substr(at, size));
        break;
      case 4:
        text = text.substr(0, at) + other.substr(std::min(other.size(), below(other.size() + 1)));
        break;
      case 5:
        if (at < text.size()) text[at] = static_cast<char>('0' + below(10));
        break;
      case 6:  // many of them
        for (std::size_t i = 0, times = below(40); i < times; ++i) text.insert(at, token());
        break;
      default:
        text.insert(at, token());
    }
  }
  const std::string& token() { return fuzz_tokens[below(fuzz_tokens.size())]; }

  std::mt19937 random_;
};

void fuzz(double seconds, unsigned seed) {
  using Clock = std::chrono::steady_clock;
  Mutator mutator(seed);
  std::vector<std::string> corpus;
  for (const std::string& text : fuzz_seeds) {
    run(text);
    is_new();
    corpus.push_back(text);
  }
  const auto begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::size_t runs = 0;
  for (; runs % 64 != 0 || passed() < seconds; ++runs) {
    const std::string text = mutator.changed(corpus);
    run(text);
    if (is_new()) corpus.push_back(text);
  }
  const auto reached = std::count_if(known.begin(), known.end(), [](std::uint8_t bits) { return bits != 0; });
  std::printf("no findings: %zu runs in %.0f s (%.0f a second), %zu inputs that found something new, %td steps between branches, seed %u\n",
              runs, passed(), static_cast<double>(runs) / passed(), corpus.size(), reached, seed);
}

}  // namespace

extern "C" void __sanitizer_cov_trace_pc() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  std::uint8_t& hit = hits[(here ^ previous * 31) * 0x9E3779B97F4A7C15u >> 48];
  hit = static_cast<std::uint8_t>(hit + (hit < 255));
  previous = here;
}
// Checks abort: with a trace, as all that the sanitizers find.
extern "C" const char* __asan_default_options() { return "handle_abort=1:quarantine_size_mb=8:malloc_context_size=8"; }
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }

int main(int count, char** arguments) {
  if (count < 2) return std::fputs("how many seconds, or which file?\n", stderr), 2;
  char* end = nullptr;
  const double seconds = std::strtod(arguments[1], &end);
  signal(SIGALRM, too_slow);
  if (*end != '\0') {
    std::ifstream file(arguments[1], std::ios::binary);
    run({std::istreambuf_iterator<char>(file), {}});
    return std::puts("it does not fail"), 0;
  }
  const unsigned seed = count > 2 ? static_cast<unsigned>(std::stoul(arguments[2])) : std::random_device()();
  failing_path = std::string(arguments[0]) + ".failing-" + std::to_string(seed);
  __sanitizer_set_death_callback(write_input);
  fuzz(seconds, seed);
  return 0;
}
