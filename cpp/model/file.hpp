// A model as one safetensors file: tensors, and metadata with a JSON header. It contains no code.
//
// The file consists of the length of the description in 8 bytes, the description, and the tensors, one after the other.
// The description begins with the SHA-256 of the whole file (computed with zeros in place of the digest), so a
// truncated, altered or foreign file is rejected. Tensors with a single number are stored as JSON in the metadata.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../files/open_file.hpp"
#include "../files/sha256.hpp"
#include "../files/whole_file.hpp"
#include "json.hpp"
#include "model.hpp"

namespace hinge {

// The file is not a model, is damaged, or has another version.
class BadFile : public std::exception {
 public:
  explicit BadFile(std::string why) : why_(std::move(why)) {}
  const char* what() const noexcept override { return why_.c_str(); }

 private:
  std::string why_;
};

inline constexpr std::string_view file_format = "hinge-model";
inline constexpr std::int64_t file_version = 4;
inline constexpr std::string_view before_digest = "{\"__metadata__\":{\"checksum\":\"";
inline constexpr std::size_t digest_at = 8 + before_digest.size(), digest_end = digest_at + 64;

// ---- writing ----

// The bytes of a file: its beginning, and the tensors that follow, in file order.
struct FileParts {
  std::string beginning;
  std::vector<std::pair<std::string, Tensor>> tensors;
};

// Files are little-endian: on other machines this returns a copy with the bytes of each number reversed.
inline Tensor little_endian(const Tensor& tensor) {
  if constexpr (std::endian::native == std::endian::little) return tensor;
  const std::size_t each = info(tensor.type).bytes;
  const auto* from = static_cast<const char*>(tensor.data);
  auto turned = std::make_shared<std::vector<char>>(from, from + tensor.bytes());
  for (std::size_t i = 0; i < turned->size(); i += each) std::reverse(turned->data() + i, turned->data() + i + each);
  return {tensor.type, tensor.shape, turned->data(), turned};
}

inline bool is_single_number(const Tensor& tensor) {
  return tensor.shape.empty() && (tensor.type == Type::f64 || tensor.type == Type::i64);
}
inline std::string numbers_text(const Tensors& tensors) {
  std::string text = "{";
  for (const auto& [name, tensor] : tensors.all) {
    if (!is_single_number(tensor)) continue;
    if (text.size() > 1) text += ',';
    append_json(text, name);
    text += ':';
    if (tensor.type == Type::f64) append_json(text, *static_cast<const double*>(tensor.data));
    else append_json(text, *static_cast<const std::int64_t*>(tensor.data));
  }
  return text + "}";
}

// `header` is JSON.
inline FileParts file_parts(std::string_view header, const Tensors& tensors, std::int64_t version = file_version) {
  FileParts parts;
  for (const auto& [name, tensor] : tensors.all)
    if (!is_single_number(tensor)) parts.tensors.emplace_back(name, little_endian(tensor));
  std::stable_sort(parts.tensors.begin(), parts.tensors.end(),
                   [](const auto& a, const auto& b) { return a.second.type < b.second.type; });
  std::string text(before_digest);
  text.append(64, '0').append("\",\"format\":");
  append_json(text, file_format);
  text += ",\"version\":\"" + std::to_string(version) + "\",\"header\":";
  append_json(text, header);
  text += ",\"numbers\":";
  append_json(text, numbers_text(tensors));
  text += '}';
  std::size_t end = 0;
  for (const auto& [name, tensor] : parts.tensors) {
    text += ',';
    append_json(text, name);
    text += std::string(":{\"dtype\":\"") + info(tensor.type).name + "\",\"shape\":";
    append_json(text, tensor.shape);
    text += ",\"data_offsets\":";
    append_json(text, std::vector<std::size_t>{end, end + tensor.bytes()});
    text += '}';
    end += tensor.bytes();
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  for (int shift = 0; shift < 64; shift += 8) parts.beginning += static_cast<char>(text.size() >> shift & 0xFFu);
  parts.beginning += text;
  Sha256 sha;
  sha.update(parts.beginning.data(), parts.beginning.size());
  for (const auto& [name, tensor] : parts.tensors) sha.update(tensor.data, tensor.bytes());
  parts.beginning.replace(digest_at, 64, sha.digest());
  return parts;
}

// Calls write(data, size) for each piece of a file.
template <class Write>
void write_parts(const FileParts& parts, const Write& write) {
  write(parts.beginning.data(), parts.beginning.size());
  for (const auto& [name, tensor] : parts.tensors) write(tensor.data, tensor.bytes());
}
inline void save(const std::string& path, std::string_view header, const Tensors& tensors,
                 WholeFile::Interrupted interrupted = nullptr) {
  const FileParts parts = file_parts(header, tensors);
  WholeFile file(path, std::move(interrupted));
  write_parts(parts, [&](const void* data, std::size_t size) { file.write(data, size); });
  file.finish();
}
inline void save(Model& model, const std::string& path) { save(path, "{\"kind\":\"core\"}", model.state()); }

// ---- reading ----

struct FileContents {
  std::string header;  // JSON
  Tensors tensors;     // they share ownership of the bytes of the file
};

inline const std::string& metadata(const Json& description, const char* name) {
  const Json* all = description.find("__metadata__");
  const Json* found = all == nullptr ? nullptr : all->find(name);
  if (found == nullptr || found->as<std::string>() == nullptr) throw InputError("its metadata have no " + std::string(name));
  return *found->as<std::string>();
}

inline std::size_t whole_number(const Json& json) {
  const auto* number = json.as<std::int64_t>();
  if (number == nullptr || *number < 0) throw InputError("a number in the description is not a nonnegative integer");
  return static_cast<std::size_t>(*number);
}

// The tensors of a description, which must be contiguous.
inline Tensors described_tensors(const Json::Object& description, const std::shared_ptr<const std::vector<char>>& file,
                                 std::size_t from) {
  Tensors tensors;
  std::size_t end = 0;
  const std::size_t size = file->size() - from;
  for (const auto& [name, entry] : description) {
    if (name == "__metadata__") continue;
    const Json *type = entry.find("dtype"), *shape = entry.find("shape"), *offsets = entry.find("data_offsets");
    const auto *dims = shape ? shape->as<Json::Array>() : nullptr, *places = offsets ? offsets->as<Json::Array>() : nullptr;
    const auto* type_name = type ? type->as<std::string>() : nullptr;
    if (dims == nullptr || places == nullptr || places->size() != 2 || type_name == nullptr)
      throw InputError("the description of the tensor " + name + " is invalid");
    Tensor tensor;
    std::size_t kind = 0;
    while (kind < std::size(types) && *type_name != types[kind].name) ++kind;
    if (kind == std::size(types)) throw InputError("the tensor " + name + " has an unknown type");
    tensor.type = static_cast<Type>(kind);
    std::size_t bytes = types[kind].bytes;
    for (const Json& each : *dims) {
      tensor.shape.push_back(whole_number(each));
      if (tensor.shape.back() > 0 && bytes > size / tensor.shape.back()) throw InputError("the tensor " + name + " is not in the file");
      bytes *= tensor.shape.back();
    }
    const std::size_t start = whole_number((*places)[0]), after = whole_number((*places)[1]);
    if (start != end || after != start + bytes || start % types[kind].bytes != 0 || after > size)
      throw InputError("the offsets of the tensor " + name + " are invalid");
    tensor.data = file->data() + from + start;
    tensor.owner = file;
    if (!tensors.all.emplace(name, little_endian(tensor)).second) throw InputError("the tensor " + name + " occurs twice");
    end = after;
  }
  if (end != size) throw InputError("some bytes belong to no tensor");
  return tensors;
}

inline void add_numbers(const std::string& text, Tensors& to) {
  const Json json = JsonReader(text).read();
  const auto* numbers = json.as<Json::Object>();
  if (numbers == nullptr) throw InputError("its numbers are not a JSON object");
  for (const auto& [name, value] : *numbers) {
    if (to.has(name)) throw InputError("the number " + name + " occurs twice");
    if (const auto* whole = value.as<std::int64_t>()) to.put_single(name, *whole);
    else if (const auto* real = value.as<double>()) to.put_single(name, *real);
    else throw InputError("the number " + name + " is not a number");
  }
}

inline bool begins_like_a_model(std::string_view beginning) {
  return beginning.size() >= digest_end && beginning.substr(8, before_digest.size()) == before_digest;
}

// `source` names the file in messages.
inline FileContents read_contents(std::vector<char> bytes, const std::string& source) {
  const auto file = std::make_shared<const std::vector<char>>(std::move(bytes));
  const std::string_view all(file->data(), file->size());
  if (!begins_like_a_model(all)) throw BadFile(source + " is not a hinge model, or its beginning is damaged");
  Sha256 sha;
  sha.update(all.data(), digest_at);
  sha.update(std::string(64, '0').data(), 64);
  sha.update(all.data() + digest_end, all.size() - digest_end);
  if (sha.digest() != all.substr(digest_at, 64))
    throw BadFile(source + " is damaged: its checksum does not match (truncated or altered)");
  try {
    const std::uint64_t length = load_eight(all.data());
    if (length > all.size() - 8) throw InputError("its description is longer than the file");
    const Json description = JsonReader(all.substr(8, length)).read();
    if (metadata(description, "format") != file_format) throw InputError("it has another format");
    const std::string& version = metadata(description, "version");
    if (version != std::to_string(file_version))
      throw BadFile(source + " has format version " + version + ", this hinge reads " + std::to_string(file_version) +
                    ": upgrade hinge, or learn it again");
    FileContents contents{metadata(description, "header"),
                          described_tensors(*description.as<Json::Object>(), file, 8 + length)};
    add_numbers(metadata(description, "numbers"), contents.tensors);
    return contents;
  } catch (const InputError& error) {
    throw BadFile(source + " is not a hinge model: " + error.what());
  }
}

inline FileContents read_file(const std::string& path, const std::string& source) {
  const OpenFile file = open_file(path_of(path), "rb");
  std::vector<char> bytes(static_cast<std::size_t>(std::filesystem::file_size(path_of(path))));
  bytes.resize(bytes.empty() ? 0 : std::fread(bytes.data(), 1, bytes.size(), file.get()));
  return read_contents(std::move(bytes), source);
}

// Loads a model of rows, saved from any language. `custom`: its custom kernel, if it has one, which files do not
// contain.
inline std::unique_ptr<Model> load(const std::string& path, std::shared_ptr<CustomKernel> custom = nullptr) {
  const FileContents contents = read_file(path, path);
  try {
    Settings settings = settings_from(contents.tensors.text("settings"));
    settings.custom_kernel = std::move(custom);
    auto model = std::make_unique<Model>(std::move(settings));
    model->labels = labels_from(contents.tensors.text("labels"));
    model->restore(contents.tensors);
    return model;
  } catch (const InputError& error) {
    throw BadFile(path + " is not a hinge model: " + error.what());
  }
}

}  // namespace hinge
