// Model files, and files that are replaced whole, as Python uses them. The loops over bytes run without the GIL.
#pragma once

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "../model/file.hpp"
#include "locks.hpp"
#include "tensors.hpp"

namespace hinge {

// Errors of the system, as the subclass of OSError that belongs to them.
inline void raise_os_error(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const std::system_error& error) {
    const auto* with_path = dynamic_cast<const FileError*>(&error);
    const nb::object path = with_path == nullptr ? nb::none() : nb::object(made(PyUnicode_DecodeFSDefault(with_path->path.c_str())));
    const nb::object raised = nb::borrow(PyExc_OSError)(error.code().value(), error.code().message(), path);
    PyErr_SetObject(raised.type().ptr(), raised.ptr());
  }
}

inline nb::str text_of(const std::string& text) { return nb::str(text.c_str(), text.size()); }

inline void save_file(const nb::bytes& path, const std::string& header, const nb::dict& tensors) {
  const BorrowedTensors borrowed(tensors);
  const std::string name(path.c_str(), path.size());
  const WithoutGil released;
  save(name, header, borrowed.tensors, answer_signals);
}
inline nb::bytes file_bytes(const std::string& header, const nb::dict& tensors, std::int64_t version) {
  const BorrowedTensors borrowed(tensors);
  const FileParts parts = file_parts(header, borrowed.tensors, version);
  std::size_t size = 0;
  write_parts(parts, [&](const void*, std::size_t piece) { size += piece; });
  const nb::object bytes = made(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  char* to = PyBytes_AS_STRING(bytes.ptr());
  write_parts(parts, [&](const void* data, std::size_t piece) {
    to = std::copy_n(static_cast<const char*>(data), piece, to);
  });
  return nb::borrow<nb::bytes>(bytes);
}

// The header (JSON) and the tensors, as arrays of numpy.
inline nb::tuple contents_of(const FileContents& contents) {
  return nb::make_tuple(text_of(contents.header), views_of<nb::numpy>(contents.tensors));
}
inline nb::tuple read_model_file(const nb::bytes& path, const std::string& source) {
  std::optional<FileContents> read;
  {
    const std::string name(path.c_str(), path.size());
    const WithoutGil released;
    read = read_file(name, source);
  }
  return contents_of(*read);
}
inline nb::tuple read_model(const nb::bytes& data, const std::string& source) {
  return contents_of(read_contents(std::vector<char>(data.c_str(), data.c_str() + data.size()), source));
}

// A context manager with `write`: the file takes its place at the end of the block, unless that raises.
class FileInBlock {
 public:
  explicit FileInBlock(const nb::bytes& path) {
    const std::string name(path.c_str(), path.size());
    const WithoutGil released;
    file_.emplace(name, answer_signals);
  }
  void write(const nb::bytes& data) {
    if (!file_) throw nb::value_error("the file is closed");
    file_->write(data.c_str(), data.size());
  }
  void exit(nb::handle raised) {
    if (!file_) return;
    const WithoutGil released;
    if (raised.is_none()) file_->finish();
    file_.reset();
  }

 private:
  std::optional<WholeFile> file_;
};

inline void bind_files(nb::module_& m) {
  using namespace nb::literals;
  nb::exception<BadFile>(m, "ModelFileError", PyExc_ValueError);
  m.def("save_file", &save_file, "path"_a, "header"_a, "tensors"_a);
  m.def("file_bytes", &file_bytes, "header"_a, "tensors"_a, "version"_a = file_version);
  m.def("begins_like_a_model", [](const nb::bytes& beginning) {
    return begins_like_a_model({beginning.c_str(), beginning.size()});
  }, "beginning"_a);
  m.def("read_model_file", &read_model_file, "path"_a, "source"_a);
  m.def("read_model", &read_model, "data"_a, "source"_a);
  m.def("hidden_path", [](const nb::bytes& place, const std::string& ending) {
    const std::string path = name_of(hidden_path(path_of({place.c_str(), place.size()}), ending));
    return nb::bytes(path.c_str(), path.size());
  }, "place"_a, "ending"_a);
  nb::class_<FileInBlock>(m, "WholeFile")
      .def(nb::init<const nb::bytes&>(), "path"_a)
      .def("write", &FileInBlock::write, "data"_a)
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> WholeFile"))
      .def("__exit__", [](FileInBlock& self, nb::handle type, nb::handle, nb::handle) { self.exit(type); },
           "type"_a.none(), "error"_a.none(), "traceback"_a.none());
}

}  // namespace hinge
