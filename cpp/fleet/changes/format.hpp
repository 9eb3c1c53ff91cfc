// What has changed in a fleet since a certain moment, as bytes: a file (since the beginning), a segment of a snapshot, or a
// message to a replica.
//
//     "hinge-fleet\n", version u32
//     chunks: kind u32, CRC-32C u32 (of kind, size and content), size u64, content
//         head     JSON: the moments, the labels, the state of the directory, and the header that Python has given
//         shared   the packed record that all keys share (packed.hpp), if there is one
//         names    of features that are new: hash u32, size u32, text; in the order in which they arrived
//         keys     whose slot has changed: slot u32, size u32, stamp u64, packed record
//         free     slots that have become free: slot u32, next free slot u32, stamp u64
//         end      how many names, keys and free slots there are: 3 u64
//
// A key that was removed has left a free slot: its name is nowhere. Numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "../../files/checksum.hpp"
#include "../../model/file.hpp"

namespace hinge {

inline constexpr std::string_view fleet_magic = "hinge-fleet\n";
inline constexpr std::uint32_t fleet_version = 1;
inline constexpr std::size_t fleet_begin = 16;  // the magic and the version

enum class ChunkKind : std::uint32_t { head = 1, shared, names, keys, free, end };

struct Chunk {
  ChunkKind kind;
  std::string content;
};
struct ChunkHead {
  std::uint32_t kind = 0, checksum = 0;
  std::uint64_t size = 0;
};
static_assert(sizeof(ChunkHead) == 16);

struct ChangeCounts {
  std::uint64_t names = 0, keys = 0, free = 0;
  bool operator==(const ChangeCounts&) const = default;
};

template <class Number>
void append_number(std::string& to, Number number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}
// Takes a number, or bytes, from the front of a text; throws if it is too short.
template <class Number>
Number take_number(std::string_view& from) {
  if (from.size() < sizeof(Number)) throw InputError("a part is too short");
  Number number{};
  std::memcpy(&number, from.data(), sizeof number);
  from.remove_prefix(sizeof number);
  return number;
}
inline std::string_view take_bytes(std::string_view& from, std::size_t count) {
  if (from.size() < count) throw InputError("a part is too short");
  const std::string_view taken = from.substr(0, count);
  from.remove_prefix(count);
  return taken;
}

inline std::uint32_t checksum_of(const ChunkHead& head, std::string_view content) {
  return Crc32c().update(&head.kind, 4).update(&head.size, 8).update(content.data(), content.size()).value();
}
inline void append_chunk(std::string& to, ChunkKind kind, std::string_view content) {
  ChunkHead head{static_cast<std::uint32_t>(kind), 0, content.size()};
  head.checksum = checksum_of(head, content);
  to.append(reinterpret_cast<const char*>(&head), sizeof head);
  to.append(content);
}
inline void append_beginning(std::string& to) {
  to.append(fleet_magic);
  append_number(to, fleet_version);
}

// Reads chunks, whoever has written them. `read(to, size)` reads that many bytes or throws.
class ChunkReader {
 public:
  using Read = std::function<void(char* to, std::size_t size)>;

  // `source` names the bytes in messages; there are `size` of them.
  ChunkReader(Read read, std::uint64_t size, std::string source_) : source(std::move(source_)), read_(std::move(read)), left_(size) {
    char begin[fleet_begin];
    if (left_ >= fleet_begin) take(begin, fleet_begin);
    else std::memset(begin, 0, sizeof begin);
    if (std::string_view(begin + 8, 8) == before_digest.substr(0, 8)) throw BadFile(source + " is not a fleet but another model: hinge.load reads it");
    if (std::string_view(begin, fleet_magic.size()) != fleet_magic) throw BadFile(source + " is not a hinge fleet, or its beginning is damaged");
    std::uint32_t version = 0;
    std::memcpy(&version, begin + fleet_magic.size(), sizeof version);
    if (version != fleet_version)
      throw BadFile(source + " has format version " + std::to_string(version) + ", this hinge reads " + std::to_string(fleet_version) +
                    ": upgrade hinge, or learn it again");
  }

  bool at_end() const { return left_ == 0; }
  Chunk next() {
    ChunkHead head;
    if (left_ < sizeof head) damaged("truncated");
    take(reinterpret_cast<char*>(&head), sizeof head);
    if (head.size > left_) damaged("truncated, or altered");
    Chunk chunk{static_cast<ChunkKind>(head.kind), std::string(head.size, '\0')};
    take(chunk.content.data(), head.size);
    if (checksum_of(head, chunk.content) != head.checksum) damaged("altered");
    return chunk;
  }
  [[noreturn]] void damaged(const std::string& how) const {
    throw BadFile(source + " is damaged: a checksum does not match (" + how + ")");
  }

  const std::string source;

 private:
  void take(char* to, std::size_t size) {
    read_(to, size);
    left_ -= size;
  }
  Read read_;
  std::uint64_t left_;
};

}  // namespace hinge
