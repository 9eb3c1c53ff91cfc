// Files that are replaced whole: at every moment their place holds the old bytes or the new ones, never a part.
//
// The new bytes go to a hidden temporary file in the same folder, which is synced and renamed. Its name has the machine
// and the process in it, so that one that a killed process left behind is recognised. It is removed when the same file
// is written next.
#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>

#if defined(_WIN32)
#include <io.h>
#include <process.h>
#include <sys/stat.h>
#else
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "open_file.hpp"
#include "sha256.hpp"

namespace hinge {

// What a path leads to: a link is followed, even if nothing is there yet.
inline std::filesystem::path place_of(const std::string& name) {
  std::filesystem::path place = std::filesystem::absolute(path_of(name));
  if (!place.has_filename()) place = place.parent_path();
  std::error_code failed;
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(place, failed)); ++links) {
    if (links == 40) throw FileError(name, ELOOP);
    place = place.parent_path() / std::filesystem::read_symlink(place);
  }
  return place;
}

// A hidden file next to `place`. A name that would become too long is replaced by its hash.
inline std::filesystem::path hidden_path(const std::filesystem::path& place, std::string_view ending) {
  constexpr std::size_t longest = 255;  // bytes, on all usual file systems
  const std::string name = name_of(place.filename());
  std::string hidden = "." + name;
  if (hidden.size() + ending.size() > longest) hidden = "." + Sha256::of(name).substr(0, 32);
  return place.parent_path() / path_of(hidden.append(ending));
}

// The names of temporary files: `.NAME.MACHINE-PROCESS-NUMBER.tmp`, with as many digits in each.
struct TemporaryName {
  // The machine or container that a process id belongs to: a folder may be shared by several.
  static std::string machine() {
#if defined(_WIN32)
    const char* name = std::getenv("COMPUTERNAME");
    return Sha256::of(name == nullptr ? "" : name).substr(0, 8);
#else
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return Sha256::of(name).substr(0, 8);
#endif
  }
  static std::string ending(std::int64_t process, std::uint32_t number) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "-%010lld-%08x.tmp", static_cast<long long>(process), static_cast<unsigned>(number));
    return "." + machine() + digits;
  }
  static std::string fresh() {
#if defined(_WIN32)
    return ending(_getpid(), std::random_device()());
#else
    return ending(getpid(), std::random_device()());
#endif
  }
  // The process in a name of the form `stem` + ending(process, number).
  static std::optional<std::int64_t> process(std::string_view name, std::string_view stem) {
    const std::string sample = ending(0, 0);
    if (name.size() != stem.size() + sample.size() || name.substr(0, stem.size()) != stem) return std::nullopt;
    const std::string_view its = name.substr(stem.size());
    const std::size_t at = sample.find('-') + 1;
    const auto read = [&](std::size_t from, std::size_t count, int base) -> std::optional<std::int64_t> {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(its.data() + from, its.data() + from + count, value, base);
      if (error != std::errc() || end != its.data() + from + count || its[from] == '-') return std::nullopt;
      return value;
    };
    const auto found = read(at, 10, 10), number = read(at + 11, 8, 16);
    if (!found || !number || ending(*found, static_cast<std::uint32_t>(*number)) != its) return std::nullopt;
    return found;
  }
};

class WholeFile {
 public:
  // Called if a signal interrupts; it may throw.
  using Interrupted = std::function<void()>;

  explicit WholeFile(const std::string& name, Interrupted interrupted = nullptr)
      : place_(place_of(name)), interrupted_(std::move(interrupted)) {
    std::error_code failed;
    const auto status = std::filesystem::status(place_, failed);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      handle_ = open(place_, O_WRONLY | O_TRUNC, 0);  // a device, a pipe: there is nothing to replace
      if (handle_ < 0) fail();
      return;
    }
    if (std::filesystem::exists(status)) mode_ = status.permissions() & static_cast<std::filesystem::perms>(0777);
    remove_abandoned();
    create_temporary();
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile() { abandon(); }

  void write(const void* data, std::size_t size) {
    if (buffer_.size() + size > most_buffered) write_buffer();
    if (size > most_buffered) return write_through(static_cast<const char*>(data), size);
    buffer_.append(static_cast<const char*>(data), size);
  }
  // The file takes its place. If anything fails before, nothing has happened.
  void finish() {
    try {
      write_buffer();
      if (!temporary_.empty()) retry([&] { return sync(handle_); });
      if (::close(std::exchange(handle_, -1)) != 0) fail();
      if (temporary_.empty()) return;
      if (mode_) std::filesystem::permissions(temporary_, *mode_);
      std::filesystem::rename(temporary_, place_);
      temporary_.clear();
    } catch (const std::filesystem::filesystem_error& error) {
      abandon();
      throw FileError(name_of(place_), error.code().value());
    } catch (...) {
      abandon();
      throw;
    }
    sync_folder();
  }
  void abandon() noexcept {
    if (handle_ >= 0) ::close(std::exchange(handle_, -1));
    std::error_code ignored;
    if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
    temporary_.clear();
  }

 private:
  static constexpr std::size_t most_buffered = 1 << 16;
  static constexpr std::size_t most_at_once = 1 << 30;

  [[noreturn]] void fail() const { throw FileError(name_of(place_)); }
  // The result of a call of the system, which is repeated if a signal interrupts it.
  template <class Call>
  std::ptrdiff_t retry(const Call& call) const {
    for (;;) {
      const std::ptrdiff_t result = call();
      if (result >= 0) return result;
      if (errno != EINTR) fail();
      if (interrupted_) interrupted_();
    }
  }
  int open(const std::filesystem::path& path, int flags, int mode) const {
#if defined(_WIN32)
    return ::_wopen(path.c_str(), flags | O_BINARY, mode == 0 ? 0 : _S_IREAD | _S_IWRITE);
#else
    for (;;) {
      const int handle = ::open(path.c_str(), flags | O_CLOEXEC, mode);
      if (handle >= 0 || errno != EINTR) return handle;
      if (interrupted_) interrupted_();
    }
#endif
  }
  void write_buffer() {
    write_through(buffer_.data(), buffer_.size());
    buffer_.clear();
  }
  void write_through(const char* data, std::size_t size) {
    while (size > 0) {
      const auto most = static_cast<unsigned>(std::min(size, most_at_once));
      const auto written = static_cast<std::size_t>(retry([&] { return ::write(handle_, data, most); }));
      data += written, size -= written;
    }
  }

  // In place of an old file it is private until it gets the old one's permissions. Otherwise the kernel gives it those of
  // a new file: to ask for the umask of the process one would have to change it, for all threads.
  void create_temporary() {
    do {
      temporary_ = hidden_path(place_, TemporaryName::fresh());
      handle_ = open(temporary_, O_RDWR | O_CREAT | O_EXCL, mode_ ? 0600 : 0666);
    } while (handle_ < 0 && errno == EEXIST);
    if (handle_ >= 0) return;
    temporary_.clear();
    fail();
  }
  static int sync(int handle) {
#if defined(_WIN32)
    return ::_commit(handle);
#else
    return ::fsync(handle);
#endif
  }
  // So that the rename survives a crash of the machine.
  void sync_folder() const {
#if !defined(_WIN32)
    const int folder = open(place_.parent_path(), O_RDONLY | O_DIRECTORY, 0);
    const int failed = folder < 0 ? errno : ::fsync(folder) == 0 ? 0 : errno;
    if (folder >= 0) ::close(folder);
    if (failed != 0) throw FileError(name_of(place_), failed);
#endif
  }

  // Removes temporary files for the place whose process is gone. Once per process and file: a folder may be large.
  void remove_abandoned() const {
#if !defined(_WIN32)
    if (!is_first_write()) return;
    const std::string sample = TemporaryName::ending(0, 0);
    const std::string hidden = name_of(hidden_path(place_, sample).filename());
    const std::string_view stem = std::string_view(hidden).substr(0, hidden.size() - sample.size());
    std::error_code failed, ignored;
    for (std::filesystem::directory_iterator entry(place_.parent_path(), failed), end; !failed && entry != end;
         entry.increment(failed)) {
      const auto process = TemporaryName::process(name_of(entry->path().filename()), stem);
      if (process && !is_running(*process)) std::filesystem::remove(entry->path(), ignored);
    }
#endif
  }
#if !defined(_WIN32)
  // A fork may have copied the lock as another thread held it: then nothing is removed, and nobody waits.
  bool is_first_write() const {
    static std::mutex mutex;
    static std::set<std::string> written;
    const std::unique_lock lock(mutex, std::try_to_lock);
    return lock.owns_lock() && written.insert(name_of(place_)).second;
  }
  static bool is_running(std::int64_t process) {
    if (process > std::numeric_limits<pid_t>::max()) return false;
    return ::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM;
  }
#endif

  std::filesystem::path place_, temporary_;  // no temporary: the place is written to
  std::optional<std::filesystem::perms> mode_;  // of the file that is replaced
  Interrupted interrupted_;
  int handle_ = -1;
  std::string buffer_;
};

}  // namespace hinge
