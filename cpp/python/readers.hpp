// The readers of text, for Python: bytes in, rows out (text_part.hpp), without the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#if defined(__unix__) || defined(__APPLE__)
#define HINGE_READS_FILES 1
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../text/json_text.hpp"
#include "../text/svmlight.hpp"
#include "../text/vw.hpp"
#include "arrays.hpp"
#include "event_part.hpp"
#include "locks.hpp"
#include "text_part.hpp"

namespace hinge {

// Rows that nobody reads any more, to be filled again: fresh memory costs a fault for every page.
template <class Text>
class SpareRows {
 public:
  std::unique_ptr<Text> take() {
    const std::lock_guard lock(mutex_);
    if (rows_.empty()) return std::make_unique<Text>();
    std::unique_ptr<Text> last = std::move(rows_.back());
    rows_.pop_back();
    last->clear();
    return last;
  }
  void give(std::unique_ptr<Text> rows) noexcept {
    const std::lock_guard lock(mutex_);
    if (rows_.size() < rows_.capacity() && rows->bytes() <= most_bytes) rows_.push_back(std::move(rows));
  }
  SpareRows() { rows_.reserve(8); }

 private:
  static constexpr std::size_t most_bytes = 1 << 23;  // more, after a huge line, is better given back

  std::mutex mutex_;
  std::vector<std::unique_ptr<Text>> rows_;
};

// The rows go back to the spare ones when nobody holds them any more.
template <class Text>
std::shared_ptr<const Text> shared(std::unique_ptr<Text> rows, std::shared_ptr<SpareRows<Text>> spare) {
  return {rows.release(), [spare = std::move(spare)](Text* last) { spare->give(std::unique_ptr<Text>(last)); }};
}
inline TextPart part_of(std::shared_ptr<const TextRows> rows, std::size_t width) { return TextPart(std::move(rows), width); }
inline EventPart part_of(std::shared_ptr<const EventText> events, std::size_t) { return EventPart(std::move(events)); }

// Bytes of any object that has some.
class BytesOf {
 public:
  explicit BytesOf(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  BytesOf(const BytesOf&) = delete;
  BytesOf& operator=(const BytesOf&) = delete;
  ~BytesOf() { PyBuffer_Release(&view_); }
  const char* data() const { return static_cast<const char*>(view_.buf); }
  std::size_t size() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

// Rows add up until they are taken.
template <class Format>
class TextReader {
 public:
  using Text = typename Format::Text;

  TextReader(Format format, std::size_t max_line) : reader_(std::move(format), max_line, false), rows_(spare_->take()) {}

  // All lines that have ended. A bad line is an InputError, or kept for `bad_lines`.
  void read(nb::object data) {
    const BytesOf bytes(data);
    guarded([&] { reader_.read(bytes.data(), bytes.size(), *rows_); });
  }
#ifdef HINGE_READS_FILES
  // The same with what a file gives, until the rows make a batch: of `batch_bytes` of text, or less if it is not known
  // when more will come. None: it has ended; false: there is more to read, but many invalid lines are to be reported first. A
  // caller that must not wait in here checks beforehand whether there is something to read.
  std::optional<bool> read_file(int file, std::size_t batch_bytes) {
    std::optional<bool> full;
    int error = 0;
    guarded([&] {
      struct stat status{};
      if (::fstat(file, &status) != 0) {
        error = errno;
        return;
      }
      const bool regular = S_ISREG(status.st_mode);
      const std::size_t size = std::clamp<std::size_t>(batch_bytes, 1, piece);
      if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<char[]>(piece);
      do {
        const ::ssize_t count = ::read(file, buffer_.get(), size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
          full = true;
          break;
        }
        if (count < 0) error = errno;
        if (count <= 0) return;
        reader_.read(buffer_.get(), static_cast<std::size_t>(count), *rows_);
        batch_bytes_ += static_cast<std::size_t>(count);
        if (batch_bytes_ >= batch_bytes || (!regular && !has_more(file))) full = true;
        else if (reader_.has_many_bad_lines()) full = false;
      } while (!full);
      if (*full) batch_bytes_ = 0;
    });
    if (error != 0) {
      errno = error;
      PyErr_SetFromErrno(PyExc_OSError);
      throw nb::python_error();
    }
    return full;
  }
#endif
  void finish() {
    guarded([&] { reader_.finish(*rows_); });
  }
  void restart(bool skip) {
    const Turn turn(busy_);
    reader_.restart(skip);
    if constexpr (requires { reader_.format().begin_file(); }) reader_.format().begin_file();
    rows_->clear();
#ifdef HINGE_READS_FILES
    batch_bytes_ = 0;
#endif
  }
  // The rows since the last time, of at least `width` columns; None if there are none.
  std::optional<typename Format::Part> take(std::size_t width) {
    const Turn turn(busy_);
    if (rows_->count() == 0) return std::nullopt;
    width = std::max(width, reader_.format().finish(*rows_));
    std::unique_ptr<Text> next = spare_->take();
    return part_of(shared(std::exchange(rows_, std::move(next)), spare_), width);
  }
  std::size_t lines() {
    const Turn turn(busy_);
    return reader_.lines();
  }
  // The lines after an invalid one that ended the reading, and the bytes of an incomplete last line.
  nb::tuple unread() {
    const Turn turn(busy_);
    return nb::make_tuple(reader_.unread_lines(), reader_.unread_bytes());
  }
  // Features that were left out because there was no more room.
  std::size_t n_ignored() {
    const Turn turn(busy_);
    return reader_.format().ignored();
  }
  // (line, column, what is wrong, the line itself if the format keeps it), of those since the last time
  nb::list bad_lines() {
    const Turn turn(busy_);
    nb::list all;
    for (const InputError& bad : reader_.take_bad_lines()) all.append(bad_line(bad));
    return all;
  }
  // Names that are known from the start, as bytes.
  void add_names(nb::list names) {
    const Turn turn(busy_);
    for (nb::handle item : names) {
      const BytesOf name(item);
      if (!reader_.format().add_name({name.data(), name.size()}))
        throw InputError("the feature name " + quoted(item) + " occurs twice");
    }
  }

 private:
  static nb::tuple bad_line(const InputError& bad) {
    const nb::object column = bad.column == none ? nb::none() : nb::object(nb::int_(bad.column));
    return nb::make_tuple(bad.line, column, std::string(bad.what()), nb::bytes(bad.text.data(), bad.text.size()));
  }
  // One thread at a time; another one is rejected instead of waiting for a pipe.
  class Turn {
   public:
    explicit Turn(std::atomic<bool>& busy) : busy_(busy) {
      if (busy_.exchange(true)) throw std::runtime_error("another thread is using this reader");
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { busy_ = false; }

   private:
    std::atomic<bool>& busy_;
  };

  template <class Function>
  void guarded(const Function& function) {
    const Turn turn(busy_);
    const WithoutGil released;
    function();
  }
#ifdef HINGE_READS_FILES
  static constexpr std::size_t piece = 1 << 16;  // bytes that are read and parsed together: they stay in the cache of a core

  // Whoever writes into a pipe may need a moment for the next bytes: without it every 64 KB would be a batch.
  static bool has_more(int file) {
    constexpr int moment = 2;  // milliseconds
    ::pollfd asked{file, POLLIN, 0};
    return ::poll(&asked, 1, moment) > 0;
  }
  std::unique_ptr<char[]> buffer_;
  std::size_t batch_bytes_ = 0;  // of files, in the batch that is being read
#endif
  std::atomic<bool> busy_ = false;
  LineReader<Format> reader_;
  std::shared_ptr<SpareRows<Text>> spare_ = std::make_shared<SpareRows<Text>>();
  std::unique_ptr<Text> rows_;
};

using SvmlightTextReader = TextReader<Svmlight>;
using VowpalTextReader = TextReader<VowpalText>;
using JsonTextReader = TextReader<JsonText>;

template <class Reader>
void define_reader(nb::class_<Reader>& reader) {
  using namespace nb::literals;
#ifdef HINGE_READS_FILES
  reader.def("read_file", &Reader::read_file, "file"_a, "batch_bytes"_a);
#endif
  reader.def("read", &Reader::read, "data"_a)
      .def("finish", &Reader::finish)
      .def("restart", &Reader::restart, nb::kw_only(), "skip"_a)
      .def("take", &Reader::take, "width"_a = 0)
      .def("bad_lines", &Reader::bad_lines)
      .def_prop_ro("lines", &Reader::lines)
      .def_prop_ro("unread", &Reader::unread)
      .def_prop_ro("n_ignored", &Reader::n_ignored);
}

}  // namespace hinge
