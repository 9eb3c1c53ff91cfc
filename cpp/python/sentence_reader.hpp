// Sentences of Python: lists of tokens, or arrays with one row per token, read into columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "../names/names.hpp"
#include "../sequence/sentences.hpp"
#include "arrays.hpp"
#include "events.hpp"

namespace hinge {

class SentenceReader {
 public:
  explicit SentenceReader(Names& names) : names_(names) {}

  // Sentences without weight teach nothing, not even new names.
  Sentences read(const nb::list& sentences, bool grow, const std::optional<Doubles>& weights = std::nullopt) {
    if (weights && weights->size() != sentences.size()) throw InputError("there must be one weight for each sentence");
    Sentences read;
    Features features;
    const std::size_t count = sentences.size();
    for (std::size_t i = 0; i < count; ++i) {
      try {
        const nb::object sentence = sentences[i];  // held: a value may run Python
        read_sentence(sentence, grow && (!weights || weights->data()[i] != 0), features, read);
      } catch (InputError& error) {
        error.row = i;
        throw;
      }
      if (sentences.size() != count) throw InputError("X changed while it was read");
    }
    return read;
  }

  // Strings are features of value 1; a dict has names and values.
  template <class Function>
  static void for_each_feature(nb::handle token, const Function& function) {
    if (PyDict_Check(token.ptr())) return Records::for_each(token, function);
    if (!PyList_Check(token.ptr()) && !PyTuple_Check(token.ptr()))
      throw InputError("a token must be a list of strings or a dict of features, not " + quoted(token));
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(token.ptr());
    for (Py_ssize_t j = 0; j < size; ++j) {
      if (PySequence_Fast_GET_SIZE(token.ptr()) != size) throw InputError("the token changed while it was read");
      PyObject* name = PySequence_Fast_GET_ITEM(token.ptr(), j);
      if (!PyUnicode_Check(name)) throw InputError("feature " + std::to_string(j) + " is " + quoted(name) + ", not a string");
      function(nb::handle(name), 1.0);
    }
  }

 private:
  // The features of the token that is read. (Not the engine's: a value may run Python, and so another thread.)
  struct Features {
    std::vector<nb::object> names;
    std::vector<double> values;
  };

  void read_sentence(nb::handle sentence, bool grow, Features& features, Sentences& to) {
    if (PyList_Check(sentence.ptr()) || PyTuple_Check(sentence.ptr())) {
      const Py_ssize_t length = PySequence_Fast_GET_SIZE(sentence.ptr());
      for (Py_ssize_t i = 0; i < length; ++i) {
        if (PySequence_Fast_GET_SIZE(sentence.ptr()) != length) throw InputError("the sentence changed while it was read");
        const nb::object token = nb::borrow(PySequence_Fast_GET_ITEM(sentence.ptr(), i));
        try {
          read_token(token, grow, features, to);
        } catch (InputError& error) {
          error.reason = "token " + std::to_string(i) + ": " + error.reason;
          throw;
        }
        to.end_token();
      }
    } else if (nb::hasattr(sentence, "indptr")) {
      const auto part = [&](const char* name) { return nb::cast<Array>(sentence.attr(name)); };
      const auto shape = nb::cast<nb::tuple>(sentence.attr("shape"));
      if (shape.size() != 2) throw InputError("an array of tokens must have two dimensions");
      const Array data = part("data"), indices = part("indices"), indptr = part("indptr");
      read_rows(sparse_rows(data, indices, indptr, nb::cast<std::size_t>(shape[1])), grow, to);
    } else if (nb::ndarray_check(sentence)) {
      const auto array = nb::cast<Array>(sentence);
      read_rows(dense_rows(array), grow, to);
    } else {
      throw InputError("a sentence must be a list of tokens, or an array with a row for each, not " +
                    nb::cast<std::string>(sentence.type().attr("__name__")));
    }
    to.end_sentence();
  }

  void read_token(nb::handle token, bool grow, Features& features, Sentences& to) {
    double squares = 0;
    features.names.clear();
    features.values.clear();
    for_each_feature(token, [&](nb::handle name, double value) {
      squares += value * value;
      features.names.push_back(Records::plain_name(name));
      features.values.push_back(value);
    });
    if (!std::isfinite(squares)) throw InputError("the values are too large: the sum of their squares overflows float64");
    const double* value = features.values.data();
    look_up_all(names_, features.names, grow, [&](std::size_t column, double sign) {
      if (column != none) to.add(column, sign * *value);
      ++value;
    });
  }

  // The columns of arrays are named by their numbers.
  void read_rows(const Rows& rows, bool grow, Sentences& to) {
    if (names_.hashing()) throw InputError("arrays cannot be hashed (hash_bits): give lists or dicts of features");
    const std::size_t width = rows.width(), named = names_.columns();
    numbered_ = names_.numbered(std::min(numbered_, named));
    if (numbered_ < named) throw InputError("the features of this model have names: give lists or dicts of features");
    if (named > 0 && width != named)
      throw InputError("the array has " + std::to_string(width) + " columns, the model has " + std::to_string(named) + " features");
    for (std::size_t j = named; grow && j < width; ++j) names_.add_new(NumberName(static_cast<std::int64_t>(j)).key());
    Instance x = rows.blank();
    for (std::size_t i = 0; i < rows.count(); ++i) {
      rows.take(i, x);
      double squares = 0;
      visit(x, [&](const auto& features) {
        for (std::size_t j = 0; j < x.size; ++j) {
          read_value(i, features.column(j), features.value(j), width, to);
          squares += features.value(j) * features.value(j);
        }
      });
      if (!std::isfinite(squares))
        throw InputError("token " + std::to_string(i) +
                      ": the values are too large: the sum of their squares overflows float64");
      to.end_token();
    }
  }
  void read_value(std::size_t token, std::size_t column, double value, std::size_t width, Sentences& to) const {
    if (column >= width || !std::isfinite(value * value)) [[unlikely]] {
      const std::string where = "token " + std::to_string(token);
      if (column >= width)
        throw InputError(where + ": column index " + std::to_string(static_cast<std::int64_t>(column)) +
                      " is outside of the " + std::to_string(width) + " columns");
      throw InputError(where + ": the value is " +
                           (std::isnan(value)   ? "NaN"
                            : std::isinf(value) ? "infinity (inf)"
                                                : "too large: its square overflows float64"),
                       none, column);
    }
    if (value != 0 && column < names_.columns()) to.add(column, value);
  }

  Names& names_;
  std::size_t numbered_ = 0;  // names that are known to be the numbers of their columns
};

}  // namespace hinge
