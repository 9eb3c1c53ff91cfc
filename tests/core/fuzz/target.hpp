// What a fuzz target is: it reads any bytes, and aborts if something is wrong. libFuzzer runs it where clang is; elsewhere
// driver.cpp does, which also wants to know what the format looks like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern const std::vector<std::string> fuzz_seeds;   // inputs to begin with
extern const std::vector<std::string> fuzz_tokens;  // what is worth putting anywhere

#define EXPECT(condition)                                                                \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);       \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

// The same bytes in memory that ends where they end, so that reading on is noticed.
inline std::unique_ptr<char[]> exactly(std::string_view text) {
  std::unique_ptr<char[]> copy(new char[text.size()]);
  if (!text.empty()) std::memcpy(copy.get(), text.data(), text.size());
  return copy;
}
