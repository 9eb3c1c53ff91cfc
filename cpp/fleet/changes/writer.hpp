// Writes what has changed in a fleet since a certain moment, a piece at a time. The fleet may learn between two pieces: they
// are as it was when the writer was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "../fleet.hpp"
#include "../packed.hpp"
#include "format.hpp"

namespace hinge {

class ChangesWriter {
 public:
  // `header`: JSON; `room`: see `room_for`. Nobody else may use the fleet meanwhile.
  ChangesWriter(Fleet& fleet, std::uint64_t since, std::string_view header, std::string room)
      : fleet_(fleet), shared_(std::move(room)) {
    if (since > fleet.clock)
      throw InputError("there is no change " + std::to_string(since) + " yet: the last one is " + std::to_string(fleet.clock));
    counts_.names = fleet.names.size();
    name_ = fleet.names.size_at(since);
    head_ = head_text(since, header);
    if (fleet.options.shared) append_packed_checked(shared_, Users::nobody, fleet.keys.record(Users::nobody));
    fleet.keys.begin_past(since, fleet.clock);
  }
  ChangesWriter(const ChangesWriter&) = delete;
  ChangesWriter& operator=(const ChangesWriter&) = delete;
  // Nobody else may use the fleet meanwhile.
  ~ChangesWriter() { fleet_.keys.end_past(); }

  // Memory for the shared record, which is copied when a writer is made. If others only read the fleet meanwhile, it can be
  // made ready before, since fresh pages take longer than the copy.
  static std::string room_for(const Fleet& fleet) {
    std::string room(fleet.options.shared ? fleet.keys.record(Users::nobody).end() : 0, '\0');
    room.clear();
    return room;
  }
  // Appends the next piece. Others may read the fleet meanwhile. Returns false after the last one.
  bool next(std::string& to) {
    switch (step_) {
      case 0:
        append_beginning(to);
        append_chunk(to, ChunkKind::head, head_);
        return ++step_, true;
      case 1:
        if (fleet_.options.shared) append_chunk(to, ChunkKind::shared, shared_);
        shared_ = std::string();
        return ++step_, true;
      case 2: return step_ += !add_names(to), true;
      case 3: return step_ += !add_slots(to), true;
      default: return add_end(to), false;
    }
  }

 private:
  static constexpr std::size_t piece = std::size_t{1} << 19;  // bytes: below a millisecond, even if each record waits for memory

  std::string head_text(std::uint64_t since, std::string_view header) const {
    const Hand& hand = fleet_.keys.hand();
    std::string text = "{";
    const auto put = [&](const char* name, const auto& value) {
      if (text.size() > 1) text += ',';
      append_json(text, std::string_view(name));
      text += ':';
      append_json(text, value);
    };
    put("since", std::size_t{since});
    put("until", std::size_t{fleet_.clock});
    put("slots", fleet_.keys.slots());
    put("first_free", std::size_t{fleet_.keys.first_free()});
    put("hand", std::vector<std::size_t>{hand.at, hand.this_round, hand.last_round});
    put("ignored", fleet_.ignored);
    put("names_before", name_);
    std::vector<std::string> makers;
    std::vector<std::size_t> from;
    for (const Lineage::Part& part : fleet_.lineage.parts()) makers.push_back(part.name), from.push_back(part.from);
    put("lineage", makers);
    put("lineage_from", from);
    put("settings", settings_text(fleet_.options.settings));
    put("shared", fleet_.options.shared);
    put("personal", fleet_.options.personal);
    put("closed", fleet_.options.closed);
    put("labels", labels_text(fleet_.labels.all()));
    put("known", std::vector<std::size_t>(fleet_.known().begin(), fleet_.known().end()));
    put("header", header);
    return text + "}";
  }

  // Return whether there are more.
  bool add_names(std::string& to) {
    std::string content;
    for (; name_ < counts_.names && content.size() < piece; ++name_, ++written_.names) {
      const std::string_view name = fleet_.names.name(name_);
      append_number(content, fleet_.names.hash(name_));
      append_number(content, static_cast<std::uint32_t>(name.size()));
      content.append(name);
    }
    if (!content.empty()) append_chunk(to, ChunkKind::names, content);
    return name_ < counts_.names;
  }
  bool add_slots(std::string& to) {
    std::string keys, free;
    const bool more = fleet_.keys.read_past([&](std::uint32_t user, const Users::User& was, const Record* record) {
      if (record == nullptr) {
        append_number(free, user);
        append_number(free, was.next_free());
        append_number(free, was.stamp);
        written_.free += 1;
      } else {
        append_number(keys, user);
        const std::size_t at = keys.size();
        append_number(keys, std::uint32_t{0});
        append_number(keys, was.stamp);
        const std::size_t begin = keys.size();
        append_packed_checked(keys, user, *record);
        if (keys.size() - begin > std::numeric_limits<std::uint32_t>::max())
          throw InputError("the key " + shown_name(record->key()) + " takes more than 4 GiB, which a file cannot hold");
        const auto size = static_cast<std::uint32_t>(keys.size() - begin);
        std::memcpy(keys.data() + at, &size, sizeof size);
        written_.keys += 1;
      }
      return keys.size() + free.size() < piece;
    });
    if (!keys.empty()) append_chunk(to, ChunkKind::keys, keys);
    if (!free.empty()) append_chunk(to, ChunkKind::free, free);
    return more;
  }
  void add_end(std::string& to) const {
    std::string content;
    append_number(content, written_.names);
    append_number(content, written_.keys);
    append_number(content, written_.free);
    append_chunk(to, ChunkKind::end, content);
  }
  // What is written can be read again: sums that have overflowed are rejected now, before a good file is replaced.
  void append_packed_checked(std::string& to, std::uint32_t user, const Record& record) const {
    append_packed(to, record, fleet_.keys.layout);
    if (packed::is_finite(record.head())) return;
    const std::string whose = user == Users::nobody ? "shared weights" : "key " + shown_name(record.key());
    throw InputError("the fleet cannot be saved: one of the sums of its " + whose +
                     " has become infinite. Its statistics show which; learn from values that are less extreme");
  }

  Fleet& fleet_;
  std::string head_, shared_;
  std::size_t name_ = 0;
  ChangeCounts counts_, written_;
  int step_ = 0;
};

}  // namespace hinge
