// C library files. A path is any string of bytes (on Windows: UTF-8).
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace hinge {

struct FileError : std::system_error {
  explicit FileError(std::string path_, int number = errno)
      : std::system_error(number, std::generic_category(), path_), path(std::move(path_)) {}
  std::string path;
};

inline std::filesystem::path path_of(const std::string& name) {
#if defined(_WIN32)
  return std::filesystem::path(std::u8string(name.begin(), name.end()));
#else
  return std::filesystem::path(name);
#endif
}
inline std::string name_of(const std::filesystem::path& path) {
#if defined(_WIN32)
  const std::u8string name = path.u8string();
  return std::string(name.begin(), name.end());
#else
  return path.native();
#endif
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

// `mode` is that of fopen.
inline OpenFile open_file(const std::filesystem::path& path, const char* mode) {
#if defined(_WIN32)
  OpenFile file(_wfopen(path.c_str(), std::filesystem::path(mode).c_str()));
#else
  OpenFile file(std::fopen(path.c_str(), mode));
#endif
  if (file == nullptr) throw FileError(name_of(path));
  return file;
}

// How long an open file is. It is read from its beginning afterwards.
inline std::uint64_t size_of(std::FILE* file, const std::string& name) {
#if defined(_WIN32)
  const bool fails = _fseeki64(file, 0, SEEK_END) != 0;
  const long long size = _ftelli64(file);
#else
  const bool fails = fseeko(file, 0, SEEK_END) != 0;
  const off_t size = ftello(file);
#endif
  if (fails || size < 0) throw FileError(name);
  std::rewind(file);
  return static_cast<std::uint64_t>(size);
}

}  // namespace hinge
