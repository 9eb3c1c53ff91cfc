// Fleets as files and as messages to other fleets. The loops over bytes run without the GIL; others learn between two pieces
// of what is written.
#pragma once

#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "../../fleet/changes/apply.hpp"
#include "../../fleet/changes/writer.hpp"
#include "../files.hpp"
#include "engine.hpp"

namespace hinge {

// The changes of a fleet since a certain moment, while they are written. There is one at a time.
class Snapshot {
 public:
  Snapshot(FleetEngine& self, std::uint64_t since, const std::string& header) : self_(self), turn_(self.snapshots()) {
    const WithoutGil released;
    std::string room;
    {
      const QuietReading reading(self_);
      room = ChangesWriter::room_for(self_.fleet);
    }
    const QuietWriting writing(self_);
    writer_.emplace(self_.fleet, since, header, std::move(room));
    until = self_.fleet.clock;
    maker = self_.fleet.lineage.name();
  }
  ~Snapshot() {
    const WithoutGil released;
    const QuietWriting writing(self_);
    writer_.reset();
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  std::uint64_t until;
  std::string maker;

  // Calls write(data, size) for each piece, without the GIL.
  template <class Write>
  void write_all(const Write& write) {
    const WithoutGil released;
    std::string piece;
    std::size_t pieces = 0;
    for (bool more = true; more;) {
      piece.clear();
      {
        const QuietReading reading(self_);
        more = writer_->next(piece);
      }
      write(piece.data(), piece.size());
      if (++pieces % poll_every == 0) answer_signals();
    }
  }

 private:
  static constexpr std::size_t poll_every = 32;
  FleetEngine& self_;
  std::unique_lock<std::mutex> turn_;
  std::optional<ChangesWriter> writer_;
};

// Returns the clock as of which the file is, and the maker of the last change.
inline nb::tuple save_changes(FleetEngine& self, const nb::bytes& path, std::uint64_t since, const std::string& header) {
  const std::string name(path.c_str(), path.size());
  WholeFile file(name, answer_signals);
  Snapshot snapshot(self, since, header);
  snapshot.write_all([&](const char* data, std::size_t size) { file.write(data, size); });
  {
    const WithoutGil released;
    file.finish();
  }
  return nb::make_tuple(snapshot.until, snapshot.maker);
}
inline nb::bytes changes_as_bytes(FleetEngine& self, std::uint64_t since, const std::string& header) {
  std::string all;
  {
    Snapshot snapshot(self, since, header);
    snapshot.write_all([&](const char* data, std::size_t size) { all.append(data, size); });
  }
  return nb::bytes(all.data(), all.size());
}

// Changes that are going to be applied: their head has been read. They are read once, from one handle: the file may be
// replaced meanwhile.
struct OpenChanges {
  OpenChanges(ChunkReader::Read read, std::uint64_t size, const std::string& source)
      : reader(std::move(read), size, source), head(read_head(reader)) {}
  ChunkReader reader;
  ChangesHead head;
};

// `source` names the bytes in messages.
inline std::unique_ptr<OpenChanges> open_changes(const nb::bytes& changes, const std::string& source) {
  const char* at = changes.c_str();
  return std::make_unique<OpenChanges>(
      [kept = nb::bytes(changes), at](char* to, std::size_t size) mutable { std::memcpy(to, at, size), at += size; },
      changes.size(), source);
}
inline std::unique_ptr<OpenChanges> open_changes_file(const nb::bytes& path, const std::string& source) {
  const std::string name(path.c_str(), path.size());
  const std::shared_ptr<std::FILE> file(open_file(path_of(name), "rb").release(), CloseFile());
  return std::make_unique<OpenChanges>([file, source](char* to, std::size_t count) {
    if (std::fread(to, 1, count, file.get()) != count) throw BadFile(source + " ended while it was read");
  }, size_of(file.get(), name), source);
}

// Returns whether there was something new.
inline bool apply_changes(FleetEngine& self, OpenChanges& changes) {
  const FleetWriting writing(self);
  bool is_new = false;
  {
    const WithoutGil released;
    ChangesApplier applier(self.fleet, std::move(changes.head));
    is_new = applier.apply(changes.reader, answer_signals);
  }
  self.relabel();
  return is_new;
}

}  // namespace hinge
