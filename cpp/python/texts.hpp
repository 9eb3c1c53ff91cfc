// Texts as bags of terms: from Python strings to the rows of a sparse matrix.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../names/murmur.hpp"
#include "../text/document_counts.hpp"
#include "../names/vocabulary.hpp"
#include "../data/rows.hpp"
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
      throw InputError("analyzer must be 'word', 'char' or 'char_wb', not '" + kind + "'");
    if (least < 1 || most < least) throw InputError("n-grams must have 1 or more words or characters");
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

// How the terms of a text are weighed: all the same, however often one occurs; or by 1 + log of how often it occurs, times
// the inverse document frequency (document_counts.hpp).
enum class Weighting { binary, tfidf };

// Rows of length 1, or 0 if a text has no terms. Terms have columns of a vocabulary that grows, or (bits > 0) by their
// hash. Terms without a column count in the length of their row.
class Texts {
 public:
  Texts(Analyzer analyzer, Weighting weighting, std::size_t bits, std::size_t max_features)
      : analyzer_(std::move(analyzer)),
        weighting_(weighting),
        hashed_columns_(bits == 0 ? 0 : std::size_t{1} << bits),
        limit_(max_features) {}

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
  // The terms of one text with their values in its row. (Where two share a column, their values add up there.)
  nb::dict weighed(nb::handle text) {
    check(text);
    read(text, false);
    const double scale = weigh(terms_.data(), terms_.size());
    nb::dict found;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const Found& one = found_[terms_[i].found];
      found[string({bytes_.data() + one.from, one.size})] = weights_[i] * scale;
    }
    return found;
  }

  // values, columns, starts and the names of new columns. `grow`: terms may be new, and each text is weighed by the texts
  // before it and then counted; `together`: all are counted before the first is weighed. A text of weight 0 is not counted.
  nb::tuple rows(const nb::list& texts, bool grow, bool together, const std::optional<Doubles>& sample_weight) {
    if (sample_weight && sample_weight->size() != texts.size()) throw InputError("one weight per text was expected");
    const std::size_t known = vocabulary_.size();
    Rows made;
    std::vector<Term> kept;  // the terms of all texts
    std::vector<std::size_t> ends;
    try {
      for (std::size_t i = 0; i < texts.size(); ++i) {
        check(texts[i], i);
        read(texts[i], grow);
        if (together) {
          kept.insert(kept.end(), terms_.begin(), terms_.end());
          ends.push_back(kept.size());
        } else {
          made.add(row_of(terms_.data(), terms_.size()));
        }
        if (grow && !(sample_weight && sample_weight->data()[i] == 0)) count();
        if (i % 1024 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
      }
    } catch (...) {
      if (grow) undo();
      throw;
    }
    for (std::size_t i = 0, from = 0; i < ends.size(); from = ends[i++])
      made.add(row_of(kept.data() + from, ends[i] - from));
    if (together) begin(), counts_.commit();
    nb::list names;
    for (std::size_t column = known; column < vocabulary_.size(); ++column) names.append(string(vocabulary_.name(column)));
    return nb::make_tuple(numpy_array(std::move(made.values)), numpy_array(std::move(made.columns)),
                          numpy_array(std::move(made.starts)), names);
  }
  // `undo` takes back what `rows` have changed since the last `begin`.
  void begin() {
    known_before_ = vocabulary_.size();
    ignored_before_ = ignored_;
    counts_.begin();
  }
  void undo() {
    vocabulary_.truncate(std::min(known_before_, vocabulary_.size()));
    ignored_ = ignored_before_;
    counts_.undo();
  }

  void add_names(const nb::list& names) {
    for (nb::handle name : names) {
      Py_ssize_t size = 0;
      const char* bytes = PyUnicode_Check(name.ptr()) ? PyUnicode_AsUTF8AndSize(name.ptr(), &size) : nullptr;
      PyErr_Clear();
      if (bytes == nullptr) throw InputError("the name " + quoted(name) + " is not a term");
      const std::string_view term(bytes, static_cast<std::size_t>(size));
      const std::uint32_t hash = Vocabulary::hash_of(term);
      if (vocabulary_.find(term, hash) != none) throw InputError("the term " + quoted(name) + " occurs twice");
      vocabulary_.add(term, hash);
    }
    begin();
  }
  nb::list names() const {
    nb::list all;
    for (std::size_t column = 0; column < vocabulary_.size(); ++column) all.append(string(vocabulary_.name(column)));
    return all;
  }
  // In how many texts the term of each column occurred (none if terms weigh the same), how many texts there were, and how
  // often a term was left out.
  nb::tuple counts() const {
    std::vector<std::int64_t> all(weighting_ == Weighting::tfidf ? n_columns() : 0);
    for (std::size_t column = 0; column < all.size(); ++column) all[column] = counts_.of(column);
    return nb::make_tuple(numpy_array(std::move(all)), counts_.texts(), ignored_);
  }
  // After `add_names`.
  void restore_counts(const Order& counts, std::int64_t texts, std::size_t ignored) {
    if (counts.size() != (weighting_ == Weighting::tfidf ? n_columns() : 0))
      throw InputError("there are " + std::to_string(counts.size()) + " document frequencies for " +
                    std::to_string(n_columns()) + " columns");
    std::vector<std::int64_t> all(counts.data(), counts.data() + counts.size());
    const bool within = std::all_of(all.begin(), all.end(), [&](std::int64_t one) { return one >= 0 && one <= texts; });
    if (texts < 0 || texts > std::int64_t{1} << 53 || !within)
      throw InputError("the document frequencies are not between 0 and the number of texts, " + std::to_string(texts));
    counts_.restore(texts, std::move(all));
    ignored_ = ignored;
    begin();
  }
  std::size_t n_columns() const { return hashed_columns_ > 0 ? hashed_columns_ : vocabulary_.size(); }
  // How often a term was left out because it was new, and the vocabulary was full.
  std::size_t n_ignored() const { return ignored_; }
  std::int64_t n_texts() const { return counts_.texts(); }

 private:
  static constexpr std::uint32_t no_column = 0xFFFFFFFF;

  struct Found {
    std::uint32_t hash, size;
    std::size_t from;  // in `bytes_`
  };
  // A different term of a text.
  struct Term {
    std::uint32_t column;
    std::int32_t times;  // how often; less than 0 if its sign is -1
    std::uint32_t found;
  };
  struct Rows {
    std::vector<double> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> starts{0};

    void add(const Instance& x) {
      const auto* its_values = static_cast<const double*>(x.values);
      const auto* its_columns = static_cast<const std::int64_t*>(x.columns);
      values.insert(values.end(), its_values, its_values + x.size);
      for (std::size_t j = 0; j < x.size; ++j) columns.push_back(static_cast<std::int32_t>(its_columns[j]));
      starts.push_back(static_cast<std::int64_t>(values.size()));
    }
  };

  static void check(nb::handle text, std::size_t row = none) {
    if (!PyUnicode_Check(text.ptr())) throw InputError("a text must be a string, not " + quoted(text), row);
  }
  static nb::object string(std::string_view term) {
    return nb::steal(PyUnicode_DecodeUTF8(term.data(), static_cast<Py_ssize_t>(term.size()), "replace"));
  }

  // The different terms of one text, into `terms_`.
  void read(nb::handle text, bool grow) {
    found_.clear();
    bytes_.clear();
    terms_.clear();
    analyzer_.for_each(text, [&](std::string_view term) {
      const std::uint32_t hash = hashed_columns_ > 0 ? murmur3(term.data(), term.size()) : Vocabulary::hash_of(term);
      vocabulary_.prefetch_slot(hash);
      found_.push_back({hash, static_cast<std::uint32_t>(term.size()), bytes_.size()});
      bytes_.append(term);
    });
    if (hashed_columns_ > 0)
      read_hashed();
    else
      read_named(grow);
  }
  // In the order of their columns.
  void read_hashed() {
    keys_.clear();
    for (const Found& one : found_) {
      const std::uint64_t column = hashed(one.hash, hashed_columns_).column;
      keys_.push_back({column << 32 | one.hash, static_cast<std::uint32_t>(keys_.size())});
    }
    std::sort(keys_.begin(), keys_.end());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const Hashed place = hashed(static_cast<std::uint32_t>(keys_[i].first), hashed_columns_);
      const std::int32_t sign = place.sign < 0 ? -1 : 1;
      if (i > 0 && keys_[i].first == keys_[i - 1].first)
        terms_.back().times += sign;
      else
        terms_.push_back({static_cast<std::uint32_t>(place.column), sign, keys_[i].second});
    }
  }
  // Columns that are repeated are found by when they were seen last, whether or not they stay.
  void read_named(bool grow) {
    for (const Found& one : found_) vocabulary_.prefetch_name(one.hash);
    const std::size_t known = vocabulary_.size(), room = grow ? std::max(limit_, known) : known;
    turn_ += 1;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const Found& one = found_[i];
      const std::string_view term(bytes_.data() + one.from, one.size);
      std::size_t column = vocabulary_.find(term, one.hash);
      if (column == none) column = vocabulary_.add(term, one.hash);
      if (column >= seen_.size()) seen_.resize(column + 1 + column / 2);
      Seen& seen = seen_[column];
      if (seen.turn == turn_) {
        terms_[seen.place].times += 1;
        continue;
      }
      seen = {turn_, terms_.size()};
      const bool stays = column < room;
      if (!stays && grow) ignored_ += 1;
      terms_.push_back({stays ? static_cast<std::uint32_t>(column) : no_column, 1, static_cast<std::uint32_t>(i)});
    }
    if (vocabulary_.size() > room) vocabulary_.truncate(room);
  }

  // Counts the text whose terms are in `terms_`. (Terms with the same column follow each other.)
  void count() {
    if (weighting_ == Weighting::binary) return;
    counts_.count_text();
    std::uint32_t last = no_column;
    for (const Term& term : terms_) {
      if (term.column != last && term.column != no_column) counts_.count_column(term.column);
      last = term.column;
    }
  }
  // Weights into `weights_`. Returns what makes a row of length 1 of them.
  double weigh(const Term* terms, std::size_t size) {
    weights_.clear();
    double squares = 0;
    for (std::size_t i = 0; i < size; ++i) {
      double weight = 1;
      if (weighting_ == Weighting::tfidf)
        weight = DocumentCounts::weight_of_repeats(std::abs(terms[i].times)) * counts_.weight(terms[i].column);
      weights_.push_back(weight);
      squares += weight * weight;
    }
    return 1 / std::sqrt(squares);
  }
  Instance row_of(const Term* terms, std::size_t size) {
    const double scale = weigh(terms, size);
    scratch_.clear();
    for (std::size_t i = 0; i < size; ++i)
      if (terms[i].column != no_column)
        scratch_.add(terms[i].column, (terms[i].times < 0 ? -scale : scale) * weights_[i]);
    return scratch_.ordered();
  }

  struct Seen {
    std::uint64_t turn = 0;  // the text in which a column occurred last
    std::size_t place = 0;   // in its `terms_`
  };

  Analyzer analyzer_;
  Weighting weighting_;
  std::size_t hashed_columns_, limit_;
  Vocabulary vocabulary_;
  DocumentCounts counts_;
  std::size_t ignored_ = 0, known_before_ = 0, ignored_before_ = 0;

  // Of the text that is being read.
  std::vector<Found> found_;
  std::string bytes_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keys_;
  std::vector<Seen> seen_;
  std::uint64_t turn_ = 0;
  std::vector<Term> terms_;
  std::vector<double> weights_;
  Scratch scratch_;
};

}  // namespace hinge
