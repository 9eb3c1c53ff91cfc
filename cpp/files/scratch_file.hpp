// A temporary file that nobody else sees, and that disappears with the process.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <fcntl.h>

#if defined(_WIN32)
#include <io.h>
#include <sys/stat.h>
#else
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "whole_file.hpp"

namespace hinge {

// Several threads may read at the same time.
class ScratchFile {
 public:
  // In the folder for temporary files: TMPDIR, or that of the system.
  ScratchFile() {
    do {
      path_ = std::filesystem::temp_directory_path() / path_of("hinge" + TemporaryName::fresh());
      handle_ = create();
    } while (handle_ < 0 && (errno == EEXIST || errno == EINTR));
    if (handle_ < 0) fail();
#if !defined(_WIN32)
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);  // its bytes live as long as the handle
#endif
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { ::close(handle_); }

  void write(std::uint64_t offset, const void* data, std::size_t size) {
    const auto* from = static_cast<const char*>(data);
    transfer(offset, size, [&](std::size_t done, std::size_t count, std::uint64_t at) {
      return write_some(from + done, count, at);
    });
  }
  void read(std::uint64_t offset, void* data, std::size_t size) const {
    auto* to = static_cast<char*>(data);
    transfer(offset, size, [&](std::size_t done, std::size_t count, std::uint64_t at) {
      const std::ptrdiff_t got = read_some(to + done, count, at);
      if (got == 0) throw FileError(name_of(path_), EIO);  // it has been truncated
      return got;
    });
  }

 private:
  static constexpr std::size_t most_at_once = std::size_t{1} << 30;

  [[noreturn]] void fail() const { throw FileError(name_of(path_)); }

  // Calls some(done, count, offset) until all bytes are transferred.
  template <class Some>
  void transfer(std::uint64_t offset, std::size_t size, const Some& some) const {
    check_process();
    for (std::size_t done = 0; done < size;) {
      const std::ptrdiff_t got = some(done, std::min(size - done, most_at_once), offset + done);
      if (got < 0 && errno != EINTR) fail();
      if (got > 0) done += static_cast<std::size_t>(got);
    }
  }

#if defined(_WIN32)
  int create() const {
    return ::_wopen(path_.c_str(), _O_RDWR | _O_CREAT | _O_EXCL | _O_BINARY | _O_TEMPORARY | _O_SHORT_LIVED | _O_NOINHERIT,
                    _S_IREAD | _S_IWRITE);
  }
  std::ptrdiff_t write_some(const char* from, std::size_t size, std::uint64_t offset) const {
    const std::lock_guard<std::mutex> held(seeking_);
    if (::_lseeki64(handle_, static_cast<long long>(offset), SEEK_SET) < 0) return -1;
    return ::_write(handle_, from, static_cast<unsigned>(size));
  }
  std::ptrdiff_t read_some(char* to, std::size_t size, std::uint64_t offset) const {
    const std::lock_guard<std::mutex> held(seeking_);
    if (::_lseeki64(handle_, static_cast<long long>(offset), SEEK_SET) < 0) return -1;
    return ::_read(handle_, to, static_cast<unsigned>(size));
  }
  void check_process() const {}
  mutable std::mutex seeking_;
#else
  int create() const { return ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); }
  std::ptrdiff_t write_some(const char* from, std::size_t size, std::uint64_t offset) const {
    return ::pwrite(handle_, from, size, static_cast<off_t>(offset));
  }
  std::ptrdiff_t read_some(char* to, std::size_t size, std::uint64_t offset) const {
    return ::pread(handle_, to, size, static_cast<off_t>(offset));
  }
  // After a fork both processes have the same file, and each would overwrite what the other one has written.
  void check_process() const {
    if (::getpid() != process_)
      throw std::runtime_error("the process was forked: the keys that are on disk belong to the other process. Load the fleet "
                               "in the new process");
  }
  const pid_t process_ = ::getpid();
#endif

  std::filesystem::path path_;
  int handle_ = -1;
};

}  // namespace hinge
