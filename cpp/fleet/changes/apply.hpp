// Takes over what has changed in another fleet: all of it or, if anything is invalid, nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../text/utf8.hpp"
#include "../fleet.hpp"
#include "../packed.hpp"
#include "format.hpp"

namespace hinge {

// The first part of changes.
struct ChangesHead {
  static constexpr std::uint64_t latest = std::uint64_t{1} << 62;  // more changes than any fleet will make

  std::uint64_t since = 0, until = 0;
  std::size_t slots = 0, ignored = 0, names_before = 0;
  std::uint32_t first_free = Users::nobody;
  Hand hand;
  std::vector<Lineage::Part> lineage;
  std::string settings, header;
  bool shared = false, closed = false;
  double personal = 0;
  std::vector<Label> labels;
  std::vector<std::uint32_t> known;

  explicit ChangesHead(const Chunk& chunk) {
    if (chunk.kind != ChunkKind::head) throw InputError("its first part is not its head");
    if (!is_utf8(chunk.content)) throw InputError("its head is not text");
    const Json json = JsonReader(chunk.content).read();
    since = number(json, "since"), until = number(json, "until");
    slots = number(json, "slots"), ignored = number(json, "ignored"), names_before = number(json, "names_before");
    if (slots > Users::nobody || since > until || until > latest) throw InputError("its numbers are invalid");
    first_free = short_number(field(json, "first_free"));
    const std::vector<std::uint64_t> hands = numbers(json, "hand"), from = numbers(json, "lineage_from");
    if (hands.size() != 3) throw InputError("its hand is invalid");
    if (*std::max_element(hands.begin(), hands.end()) > latest) throw InputError("its hand is invalid");
    hand = {hands[0], hands[1], hands[2]};
    const Json::Array& makers = array(json, "lineage");
    if (makers.size() != from.size()) throw InputError("its lineage is invalid");
    for (std::size_t i = 0; i < makers.size(); ++i) lineage.push_back({as<std::string>(makers[i], "lineage"), from[i]});
    settings = as<std::string>(field(json, "settings"), "settings"), header = as<std::string>(field(json, "header"), "header");
    if (!is_utf8(header)) throw InputError("its header is not text");
    shared = as<bool>(field(json, "shared"), "shared"), closed = as<bool>(field(json, "closed"), "closed");
    personal = as<double>(field(json, "personal"), "personal");
    labels = labels_from(as<std::string>(field(json, "labels"), "labels"));
    for (const Json& each : array(json, "known")) known.push_back(short_number(each));
  }

 private:
  static const Json& field(const Json& json, const char* name) {
    const Json* found = json.find(name);
    if (found == nullptr) throw InputError(std::string("its head has no ") + name);
    return *found;
  }
  template <class Kind>
  static const Kind& as(const Json& json, const char* name) {
    const Kind* found = json.as<Kind>();
    if (found == nullptr) throw InputError(std::string("its head has an invalid ") + name);
    return *found;
  }
  static const Json::Array& array(const Json& json, const char* name) { return as<Json::Array>(field(json, name), name); }
  static std::uint64_t number(const Json& json, const char* name) { return whole_number(field(json, name)); }
  static std::uint32_t short_number(const Json& json) {
    const std::size_t found = whole_number(json);
    if (found > Users::nobody) throw InputError("a number in its head is too large");
    return static_cast<std::uint32_t>(found);
  }
  static std::vector<std::uint64_t> numbers(const Json& json, const char* name) {
    std::vector<std::uint64_t> all;
    for (const Json& each : array(json, name)) all.push_back(whole_number(each));
    return all;
  }
};

inline ChangesHead read_head(ChunkReader& reader) {
  try {
    return ChangesHead(reader.next());
  } catch (const InputError& error) {
    throw BadFile(reader.source + " is not a hinge fleet: " + error.what());
  }
}

class ChangesApplier {
 public:
  // Applies changes whose head has been read. Nobody else may use the fleet meanwhile.
  ChangesApplier(Fleet& fleet, ChangesHead head) : fleet_(fleet), head_(std::move(head)) {}
  ~ChangesApplier() {
    for (Keys::Change& change : changes_) fleet_.keys.drop_staged(change);
  }
  ChangesApplier(const ChangesApplier&) = delete;
  ChangesApplier& operator=(const ChangesApplier&) = delete;

  // Returns false if the fleet has these changes already.
  bool apply(ChunkReader& reader, const Poll& poll) {
    check_options();
    if (!is_new()) return false;
    try {
      read(reader, poll);
    } catch (const InputError& error) {
      throw BadFile(reader.source + " is invalid: " + error.what());
    }
    take_over();
    return true;
  }

 private:
  // The fleet becomes as the other one is. Everything has been checked, and what can fail comes first.
  void take_over() {
    const std::size_t had_names = fleet_.names.size();
    try {
      for (const auto& [hash, name] : names_) fleet_.names.append(hash, name);
      fleet_.names.mark(head_.until);
      fleet_.keys.prepare(changes_, head_.slots);
    } catch (...) {
      fleet_.names.truncate(had_names);
      throw;
    }
    fleet_.keys.take(changes_, head_.slots, head_.first_free, head_.hand);
    if (shared_) fleet_.keys.share(std::move(shared_));
    fleet_.labels = std::move(labels_);
    fleet_.set_known(std::move(head_.known));
    fleet_.lineage.take(std::move(head_.lineage));
    fleet_.clock = head_.until;
    fleet_.ignored = head_.ignored;
  }

  void read(ChunkReader& reader, const Poll& poll) {
    take_labels();
    bool ended = false;
    while (!reader.at_end()) {
      if (ended) throw InputError("something follows its end");
      const Chunk chunk = reader.next();
      ended = take(chunk);
      poll();
    }
    if (!ended) reader.damaged("truncated");
    check();
  }

  // ---- whether they fit ----

  void check_options() const {
    const FleetOptions& its = fleet_.options;
    if (head_.settings != settings_text(its.settings) || head_.shared != its.shared || head_.personal != its.personal ||
        head_.closed != its.closed)
      throw InputError("the fleet that has made these changes has other options");
  }
  bool is_new() const {
    const Lineage& own = fleet_.lineage;
    if (own.is_empty() && head_.since == 0) return true;
    if (Lineage::contains(own.parts(), fleet_.clock, maker(), head_.until)) return false;
    const bool is_copy = Lineage::contains(head_.lineage, head_.until, own.name(), fleet_.clock);
    if (!is_copy)
      throw InputError("these are not changes of the fleet that this one is a copy of (a copy that has learned by itself is none)");
    if (head_.since > fleet_.clock)
      throw InputError("these are the changes since " + std::to_string(head_.since) + ", the fleet has those until " +
                       std::to_string(fleet_.clock) + ": some are missing");
    return true;
  }
  std::string_view maker() const { return head_.lineage.empty() ? std::string_view() : std::string_view(head_.lineage.back().name); }

  // ---- reading ----

  void take_labels() {
    for (const Label& label : head_.labels) {
      if (labels_.find(label) != LabelTable::unknown) throw InputError("it has a label twice");
      labels_.add(label);
    }
    for (std::size_t i = 0; i < head_.known.size(); ++i) {
      const auto end = head_.known.begin() + static_cast<std::ptrdiff_t>(i);
      if (head_.known[i] >= labels_.size() || std::find(head_.known.begin(), end, head_.known[i]) != end)
        throw InputError("its labels are invalid");
    }
    const std::size_t most = fleet_.own_labels() ? labels_.size() : head_.known.size();
    if (!fleet_.is_classification() && labels_.size() > 0) throw InputError("it has labels");
    limits_ = {Fleet::longest_key, fleet_.width_for(most), labels_.size(), fleet_.own_labels() ? labels_.size() : 0};
  }
  // Returns whether it was the last one.
  bool take(const Chunk& chunk) {
    std::string_view rest = chunk.content;
    switch (chunk.kind) {
      case ChunkKind::shared: take_shared(rest); return false;
      case ChunkKind::names: while (!rest.empty()) take_name(rest); return false;
      case ChunkKind::keys: while (!rest.empty()) take_key(rest); return false;
      case ChunkKind::free: while (!rest.empty()) take_free(rest); return false;
      case ChunkKind::end: {
        const ChangeCounts said = take_number<ChangeCounts>(rest);
        if (!rest.empty() || said != counts_) throw InputError("some of its parts are missing");
        return true;
      }
      default: throw InputError("it has a part of an unknown kind");
    }
  }
  void take_shared(std::string_view rest) {
    if (shared_ || !fleet_.options.shared) throw InputError("it has shared weights that do not belong there");
    RecordLimits limits = limits_;
    limits.longest_key = 0;
    shared_ = unpacked(rest, fleet_.keys.layout, limits);
    if (Record(fleet_.keys.layout, shared_.get()).head().width != limits.most_width) throw InputError("its shared weights have an invalid width");
    // It bounds the personal weights, too; those that have not been used since there are many labels are twice as large.
    limits_.weight_bound = 2 * Record(fleet_.keys.layout, shared_.get()).head().weight_bound;
  }
  void take_name(std::string_view& rest) {
    const auto hash = take_number<std::uint32_t>(rest), size = take_number<std::uint32_t>(rest);
    const std::string_view name = take_bytes(rest, size);
    if (!is_name(name) || feature_hash(name) != hash) throw InputError("it has an invalid name");
    names_.emplace_back(hash, std::string(name));
    counts_.names += 1;
  }
  void take_key(std::string_view& rest) {
    Keys::Change change;
    change.user = take_number<std::uint32_t>(rest);
    const auto size = take_number<std::uint32_t>(rest);
    change.slot.stamp = take_number<std::uint64_t>(rest);
    RecordBytes record = unpacked(take_bytes(rest, size), fleet_.keys.layout, limits_);
    const Record its(fleet_.keys.layout, record.get());
    if (!is_name(its.key())) throw InputError("it has an invalid key");
    const std::size_t labels = fleet_.own_labels() ? its.head().labels : head_.known.size();
    const bool may_be_narrow = fleet_.options.shared;  // until the key learns again
    if (its.head().width != width_of(labels) && !may_be_narrow) throw InputError("a record has an invalid width");
    changes_.emplace_back();
    fleet_.keys.stage(change, std::move(record));
    changes_.back() = change;
    counts_.keys += 1;
  }
  void take_free(std::string_view& rest) {
    Keys::Change change;
    change.user = take_number<std::uint32_t>(rest);
    const auto next = take_number<std::uint32_t>(rest);
    change.slot = Users::User::free(next, take_number<std::uint64_t>(rest));
    changes_.push_back(change);
    counts_.free += 1;
  }
  std::uint32_t width_of(std::size_t labels) {
    if (widths_.size() <= labels) widths_.resize(labels + 1);
    if (widths_[labels] == 0) widths_[labels] = fleet_.width_for(labels);
    return widths_[labels];
  }
  // A number, or text in UTF-8, in which Python may have lone surrogates.
  static bool is_name(std::string_view name) { return NumberName::is_number(name) || is_utf8(name, true); }

  // ---- the whole ----

  void check() {
    if (fleet_.options.shared && !shared_) throw InputError("it has no shared weights");
    if (head_.names_before > fleet_.names.size()) throw InputError("some names are missing");
    names_.erase(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(std::min(names_.size(), fleet_.names.size() - head_.names_before)));
    const std::size_t had = fleet_.keys.slots();
    if (head_.slots < had || head_.slots - had > changes_.size()) throw InputError("some slots are missing");
    std::vector<const Keys::Change*> by_slot(head_.slots);
    for (const Keys::Change& change : changes_) {
      const bool fits = change.user < head_.slots && change.slot.stamp > head_.since && change.slot.stamp <= head_.until;
      if (!fits || by_slot[change.user] != nullptr) throw InputError("a slot is invalid");
      by_slot[change.user] = &change;
    }
    for (std::size_t user = had; user < head_.slots; ++user)
      if (by_slot[user] == nullptr) throw InputError("some slots are missing");
    check_free(by_slot);
    check_keys(by_slot);
  }
  // The free slots form one list.
  void check_free(const std::vector<const Keys::Change*>& by_slot) const {
    const auto slot = [&](std::size_t user) { return by_slot[user] ? by_slot[user]->slot : fleet_.keys.slot(static_cast<std::uint32_t>(user)); };
    std::size_t free = 0, listed = 0;
    for (std::size_t user = 0; user < head_.slots; ++user) free += slot(user).is_free();
    for (std::uint32_t user = head_.first_free; user != Users::nobody && listed <= free; ++listed) {
      if (user >= head_.slots || !slot(user).is_free()) throw InputError("its list of free slots is invalid");
      user = slot(user).next_free();
    }
    if (listed != free) throw InputError("its list of free slots is invalid");
  }
  // No key is there twice.
  void check_keys(const std::vector<const Keys::Change*>& by_slot) const {
    std::vector<std::pair<std::uint32_t, const Keys::Change*>> by_tag;
    for (const Keys::Change& change : changes_) {
      if (change.slot.is_free()) continue;
      by_tag.emplace_back(change.tag, &change);
      if (fleet_.keys.size() == 0) continue;
      const std::uint32_t now = fleet_.keys.find(fleet_.keys.look(change)->key(), change.tag);
      if (now != Users::nobody && by_slot[now] == nullptr) throw InputError("a key is there twice");
    }
    std::sort(by_tag.begin(), by_tag.end());
    for (std::size_t i = 0; i < by_tag.size(); ++i)
      for (std::size_t j = i + 1; j < by_tag.size() && by_tag[j].first == by_tag[i].first; ++j)
        if (fleet_.keys.look(*by_tag[i].second)->key() == fleet_.keys.look(*by_tag[j].second)->key())
          throw InputError("a key is there twice");
  }

  Fleet& fleet_;
  ChangesHead head_;
  RecordLimits limits_{};
  LabelTable labels_;
  RecordBytes shared_;
  std::vector<std::pair<std::uint32_t, std::string>> names_;
  std::vector<Keys::Change> changes_;
  std::vector<std::uint32_t> widths_;
  ChangeCounts counts_;
};

}  // namespace hinge
