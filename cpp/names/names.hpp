// The names of a model's features, and their columns: a growing vocabulary, or a hash. The strings are owned here.
//
// A name is text (UTF-8) or an integer: columns learned from arrays are named by their numbers. The vocabulary stores
// an integer as a byte that no UTF-8 text contains, followed by eight bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "murmur.hpp"
#include "vocabulary.hpp"

namespace hinge {

// An integer name, as the vocabulary stores it.
class NumberName {
 public:
  explicit NumberName(std::int64_t number) {
    key_[0] = mark;
    std::memcpy(key_.data() + 1, &number, 8);
  }
  std::string_view key() const { return {key_.data(), key_.size()}; }

  static bool is_number(std::string_view key) { return key.size() == 9 && key[0] == mark; }
  static std::int64_t number(std::string_view key) {
    std::int64_t number = 0;
    std::memcpy(&number, key.data() + 1, 8);
    return number;
  }

 private:
  static constexpr char mark = '\xFF';
  std::array<char, 9> key_;
};

// The name for messages: integers unchanged, text in quotes.
inline std::string shown_name(std::string_view key) {
  if (NumberName::is_number(key)) return std::to_string(NumberName::number(key));
  const char quote = key.find('\'') != std::string_view::npos && key.find('"') == std::string_view::npos ? '"' : '\'';
  std::string shown(1, quote);
  for (const char c : key) {
    if (c == quote || c == '\\') shown += '\\';
    shown += c;
  }
  return shown + quote;
}

class Names {
 public:
  // At most `limit` names: further ones are rejected, or with `ignore` skipped and counted.
  Names(std::size_t bits, std::size_t limit, bool ignore) : bits_(bits), limit_(limit), ignore_(ignore) {}

  bool hashing() const { return bits_ > 0; }
  std::size_t columns() const { return bits_ > 0 ? std::size_t{1} << bits_ : vocabulary_.size(); }
  std::size_t limit() const { return limit_; }
  std::string_view key(std::size_t column) const { return vocabulary_.name(column); }
  const Vocabulary& vocabulary() const { return vocabulary_; }

  std::size_t find(std::string_view key) const { return vocabulary_.find(key, Vocabulary::hash_of(key)); }
  // The column of a name, which is added if it is new. `none` if the limit is reached and new names are ignored.
  std::size_t find_or_add(std::string_view key, std::uint32_t hash) {
    const std::size_t column = vocabulary_.find(key, hash);
    if (column != none) return column;
    if (ignore_ && vocabulary_.size() >= limit_) {
      ignored += 1;
      return none;
    }
    return add(key, hash);
  }
  // Adds a name that is known to be new.
  std::size_t add(std::string_view key, std::uint32_t hash) {
    if (vocabulary_.size() >= limit_) {
      InputError error("it is new, and the model already has " + std::to_string(vocabulary_.size()) +
                       " features, its limit (max_features)");
      error.name = std::string(key);
      throw error;
    }
    return vocabulary_.add(key, hash);
  }
  // Adds a name; throws if it exists.
  void add_new(std::string_view key) {
    if (find(key) != none) throw InputError("the feature name " + shown_name(key) + " occurs twice");
    add(key, Vocabulary::hash_of(key));
  }
  // Names the columns below `columns` that have no name by their numbers.
  void number_up_to(std::size_t columns) {
    while (!hashing() && vocabulary_.size() < columns)
      add_new(NumberName(static_cast<std::int64_t>(vocabulary_.size())).key());
  }
  void truncate(std::size_t size) { vocabulary_.truncate(size); }

  // The column and the sign of a hashed name.
  Hashed hash(std::string_view key) const {
    if (!NumberName::is_number(key)) return hashed(key.data(), key.size(), columns());
    const std::string text = std::to_string(NumberName::number(key));
    return hashed(text.data(), text.size(), columns());
  }

  // The end of the run of columns, starting at `from`, that are named by their own numbers.
  std::size_t numbered(std::size_t from = 0) const {
    while (from < vocabulary_.size() && is_numbered(from)) ++from;
    return from;
  }
  // How many names a file must contain: all columns after them are named by their own numbers.
  std::size_t kept() const {
    std::size_t size = vocabulary_.size();
    while (size > 0 && is_numbered(size - 1)) --size;
    return size;
  }
  std::size_t bytes() const { return vocabulary_.bytes(); }

  std::size_t ignored = 0;  // occurrences of new features after the limit was reached

 private:
  bool is_numbered(std::size_t column) const {
    const std::string_view key = vocabulary_.name(column);
    return NumberName::is_number(key) && NumberName::number(key) == static_cast<std::int64_t>(column);
  }

  std::size_t bits_;
  std::size_t limit_;
  bool ignore_;
  Vocabulary vocabulary_;
};

}  // namespace hinge
