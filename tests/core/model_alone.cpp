// A model without Python: it learns events with names and labels, is saved, loaded, and resumes bit-identically.
// tests/core/test_core_alone.py builds and runs it, with the path of a file to write.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "../../cpp/model/file.hpp"

namespace {

using namespace hinge;
using Event = std::vector<std::pair<std::string, double>>;

const std::vector<std::pair<Event, std::size_t>> stream = {
    {{{"money", 3}, {"free", 1}}, 0},       {{{"meeting", 1}, {"monday", 0.5}}, 1}, {{{"money", 1}, {"report", 2}}, 2},
    {{{"Grüße", 1.25}, {"meeting", 2}}, 1}, {{{"free", 0.75}, {"\"\\\n", 1}}, 0},   {{{"monday", 3}, {"money", -1}}, 2}};

void learn(Model& model, const Event& event, std::size_t label) {
  Scratch scratch;
  for (const auto& [name, value] : event) {
    const std::size_t column = model.names.find_or_add(name, Vocabulary::hash_of(name));
    if (column != none) scratch.add(column, value);
  }
  model.learner.memory().resize(model.names.columns());
  model.learner.learn_one(scratch.ordered(), Truth{static_cast<double>(label)}, 1);
}

bool same(Model& one, Model& other) {
  const Tensors a = one.state(), b = other.state();
  const FileParts x = file_parts("{}", a), y = file_parts("{}", b);
  return x.beginning == y.beginning;  // it has the checksum of all bytes
}

// Half of the stream, then a file, then the other half by both.
int check(Settings settings, const std::string& path) {
  settings.labels = 3;
  settings.fit_intercept = true;
  Model model(settings);
  model.labels = {Label("spam"), Label("ham"), Label(std::int64_t{7})};
  for (std::size_t i = 0; i < 3; ++i) learn(model, stream[i].first, stream[i].second);
  save(model, path);
  const std::unique_ptr<Model> loaded = load(path);
  Model& again = *loaded;
  if (again.labels != model.labels || again.names.key(0) != "money" || !same(model, again)) return 1;
  for (std::size_t i = 3; i < stream.size(); ++i) {
    learn(model, stream[i].first, stream[i].second);
    learn(again, stream[i].first, stream[i].second);
  }
  if (model.learner.statistics.updates < 4 || !same(model, again)) return 2;
  save(again, path);  // over the old one
  const std::unique_ptr<Model> third = load(path);
  if (third->names.columns() != 7 || !same(model, *third)) return 3;
  return 0;
}

// Each byte of the file matters.
int check_damage(const std::string& path) {
  const OpenFile file(std::fopen(path.c_str(), "rb"));
  std::vector<char> bytes(1 << 20);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::vector<char> damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    try {
      read_contents(std::move(damaged), path);
      return 4;
    } catch (const BadFile&) {
    }
  }
  return 0;
}

}  // namespace

int main(int, char** arguments) {
  const std::string path = arguments[1];
  Settings plain, averaged, diagonal, kernel;
  averaged.average_from = 1;
  averaged.single = true;
  diagonal.geometry = "diagonal";
  diagonal.step = "pa2";
  kernel.kernel = "rbf";
  kernel.has_budget = true;
  kernel.budget = 3;
  kernel.max_cache = 1e6;
  int kind = 0;
  for (const Settings& settings : {plain, averaged, diagonal, kernel}) {
    if (const int failed = check(settings, path)) return 10 * kind + failed;
    kind += 1;
  }
  if (const int failed = check_damage(path)) return failed;
  std::puts("a saved model resumes");
  return 0;
}
