// The Python module: names, arguments, and errors. Beside it in this folder is all that knows Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "../model/file.hpp"
#include "engine.hpp"
#include "readers.hpp"
#include "sequence_engine.hpp"
#include "settings.hpp"
#include "texts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hinge {
namespace {

void raise_input_error(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const InputError& error) {
    const auto number = [](std::size_t n) { return n == none ? nb::object(nb::none()) : nb::object(nb::int_(n)); };
    const auto* name = std::any_cast<nb::object>(&error.name);
    const auto* key = std::any_cast<std::string>(&error.name);
    const nb::object made = nb::module_::import_("hinge.data.errors").attr("InputError")(
        error.reason, "row"_a = number(error.row), "column"_a = name != nullptr ? *name : key != nullptr ? name_object(*key) : number(error.column),
        "line"_a = number(error.line));
    PyErr_SetObject(made.type().ptr(), made.ptr());
  }
}

// The order in which scikit-learn's SGD visits its rows: a Fisher-Yates shuffle of the given order with its
// xorshift generator. Only for `hinge.compat`, whose results are compared with scikit-learn's.
void shuffle_like_scikit_learn(nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig> order, std::uint32_t seed) {
  std::uint32_t state = seed == 0 ? 1 : seed;
  const auto n = static_cast<std::int64_t>(order.size());
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    const std::int64_t j = i + (state % (0x7FFFFFFFu + 1u)) % (n - i);
    std::swap(order.data()[i], order.data()[j]);
  }
}

}  // namespace
}  // namespace hinge

NB_MODULE(_core, m) {
  using namespace hinge;
  m.doc() = "The native core of hinge: numbers only. Use hinge.Learner.";
  nb::set_leak_warnings(false);  // a model that lives until the interpreter ends is not a leak
  nb::register_exception_translator(raise_input_error);
  watch_forks();

  nb::class_<Engine>(m, "Engine")
      .def("__init__", [](Engine* self, const nb::kwargs& settings) { new (self) Engine(settings_from(settings)); },
           nb::sig("def __init__(self, **settings: object) -> None"), "settings"_a)
      .def(
          "learn_dense",
          [](Engine& self, const Array& X, const std::optional<Array>& y, const std::optional<Classes>& classes,
             const std::optional<Order>& label_starts, const std::optional<Doubles>& weights,
             const std::optional<Order>& order, double tolerance, std::int64_t max_updates,
             std::int64_t first, bool repeats) {
            return self.learn(dense_rows(X), y, classes, label_starts, weights, order, tolerance, max_updates, first,
                              repeats);
          },
          "X"_a, "y"_a.none(), "classes"_a.none() = nb::none(), "label_starts"_a.none() = nb::none(),
          "weights"_a.none() = nb::none(), "order"_a.none() = nb::none(), "tolerance"_a = -1.0,
          "max_updates"_a = INT64_MAX, "first"_a = -1, "repeats"_a = false)
      .def(
          "learn_sparse",
          [](Engine& self, const Array& data, const Array& indices, const Array& indptr, std::size_t width,
             const std::optional<Array>& y, const std::optional<Classes>& classes,
             const std::optional<Order>& label_starts, const std::optional<Doubles>& weights,
             const std::optional<Order>& order, double tolerance, std::int64_t max_updates,
             std::int64_t first, bool repeats, const std::optional<WritableMatrix>& scores, bool averaged) {
            return self.learn(sparse_rows(data, indices, indptr, width), y, classes, label_starts, weights, order,
                              tolerance, max_updates, first, repeats, scores, averaged);
          },
          "data"_a, "indices"_a, "indptr"_a, "width"_a, "y"_a.none(), "classes"_a.none() = nb::none(),
          "label_starts"_a.none() = nb::none(), "weights"_a.none() = nb::none(), "order"_a.none() = nb::none(),
          "tolerance"_a = -1.0, "max_updates"_a = INT64_MAX, "first"_a = -1, "repeats"_a = false,
          "scores"_a.none().noconvert() = nb::none(), "averaged"_a = false)
      .def("learn_dicts", &Engine::learn_dicts, "events"_a, "y"_a.none(),
           "classes"_a.none() = nb::none(), "label_starts"_a.none() = nb::none(),
           "weights"_a.none() = nb::none(), "scores"_a.none().noconvert() = nb::none(), "averaged"_a = false)
      .def("read_dicts", &Engine::read_dicts, "events"_a)
      .def("learn_one", &Engine::learn_one, "x"_a.none(), "target"_a = 0.0, "weight"_a = 1.0, "counts"_a = true)
      .def("name_labels", &Engine::name_labels, "labels"_a.none(), "turned"_a = false)
      .def_prop_ro("labels", &Engine::labels)
      .def("learn_label", &Engine::learn_label, "x"_a.none(), "label"_a.none(), "weight"_a)
      .def("round_label", &Engine::round_label, "x"_a.none(), "label"_a.none(), "weight"_a, "averaged"_a)
      .def("predict_label", &Engine::predict_label, "x"_a.none(), "averaged"_a)
      .def("learn_text", &Engine::learn_text, "text"_a, "grows"_a)
      .def("name_text_columns", &Engine::name_text_columns, "text"_a)
      .def("learn_one_labels", &Engine::learn_one_labels, "x"_a.none(), "labels"_a, "weight"_a = 1.0, "counts"_a = true)
      .def("learn_block", &Engine::learn_block, "names"_a, "values"_a, "target"_a = 0.0,
           "labels"_a.none() = nb::none(), "weight"_a = 1.0)
      .def("score_block", &Engine::score_block, "names"_a, "values"_a, "averaged"_a)
      .def("score_dense", [](Engine& self, const Array& X, bool averaged) { return self.scores(dense_rows(X), averaged); },
           "X"_a, "averaged"_a, nb::sig("def score_dense(self, X: object, averaged: bool) -> object"))
      .def(
          "score_sparse",
          [](Engine& self, const Array& data, const Array& indices, const Array& indptr, std::size_t width, bool averaged,
             const std::optional<Doubles>& unseen) {
            const Rows rows = sparse_rows(data, indices, indptr, width);
            if (unseen && unseen->size() != rows.count()) throw InputError("there must be one unseen length for each row");
            return self.scores(unseen ? rows.with_unseen(unseen->data()) : rows, averaged);
          },
          "data"_a, "indices"_a, "indptr"_a, "width"_a, "averaged"_a, "unseen"_a.none() = nb::none())
      .def("score_one", &Engine::score_one, "x"_a.none(), "averaged"_a)
      .def("scores_one", &Engine::scores_one, "x"_a.none(), "averaged"_a)
      .def("look_up", &Engine::look_up, "x"_a.none(), "lane"_a, "averaged"_a)
      .def("forget", &Engine::forget, "columns"_a)
      .def("name_columns", &Engine::name_columns, "names"_a)
      .def("number_columns", &Engine::number_columns)
      .def("weights", &Engine::weights, "averaged"_a)
      .def("write_weights", &Engine::write_weights, "to"_a, "averaged"_a)
      .def("named_weights", &Engine::named_weights, "averaged"_a)
      .def("extra", &Engine::extra, "lane"_a, "averaged"_a)
      .def("extras", &Engine::extras, "averaged"_a)
      .def("start_at", &Engine::start_at, "w"_a, "extras"_a)
      .def("count_prediction", &Engine::count_prediction, "mistake"_a, "cost"_a)
      .def("change_rule", &Engine::change_rule, "step"_a, "C"_a, "margin"_a, "epsilon"_a,
           "beta"_a = 0.01)
      .def("forget_rows", &Engine::forget_rows)
      .def("count_losses_anew", &Engine::count_losses_anew)
      .def("set_labels", &Engine::set_labels, "count"_a, "nu"_a.none() = nb::none(), "labels"_a.none() = nb::none())
      .def("statistics", &Engine::statistics)
      .def("tracked_radius", &Engine::tracked_radius)
      .def("set_tracked_radius", &Engine::set_tracked_radius, "radius"_a)
      .def("state", &Engine::state)
      .def("restore", &Engine::restore, "state"_a)
      .def("supports", &Engine::supports, "averaged"_a)
      .def_prop_ro("n_support", &Engine::n_support)
      .def_prop_ro("n_examples", &Engine::n_examples)
      .def("uncertainty_dense", [](Engine& self, const Array& X) { return self.uncertainty(dense_rows(X)); }, "X"_a,
           nb::sig("def uncertainty_dense(self, X: object) -> object"))
      .def(
          "uncertainty_sparse",
          [](Engine& self, const Array& data, const Array& indices, const Array& indptr, std::size_t width) {
            return self.uncertainty(sparse_rows(data, indices, indptr, width));
          },
          "data"_a, "indices"_a, "indptr"_a, "width"_a)
      .def("uncertainty_one", &Engine::uncertainty_one, "x"_a.none())
      .def("factors", &Engine::factors)
      .def("names", &Engine::names)
      .def("name_of", &Engine::name_of, "column"_a)
      .def_prop_ro("n_names", &Engine::n_names)
      .def_prop_rw("n_ignored", &Engine::n_ignored, &Engine::count_ignored)
      .def_prop_ro("n_columns", &Engine::n_columns)
      .def("__sizeof__", &Engine::bytes);

  define_text_part(m);

  nb::class_<Sentences>(m, "Sentences")
      .def("__len__", &Sentences::count)
      .def_prop_ro("n_tokens", &Sentences::tokens)
      .def("length", [](const Sentences& self, std::size_t i) {
        if (i >= self.count()) throw nb::index_error();
        return self.length(i);
      }, "sentence"_a);

  nb::class_<SequenceEngine>(m, "SequenceEngine")
      .def("__init__", [](SequenceEngine* self, nb::list labels, const nb::kwargs& settings) {
        new (self) SequenceEngine(settings_from(settings), std::move(labels));
      }, nb::sig("def __init__(self, labels: list, **settings: object) -> None"), "labels"_a, "settings"_a)
      .def("read", &SequenceEngine::read, "sentences"_a, "weights"_a.none() = nb::none())
      .def("learn_read", &SequenceEngine::learn_read, "sentences"_a, "tags"_a, "weights"_a.none() = nb::none(),
           "order"_a.none() = nb::none(), "cost"_a.none() = nb::none())
      .def("learn", &SequenceEngine::learn, "sentences"_a, "tags"_a, "known"_a, "labels"_a,
           "weights"_a.none() = nb::none(), "cost"_a.none() = nb::none())
      .def("tag", &SequenceEngine::tag, "sentences"_a, "averaged"_a)
      .def("score", &SequenceEngine::score, "sentences"_a, "tags"_a.none(), "averaged"_a)
      .def("suffered", &SequenceEngine::suffered, "sentences"_a, "tags"_a, "margin"_a, "additive"_a, "averaged"_a)
      .def("delta", &SequenceEngine::delta)
      .def("transitions", &SequenceEngine::transitions, "averaged"_a)
      .def("emissions", &SequenceEngine::emissions, "averaged"_a)
      .def("look_up", &SequenceEngine::look_up, "token"_a, "averaged"_a)
      .def("change_rule", &SequenceEngine::change_rule, "step"_a, "C"_a, "margin"_a)
      .def("set_labels", &SequenceEngine::set_labels, "labels"_a)
      .def("labels", &SequenceEngine::labels)
      .def("check_free", &SequenceEngine::check_free)
      .def("statistics", &SequenceEngine::statistics)
      .def("name_columns", &SequenceEngine::name_columns, "names"_a)
      .def("names", &SequenceEngine::names)
      .def("state", &SequenceEngine::state)
      .def("restore", &SequenceEngine::restore, "state"_a)
      .def_prop_ro("n_columns", &SequenceEngine::n_columns)
      .def_prop_rw("n_ignored", &SequenceEngine::n_ignored, &SequenceEngine::count_ignored)
      .def_prop_ro("n_tags", &SequenceEngine::n_tags)
      .def("__sizeof__", &SequenceEngine::bytes);

  nb::exception<BadFile>(m, "ModelFileError", PyExc_ValueError);
  // The beginning of a file, and the names of the tensors in the order in which they follow it.
  m.def("file_beginning", [](const std::string& header, const nb::dict& tensors, std::int64_t version) {
    const BorrowedTensors borrowed(tensors);
    const FileParts parts = file_parts(header, borrowed.tensors, version);
    nb::list names;
    for (const auto& [name, tensor] : parts.tensors) names.append(nb::str(name.c_str(), name.size()));
    return nb::make_tuple(nb::bytes(parts.beginning.data(), parts.beginning.size()), names);
  }, "header"_a, "tensors"_a, "version"_a = file_version);
  m.def("begins_like_a_model", [](const nb::bytes& beginning) {
    return begins_like_a_model({beginning.c_str(), beginning.size()});
  }, "beginning"_a);
  // The header (JSON) and the tensors, as arrays of numpy.
  const auto contents = [](const FileContents& contents) {
    return nb::make_tuple(nb::str(contents.header.c_str(), contents.header.size()), views_of<nb::numpy>(contents.tensors));
  };
  m.def("read_model_file", [contents](const nb::bytes& path, const std::string& source) {
    std::optional<FileContents> read;
    {
      const WithoutGil released;
      read = read_file(path.c_str(), source);
    }
    return contents(*read);
  }, "path"_a, "source"_a);
  m.def("read_model", [contents](const nb::bytes& data, const std::string& source) {
    return contents(read_contents(std::vector<char>(data.c_str(), data.c_str() + data.size()), source));
  }, "data"_a, "source"_a);

  nb::class_<SvmlightTextReader> svmlight(m, "SvmlightReader");
  svmlight.def("__init__", [](SvmlightTextReader* self, std::size_t first, std::size_t max_features, std::size_t max_line,
                              bool ignore_new, std::vector<Svmlight::Range> keep, std::vector<Svmlight::Range> drop) {
    Svmlight format(first, max_features, ignore_new);
    format.keep = std::move(keep);
    format.drop = std::move(drop);
    new (self) SvmlightTextReader(std::move(format), max_line);
  }, nb::kw_only(), "first"_a, "max_features"_a, "max_line"_a, "ignore_new"_a = false,
               "keep"_a = std::vector<Svmlight::Range>(), "drop"_a = std::vector<Svmlight::Range>());
  define_reader(svmlight);

  nb::class_<VowpalTextReader> vowpal(m, "VowpalTextReader");
  vowpal.def("__init__", [](VowpalTextReader* self, std::size_t hash_bits, std::size_t max_features, bool grow, std::size_t max_line, bool ignore_new,
                            const std::vector<std::string>& keep, const std::vector<std::string>& drop,
                            const std::vector<std::pair<std::string, std::string>>& interactions) {
    if (hash_bits > 30) throw InputError("hash_bits must be at most 30");
    VowpalText format(hash_bits, max_features, grow, ignore_new);
    for (const std::string& name : keep) format.selection.keep.add(name);
    for (const std::string& name : drop) format.selection.drop.add(name);
    for (const auto& [left, right] : interactions) format.interactions.add(left, right);
    new (self) VowpalTextReader(std::move(format), max_line);
  }, nb::kw_only(), "hash_bits"_a, "max_features"_a, "grow"_a, "max_line"_a, "ignore_new"_a = false,
             "keep"_a = std::vector<std::string>(), "drop"_a = std::vector<std::string>(),
             "interactions"_a = std::vector<std::pair<std::string, std::string>>());
  vowpal.def("add_names", &VowpalTextReader::add_names, "names"_a);
  define_reader(vowpal);

  nb::class_<Texts>(m, "Texts")
      .def("__init__", [](Texts* self, const std::string& analyzer, std::size_t least, std::size_t most, bool lowercase,
                          const std::string& weighting, std::size_t hash_bits, std::size_t max_features) {
        if (hash_bits > 30) throw InputError("hash_bits must be at most 30");
        if (weighting != "binary" && weighting != "tfidf") throw InputError("weighting must be 'binary' or 'tfidf'");
        new (self) Texts(Analyzer(analyzer, least, most, lowercase),
                         weighting == "binary" ? Weighting::binary : Weighting::tfidf, hash_bits, max_features);
      }, nb::kw_only(), "analyzer"_a = "word", "least"_a = 1, "most"_a = 1, "lowercase"_a = true,
         "weighting"_a = "binary", "hash_bits"_a = 0, "max_features"_a = std::size_t{1} << 24)
      .def("terms", &Texts::terms, "text"_a, "prefix"_a = "")
      .def("weighed", &Texts::weighed, "text"_a)
      .def("rows", &Texts::rows, "texts"_a, nb::kw_only(), "grow"_a, "together"_a = false,
           "sample_weight"_a.none() = nb::none())
      .def("begin", &Texts::begin)
      .def("undo", &Texts::undo)
      .def("add_names", &Texts::add_names, "names"_a)
      .def("names", &Texts::names)
      .def("counts", &Texts::counts)
      .def("restore_counts", &Texts::restore_counts, "counts"_a, "texts"_a, "ignored"_a)
      .def_prop_ro("n_texts", &Texts::n_texts)
      .def_prop_ro("n_ignored", &Texts::n_ignored)
      .def_prop_ro("n_columns", &Texts::n_columns);

  m.def("flat", &Records::flat, "record"_a);
  m.def("count_changes", &count_changes, "labels"_a);
  m.def("shuffle_like_scikit_learn", &shuffle_like_scikit_learn, "order"_a, "seed"_a);
}
