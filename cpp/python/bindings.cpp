// The Python module: names, arguments, and errors. Only this folder knows Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "engine/batches.hpp"
#include "engine/settings_and_labels.hpp"
#include "engine/single_events.hpp"
#include "engine/text.hpp"
#include "engine/committee.hpp"
#include "engine/views.hpp"
#include "files.hpp"
#include "fleet/module.hpp"
#include "online_scales.hpp"
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
  nb::register_exception_translator(raise_os_error);
  watch_forks();

  EngineClass engine(m, "Engine");
  engine.def("__init__", [](Engine* self, const nb::kwargs& settings) { new (self) Engine(settings_from(settings)); },
             nb::sig("def __init__(self, **settings: object) -> None"), "settings"_a);
  bind_batches(engine);
  bind_single_events(engine);
  bind_settings_and_labels(engine);
  bind_views(engine);
  bind_committee(engine);
  bind_text(engine);
  define_text_part(m);
  define_event_part(m);
  define_online_scales(m);
  define_fleet(m);
  m.def("check_experts", [](const std::string& words) { expert_words(words); }, "words"_a);

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

  bind_files(m);

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

  nb::class_<JsonTextReader> json(m, "JsonTextReader");
  json.def("__init__", [](JsonTextReader* self, std::string label, std::string weight, std::string key, std::vector<std::string> aside,
                          std::vector<std::string> within, std::size_t max_line) {
    JsonMeaning meaning{.label = std::move(label), .weight = std::move(weight), .key = std::move(key), .aside = std::move(aside), .within = std::move(within)};
    meaning.escapes = true;
    new (self) JsonTextReader(JsonText(std::move(meaning), max_line), max_line + 1);  // with the CR of CR LF
  }, nb::kw_only(), "label"_a, "weight"_a, "key"_a = "", "aside"_a, "within"_a, "max_line"_a);
  define_reader(json);

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
  m.def("vote_on", &vote_on, "losses"_a, "prior"_a);
  m.def("shuffle_like_scikit_learn", &shuffle_like_scikit_learn, "order"_a, "seed"_a);
}
