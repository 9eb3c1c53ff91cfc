// Texts as bags of terms: from Python strings to the rows of a sparse matrix.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../murmur.hpp"
#include "../readers/vocabulary.hpp"
#include "../rows.hpp"
#include "arrays.hpp"

namespace hinge {

// The terms of a text: n-grams of words or of characters. What a letter is, and what it is in lower case, is Python's say.
class Analyzer {
 public:
  // Terms of `least` to `most` words ("word") or characters ("char": of the whole text; "char_wb": within words, with a
  // space at each end). A word has 2 to 100 letters, digits or underscores.
  Analyzer(const std::string& kind, std::size_t least, std::size_t most, bool lowercase)
      : kind_(kind == "word" ? Kind::word : kind == "char" ? Kind::characters : Kind::within_words),
        least_(least),
        most_(most),
        lowercase_(lowercase) {
    if (kind != "word" && kind != "char" && kind != "char_wb")
      throw Refused("analyzer must be 'word', 'char' or 'char_wb', not '" + kind + "'");
    if (least < 1 || most < least) throw Refused("n-grams must have 1 or more words or characters");
  }

  // Calls function(term) for each term, in their order, again if it occurs again. The terms are views of a buffer.
  template <class Function>
  void for_each(nb::handle text, const Function& function) {
    nb::object plain = nb::steal(PyUnicode_FromObject(text.ptr()));  // not of a subclass, whose methods are not known
    if (lowercase_ && !PyUnicode_IS_ASCII(plain.ptr())) {
      plain = nb::steal(PyObject_CallMethod(plain.ptr(), "lower", nullptr));
      if (!plain.is_valid()) throw nb::python_error();
    }
    PyObject* const its = plain.ptr();
    clean_.clear();
    ends_.clear();
    if (kind_ == Kind::word) {
      read_words(its);
      emit(function);
    } else if (kind_ == Kind::characters) {
      read_characters(its);
      emit(function);
    } else {
      read_characters(its);
      emit_within(function);
    }
  }

 private:
  enum class Kind { word, characters, within_words };
  static constexpr std::size_t shortest = 2, longest = 100;  // letters of a word

  // Where a word or a character begins and ends in `clean_`.
  struct Place {
    std::size_t from, to;
  };

  template <class Function>
  void for_each_letter(PyObject* text, const Function& function) const {
    const Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    const int kind = PyUnicode_KIND(text);
    const void* const data = PyUnicode_DATA(text);
    const bool ascii = PyUnicode_IS_ASCII(text);
    for (Py_ssize_t i = 0; i < size; ++i) {
      Py_UCS4 letter = PyUnicode_READ(kind, data, i);
      if (ascii && lowercase_ && letter - 'A' < 26) letter += 'a' - 'A';
      function(letter);
    }
  }
  static bool of_word(Py_UCS4 letter) {
    if (letter < 128) return letter - 'a' < 26 || letter - 'A' < 26 || letter - '0' < 10 || letter == '_';
    return Py_UNICODE_ISALNUM(letter) != 0;
  }
  void put(Py_UCS4 letter) {
    if (letter >= 0xD800 && letter < 0xE000) letter = 0xFFFD;  // half of a pair: not text
    const auto byte = [&](Py_UCS4 value) { clean_ += static_cast<char>(static_cast<unsigned char>(value)); };
    if (letter < 0x80) return byte(letter);
    if (letter < 0x800) return byte(0xC0 | letter >> 6), byte(0x80 | (letter & 0x3F));
    if (letter < 0x10000)
      return byte(0xE0 | letter >> 12), byte(0x80 | (letter >> 6 & 0x3F)), byte(0x80 | (letter & 0x3F));
    byte(0xF0 | letter >> 18), byte(0x80 | (letter >> 12 & 0x3F)), byte(0x80 | (letter >> 6 & 0x3F));
    byte(0x80 | (letter & 0x3F));
  }

  // Words with one space between them.
  void read_words(PyObject* text) {
    std::size_t from = 0, letters = 0;
    const auto end = [&] {
      if (letters >= shortest && letters <= longest) {
        ends_.push_back({from, clean_.size()});
        clean_ += ' ';
      } else {
        clean_.resize(from);
      }
      letters = 0;
    };
    for_each_letter(text, [&](Py_UCS4 letter) {
      if (of_word(letter)) {
        if (letters == 0) from = clean_.size();
        letters += 1;
        put(letter);
      } else if (letters > 0) {
        end();
      }
    });
    if (letters > 0) end();
  }
  // Characters, with one space for each run of white space; within words, one at both ends of the text, too.
  void read_characters(PyObject* text) {
    bool space = false;
    const auto add = [&](Py_UCS4 letter) {
      const std::size_t from = clean_.size();
      put(letter);
      ends_.push_back({from, clean_.size()});
    };
    if (kind_ == Kind::within_words) add(' '), space = true;
    for_each_letter(text, [&](Py_UCS4 letter) {
      const bool is_space = Py_UNICODE_ISSPACE(letter) != 0;
      if (!is_space || !space) add(is_space ? Py_UCS4{' '} : letter);
      space = is_space;
    });
    if (kind_ == Kind::within_words && !space) add(' ');
  }

  std::string_view term(std::size_t first, std::size_t last) const {
    return std::string_view(clean_).substr(ends_[first].from, ends_[last].to - ends_[first].from);
  }
  template <class Function>
  void emit(const Function& function) const {
    for (std::size_t n = least_; n <= most_ && n <= ends_.size(); ++n)
      for (std::size_t i = 0; i + n <= ends_.size(); ++i) function(term(i, i + n - 1));
  }
  // Words with a space at each end: n-grams of each; one that is shorter than n counts once.
  template <class Function>
  void emit_within(const Function& function) const {
    const auto is_space = [&](std::size_t i) { return clean_[ends_[i].from] == ' '; };
    for (std::size_t start = 0; start + 1 < ends_.size();) {
      std::size_t stop = start + 1;
      while (!is_space(stop)) ++stop;
      const std::size_t length = stop - start + 1;
      for (std::size_t n = least_; n <= most_; ++n) {
        if (n >= length) {
          function(term(start, stop));
          break;
        }
        for (std::size_t i = start; i + n <= start + length; ++i) function(term(i, i + n - 1));
      }
      start = stop;
    }
  }

  Kind kind_;
  std::size_t least_, most_;
  bool lowercase_;
  std::string clean_;  // the text in UTF-8, without what is between terms
  std::vector<Place> ends_;
};

// Rows of length 1, or 0 if a text has no terms: each different term of a text has the same value, however often it occurs.
// Terms have columns of a vocabulary that grows, or (bits > 0) by their hash.
class Texts {
 public:
  Texts(Analyzer analyzer, std::size_t bits, std::size_t max_features)
      : analyzer_(std::move(analyzer)), hashed_columns_(bits == 0 ? 0 : std::size_t{1} << bits), limit_(max_features) {}

  // The terms of one text, in their order, with something put before each.
  nb::list terms(nb::handle text, const std::string& prefix) {
    check(text);
    nb::list found;
    std::string name = prefix;
    analyzer_.for_each(text, [&](std::string_view term) {
      name.resize(prefix.size());
      found.append(string(name.append(term)));
    });
    return found;
  }

  // values, columns, starts and the names of new columns. Terms without a column count in the length of their row.
  nb::tuple rows(const nb::list& texts, bool grow) {
    const std::size_t known = vocabulary_.size();
    const std::size_t ignored = ignored_;
    std::vector<double> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> starts{0};
    try {
      for (std::size_t i = 0; i < texts.size(); ++i) {
        check(texts[i], i);
        read(texts[i], grow);
        const Instance x = scratch_.ordered();
        const auto* its_values = static_cast<const double*>(x.values);
        const auto* its_columns = static_cast<const std::int64_t*>(x.columns);
        values.insert(values.end(), its_values, its_values + x.size);
        for (std::size_t j = 0; j < x.size; ++j) columns.push_back(static_cast<std::int32_t>(its_columns[j]));
        starts.push_back(static_cast<std::int64_t>(values.size()));
        if (i % 1024 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
      }
    } catch (...) {
      vocabulary_.truncate(known);
      ignored_ = ignored;
      throw;
    }
    nb::list names;
    for (std::size_t column = known; column < vocabulary_.size(); ++column) names.append(string(vocabulary_.name(column)));
    return nb::make_tuple(numpy_array(std::move(values)), numpy_array(std::move(columns)), numpy_array(std::move(starts)),
                          names);
  }

  void add_names(const nb::list& names) {
    for (nb::handle name : names) {
      Py_ssize_t size = 0;
      const char* bytes = PyUnicode_Check(name.ptr()) ? PyUnicode_AsUTF8AndSize(name.ptr(), &size) : nullptr;
      PyErr_Clear();
      if (bytes == nullptr) throw Refused("the name " + quoted(name) + " is not a term");
      const std::string_view term(bytes, static_cast<std::size_t>(size));
      const std::uint32_t hash = Vocabulary::hash_of(term);
      if (vocabulary_.find(term, hash) != none) throw Refused("the term " + quoted(name) + " occurs twice");
      vocabulary_.add(term, hash);
    }
  }
  nb::list names() const {
    nb::list all;
    for (std::size_t column = 0; column < vocabulary_.size(); ++column) all.append(string(vocabulary_.name(column)));
    return all;
  }
  // Takes back the last columns.
  void forget(std::size_t columns) { vocabulary_.truncate(columns); }
  std::size_t n_columns() const { return hashed_columns_ > 0 ? hashed_columns_ : vocabulary_.size(); }
  // How often a term was left out because it was new, and the vocabulary was full.
  std::size_t n_ignored() const { return ignored_; }

 private:
  static void check(nb::handle text, std::size_t row = none) {
    if (!PyUnicode_Check(text.ptr())) throw Refused("a text must be a string, not " + quoted(text), row);
  }
  static nb::object string(std::string_view term) {
    return nb::steal(PyUnicode_DecodeUTF8(term.data(), static_cast<Py_ssize_t>(term.size()), "replace"));
  }

  // One text into `scratch_`.
  void read(nb::handle text, bool grow) {
    found_.clear();
    bytes_.clear();
    analyzer_.for_each(text, [&](std::string_view term) {
      const std::uint32_t hash = Vocabulary::hash_of(term);
      vocabulary_.ask_for_slot(hash);
      found_.push_back({hash, static_cast<std::uint32_t>(term.size()), bytes_.size()});
      bytes_.append(term);
    });
    scratch_.clear();
    if (hashed_columns_ > 0)
      read_hashed();
    else
      read_named(grow);
  }
  void read_hashed() {
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.hash < b.hash; });
    const auto last =
        std::unique(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.hash == b.hash; });
    found_.erase(last, found_.end());
    const double value = 1 / std::sqrt(static_cast<double>(found_.size()));
    for (const Found& one : found_) {
      const Hashed place = hashed(bytes_.data() + one.from, one.size, hashed_columns_);
      scratch_.add(place.column, place.sign * value);
    }
  }
  // Columns that are repeated are found by when they were seen last, whether or not they stay.
  void read_named(bool grow) {
    for (const Found& one : found_) vocabulary_.ask_for_name(one.hash);
    const std::size_t known = vocabulary_.size(), room = grow ? std::max(limit_, known) : known;
    turn_ += 1;
    columns_.clear();
    std::size_t distinct = 0, left_out = 0;
    for (const Found& one : found_) {
      const std::string_view term(bytes_.data() + one.from, one.size);
      std::size_t column = vocabulary_.find(term, one.hash);
      if (column == none) column = vocabulary_.add(term, one.hash);
      if (column >= seen_.size()) seen_.resize(column + 1 + column / 2, 0);
      if (seen_[column] == turn_) continue;
      seen_[column] = turn_;
      distinct += 1;
      if (column < room)
        columns_.push_back(column);
      else
        left_out += 1;
    }
    if (vocabulary_.size() > room) vocabulary_.truncate(room);
    if (grow) ignored_ += left_out;
    const double value = 1 / std::sqrt(static_cast<double>(distinct));
    for (const std::size_t column : columns_) scratch_.add(column, value);
  }

  struct Found {
    std::uint32_t hash, size;
    std::size_t from;  // in `bytes_`
  };

  Analyzer analyzer_;
  std::size_t hashed_columns_, limit_;
  Vocabulary vocabulary_;
  std::vector<Found> found_;
  std::string bytes_;
  std::vector<std::uint64_t> seen_;  // the text in which each column occurred last
  std::uint64_t turn_ = 0;
  std::vector<std::size_t> columns_;
  std::size_t ignored_ = 0;
  Scratch scratch_;
};

}  // namespace hinge
