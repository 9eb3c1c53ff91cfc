// From text to a model file without Python: a part of the lines, a file, the other lines by the loaded model.
// tests/core/test_core_alone.py builds and runs it:
//     text_alone (svmlight|vw|hashed) (classification|regression|uniclass) FIRST SECOND MODEL
// learns two files of text and leaves the model, which must equal that of `hinge learn`.
#include <cstdio>
#include <string>
#include <string_view>

#include "../../cpp/model/file.hpp"
#include "../../cpp/text/run.hpp"
#include "../../cpp/text/svmlight.hpp"
#include "../../cpp/text/vw.hpp"

namespace {

using namespace hinge;

void learn(Model& model, std::string_view format, const std::string& path) {
  const Settings& s = model.settings;
  if (format == "svmlight")
    learn_file(model, Svmlight(1, s.max_features, s.ignore_new), path);
  else
    learn_file(model, VowpalText(s.hash_bits, s.max_features, true, s.ignore_new), path);
}

// A line that is invalid is reported with its place; the model is as it was.
bool rejects(Model& model, const std::string& path, const char* text, std::size_t line, std::string_view reason) {
  const OpenFile file(std::fopen(path.c_str(), "wb"));
  std::fputs(text, file.get());
  std::fflush(file.get());
  const std::int64_t rounds = model.learner.statistics.rounds;
  try {
    learn_file(model, Svmlight(1, 100), path);
  } catch (const InputError& error) {
    return error.line == line && error.reason.find(reason) != std::string::npos && model.learner.statistics.rounds == rounds;
  }
  return false;
}

}  // namespace

int main(int, char** arguments) {
  const std::string format = arguments[1], model_path = arguments[5];
  Settings settings;
  settings.task = arguments[2];
  settings.labels = 1;
  settings.fit_intercept = settings.task != "uniclass";
  settings.hash_bits = format == "hashed" ? 10 : 0;
  if (settings.task == "uniclass") {
    settings.radius = 1;
    settings.start_at_first = true;
  }
  Model model(settings);
  learn(model, format, arguments[3]);
  save(model, model_path);
  const std::unique_ptr<Model> resumed = load(model_path);
  learn(model, format, arguments[4]);
  learn(*resumed, format, arguments[4]);
  const auto bytes = [](Model& its) { return file_parts("{}", its.state()).beginning; };  // with the checksum of all
  if (bytes(model) != bytes(*resumed)) return 1;
  save(*resumed, model_path);

  Settings plain;
  plain.labels = 1;
  Model other(plain);
  const std::string path = model_path + ".invalid";
  if (!rejects(other, path, "1 1:1\n-1 2:x\n", 2, "not a number")) return 2;
  if (!rejects(other, path, "1 1:1\n\n-1 2:1e200\n", 3, "overflows")) return 3;
  if (!rejects(other, path, "1 1:1\n2 2:1\n3 3:1\n", none, "two numbers")) return 4;
  if (!other.labels.empty()) return 5;
  std::puts("text becomes a model");
  return 0;
}
