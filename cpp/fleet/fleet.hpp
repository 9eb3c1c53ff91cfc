// START HERE for fleets: a small model for each key, or one model that all keys share with a personal part for each.
//
// The state of a key is a record (record.hpp). An event lays the columns that it names out on a desk (desk.hpp), a learner
// of a few columns, which runs the usual round. So a fleet has no rules of its own:
//     per key             the learner of the key: its weights, its statistics, its labels
//     shared + personal   one learner of the instance (x, s x_key): the shared record is its first part, and lends it the
//                         scalars; the record of the key is the second part, and its biases are the personal copy of the
//                         constant feature
// Changes are noted (undo.hpp): an event or a batch that is rejected leaves no trace.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "desks.hpp"
#include "event.hpp"
#include "keys.hpp"
#include "lineage.hpp"
#include "reshape.hpp"

namespace hinge {

class Fleet {
 public:
  static constexpr std::size_t longest_key = 1024;  // bytes

  explicit Fleet(FleetOptions given)
      : options(std::move(given)), keys(Desk::layout_of(options.settings), options.memory), names(options.max_names),
        desks_(unlimited(options.settings)) {
    if (options.shared) keys.share(Record::made(keys.layout, {}, 0, width_of(0), 64));
  }
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  bool is_classification() const { return options.settings.task == "classification"; }
  // Whether each key has labels of its own, as a learner of its own would.
  bool own_labels() const { return is_classification() && !options.shared && !options.closed; }

  // ---- learning ----

  // Learns an event, or nothing if it throws. `before`: its scores before it is learned, if they are wanted.
  void learn(const FleetEvent& e, FleetScores* before = nullptr) {
    keys.make_room(clock);
    all_or_nothing([&] { learn_noted(e, before); });
  }
  // Learns `count` events, or none of them. `events(i, e)` fills in an event, `scored(i, scores)` is called when it was
  // learned (see `last`), with its scores from before if `wants_scores`. `poll` is called from time to time, and may throw.
  template <class Events, class Scored>
  void learn_many(std::size_t count, const Events& events, bool wants_scores, Scored& scored, const Poll& poll) {
    std::size_t row = 0;
    FleetEvent e;
    FleetScores before;
    keys.make_room(clock);
    try {
      all_or_nothing([&] {
        for (row = 0; row < count; ++row) {
          if (row % poll_every == poll_every - 1) poll();
          prefetch(events, row, count);
          events(row, e);
          learn_noted(e, wants_scores ? &before : nullptr);
          scored(row, before);
        }
        if (count > 1) poll();
      });
    } catch (InputError& error) {
      if (error.row == none) error.row = row;
      throw;
    }
  }

  // ---- scores ----

  // The scores that a learner of the key would have; for a new key, those of a learner that has not learned yet.
  void score(const FleetEvent& e, FleetScores& to) const {
    const std::uint32_t user = keys.find(e.key, e.tag);
    labels_for(user, to.labels);
    const Desks::Borrowed borrowed(desks_, to.labels.size());
    Desk& desk = *borrowed;
    lay_out_known(desk, user, e.x);
    read_scores(desk, to);
  }
  template <class Events, class Scored>
  void score_many(std::size_t count, const Events& events, Scored& scored, const Poll& poll) const {
    FleetEvent e;
    FleetScores scores;
    for (std::size_t row = 0; row < count; ++row) {
      if (row % poll_every == poll_every - 1) poll();
      prefetch(events, row, count);
      events(row, e);
      try {
        score(e, scores);
      } catch (InputError& error) {
        if (error.row == none) error.row = row;
        throw;
      }
      scored(row, scores);
    }
  }

  // ---- keys and labels ----

  // Forgets a key.
  void remove(std::uint32_t user) {
    all_or_nothing([&] { keys.remove(user, ++clock); });
  }
  // The labels of a key in the order of its learner. (`Users::nobody`: of a key that is new.)
  void labels_for(std::uint32_t user, std::vector<std::uint32_t>& found) const {
    found.clear();
    if (!own_labels()) {
      found = known_;
    } else if (user != Users::nobody) {
      const RecordLook its = keys.look(user);
      found.assign(its->labels(), its->labels() + its->head().labels);
    }
  }
  // The labels of all keys, unless each has its own.
  const std::vector<std::uint32_t>& known() const { return known_; }
  void set_known(std::vector<std::uint32_t> all) noexcept { known_ = std::move(all); }
  // The weights per feature for so many labels.
  std::uint32_t width_for(std::size_t labels_known) const {
    Settings settings = options.settings;
    if (is_classification()) settings.labels = std::max<std::size_t>(2, labels_known);
    return Desk::width_of(settings);
  }
  // At the start: the labels of closed classes.
  void set_labels(const std::vector<Label>& all) {
    for (const Label& label : all) known_.push_back(labels.add(label));
    if (options.shared) keys.share(Record::made(keys.layout, {}, 0, width_of(known_.size()), 64));
  }
  std::size_t bytes() const { return static_cast<std::size_t>(keys.bytes()) + names.bytes(); }
  // What rounds count: their sums.
  static void add(Statistics& to, const Statistics& counted) { add_difference(to, {}, counted); }

  FleetOptions options;
  Keys keys;
  LabelTable labels;
  FeatureNames names;
  Lineage lineage;
  std::uint64_t clock = 0;    // of changes: a key has the stamp of its last one
  std::size_t ignored = 0;    // events and features for which there was no room
  FleetRound last;            // the round of the last event; none if it was not learned

 private:
  static constexpr std::size_t poll_every = 4096;

  static Settings unlimited(Settings settings) {
    settings.max_weights = HUGE_VAL;  // a fleet has its own limits
    return settings;
  }
  std::uint32_t width_of(std::size_t labels_known) { return static_cast<std::uint32_t>(desks_.of(labels_known).width()); }
  bool has_intercept() const { return options.settings.fit_intercept; }
  std::size_t label_count(std::uint32_t user) const { return own_labels() ? keys.record(user).head().labels : known_.size(); }

  template <class Function>
  void all_or_nothing(const Function& function) {
    const std::size_t had_labels = labels.size(), had_names = names.size(), had_ignored = ignored;
    const std::uint64_t had_clock = clock;
    known_before_ = known_;
    try {
      function();
      if (names.size() != had_names) names.mark(clock);
      if (clock != had_clock) lineage.begin(had_clock);
    } catch (...) {
      keys.take_back();
      labels.truncate(had_labels);
      names.truncate(had_names);
      known_ = known_before_;
      ignored = had_ignored;
      clock = had_clock;
      throw;
    }
    keys.commit();
  }

  // Keys come at random, and each has its own piece of memory: many of them are waited for at the same time. The same goes for
  // the shared features of an event.
  template <class Events>
  void prefetch(const Events& events, std::size_t row, std::size_t count) const {
    constexpr std::size_t slot = 12, user = 9, head = 6, record = 3, index = 4, weights = 2;
    if (row + slot < count) keys.prefetch_slot(events.tag(row + slot));
    if (row + user < count) keys.prefetch_user(events.tag(row + user));
    if (row + head < count) keys.prefetch_head(events.tag(row + head));
    if (row + record < count) keys.prefetch_record(events.tag(row + record));
    if (!options.shared) return;
    const Record shared = keys.record(Users::nobody);
    if (row + index < count) shared.prefetch_index(events.features_ahead(row + index));
    if (row + weights < count) shared.prefetch_weights(events.features_ahead(row + weights));
  }

  // ---- an event ----

  void learn_noted(const FleetEvent& e, FleetScores* before) {
    std::uint32_t user = keys.find_and_hold(e.key, e.tag);
    const bool is_new = user == Users::nobody;
    if (e.key.size() > longest_key)
      throw InputError("a key must have at most " + std::to_string(longest_key) + " bytes, not " + std::to_string(e.key.size()));
    last = {};
    if (before != nullptr && (is_new || !(e.weight > 0) || !knows_label(e, user))) score(e, *before), before = nullptr;
    if (!(e.weight > 0)) return check_only(e, e.weight);
    if (is_new && (user = add_key(e)) == Users::nobody) {  // ignored, and still rejected if it is invalid
      if (options.closed && !knows_label(e, user)) reject_label(e);
      return check_only(e, std::isfinite(e.weight) ? 0 : e.weight);
    }
    last.age = keys.record(user).head().statistics.rounds;
    const LabelCode code = is_classification() ? code_of(e, user) : LabelCode{e.target, false};
    Desk& desk = desks_.of(label_count(user));
    widen(user, desk);
    if (options.shared) widen(Users::nobody, desk);
    learn_on(desk, user, e, code.truth, before);
    if (code.flips) flip(user);
    keys.set_stamp(user, ++clock);
  }

  // The columns of an event in one record. It is named by its user, since it may get new bytes.
  struct Part {
    std::uint32_t user;
    ColumnOrder& order;
    std::vector<std::uint32_t>& places;
    std::uint32_t ignored = 0;
    RecordColumns at = {};
  };

  void learn_on(Desk& desk, std::uint32_t user, const FleetEvent& e, double truth, FleetScores* before) {
    Part base{options.shared ? Users::nobody : user, base_order_, base_places_};
    Part personal{user, personal_order_, personal_places_};
    const bool base_complete = find(base, e.x), personal_complete = !options.shared || find(personal, e.x);
    if (before != nullptr && !(base_complete && personal_complete)) score(e, *before), before = nullptr;
    if (!base_complete) add_missing(base, e.x);
    if (!personal_complete) add_missing(personal, e.x);

    const Record first = keys.record(base.user), second = keys.record(user);  // the bytes stay where they are from here on
    desk.load(first, options.settings.average_from);
    settle_constant(desk, base.at);
    desk.clear();
    desk.lay_out(first, base.at, 1);
    keys.note_learning(base.user, base.at, desk, 0);
    const std::size_t column = desk.columns();
    if (options.shared) {
      desk.lay_out(second, personal.at, options.personal);
      keys.note_learning(user, personal.at, desk, column);
      if (has_intercept()) desk.lay_out_biases(second, options.personal * desk.constant());
    }
    if (before != nullptr) labels_for(user, before->labels), read_scores(desk, *before);
    const Statistics was = desk.learner.statistics;
    try {
      desk.learner.learn_one(desk.instance(), Truth{truth}, e.weight);  // nothing throws after this
    } catch (InputError& error) {
      name_column(error, first, base.at);
      throw;
    }
    put_away(desk, first, base, 0);
    desk.store(first);
    add_difference(last.counted, was, desk.learner.statistics);
    if (!options.shared) return;
    put_away(desk, second, personal, column);
    if (has_intercept()) desk.put_away_biases(second, desk.columns() - 1);
    add_difference(second.head().statistics, was, desk.learner.statistics);
  }
  // The columns of a desk mean nothing to others.
  void name_column(InputError& error, const Record& record, const RecordColumns& at) const {
    if (error.column >= at.size) return;
    error.name = names.name_of(record.hashes()[at.places[error.column]]);
    error.column = none;
  }
  void put_away(const Desk& desk, const Record& its, const Part& part, std::size_t column) {
    desk.put_away(its, part.at, column);
    its.head().ignored += part.ignored;
    ignored += part.ignored;
  }
  // What a round of the shared learner counts for the key.
  static void add_difference(Statistics& to, const Statistics& before, const Statistics& after) {
    to.rounds += after.rounds - before.rounds;
    to.mistakes += after.mistakes - before.mistakes;
    to.updates += after.updates - before.updates;
    to.loss += after.loss - before.loss;
    to.squared_loss += after.squared_loss - before.squared_loss;
    to.cost += after.cost - before.cost;
    to.capped += after.capped - before.capped;
    to.weighted += after.weighted - before.weighted;
  }
  // The constant feature of the intercept depends on the first example, without its personal copy.
  static void settle_constant(Desk& desk, const RecordColumns& at) {
    if (!desk.learner.awaits_constant) return;
    Instance x;
    x.values = at.values;
    x.size = at.size;
    desk.learner.memory().set_constant(constant_near(x));
    desk.learner.awaits_constant = false;
  }
  // An example without weight must still be valid.
  void check_only(const FleetEvent& e, double weight) {
    Desk& desk = desks_.of(0);
    desk.lay_out_values(e.x.values, e.x.size);
    desk.learner.learn_one(desk.instance(), Truth{is_classification() ? 0 : e.target}, weight);
  }

  // ---- features ----

  // Returns whether the record has all features.
  bool find(Part& part, const EventFeatures& x) const {
    if (part.places.size() < x.size) part.places.resize(x.size);
    std::uint32_t* const places = part.places.data();
    keys.record(part.user).find(x.hashes, x.size, places);
    bool misses = false;
    for (std::size_t j = 0; j < x.size; ++j) misses |= places[j] == Record::missing;
    if (!misses) part.at = part.order.ordered(places, x.values, x.size);
    return !misses;
  }
  // What an event has already noted of the record that gets its features.
  struct AddedFeatures {
    bool is_first = true, is_copied = false;
  };
  void add_missing(Part& part, const EventFeatures& x) {
    AddedFeatures added;
    for (std::size_t j = 0; j < x.size; ++j) {
      std::uint32_t& place = part.places[j];
      if (place == Record::missing) keys.record(part.user).find(&x.hashes[j], 1, &place);  // a name may come twice
      if (place == Record::missing) place = add_feature(part, x, j, added);
      part.ignored += place == Record::missing;
    }
    part.at = part.order.ordered_known(part.places.data(), x.values, x.size, Record::missing);
  }
  std::uint32_t add_feature(const Part& part, const EventFeatures& x, std::size_t j, AddedFeatures& added) {
    const bool is_shared = part.user == Users::nobody;
    const std::size_t most = is_shared ? options.max_shared_features : options.max_features;
    if (keys.record(part.user).head().features >= most) {
      if (options.at_max_features == WhenFull::reject) reject_feature(x, j, most, is_shared);
      const std::uint32_t place = options.at_max_features == WhenFull::evict && !is_shared ? smallest(part, x) : Record::missing;
      if (place == Record::missing) return place;
      names.add(x, j);
      if (!std::exchange(added.is_copied, true)) keys.replace(part.user, keys.record(part.user).copy());
      keys.record(part.user).replace(place, x.hashes[j]);
      return place;
    }
    names.add(x, j);
    return keys.add_feature(part.user, x.hashes[j], std::exchange(added.is_first, false));
  }
  [[noreturn]] void reject_feature(const EventFeatures& x, std::size_t j, std::size_t most, bool is_shared) const {
    InputError error("it is new, and the " + std::string(is_shared ? "fleet" : "key") + " already has " + std::to_string(most) +
                     " features, its limit (" + (is_shared ? "max_shared_features)" : "max_features)"));
    error.name = names.name_of(x, j);
    throw error;
  }
  // The feature with the smallest weights, of those that are not in the event.
  std::uint32_t smallest(const Part& part, const EventFeatures& x) const {
    const Record record = keys.record(part.user);
    std::vector<bool> is_used(record.head().features);
    for (std::size_t j = 0; j < x.size; ++j) {
      std::uint32_t place = Record::missing;
      record.find(&x.hashes[j], 1, &place);
      if (place != Record::missing) is_used[place] = true;
    }
    std::uint32_t best = Record::missing;
    double least = HUGE_VAL;
    with_weights(record, keys.layout, [&](const auto* weights, std::size_t) {
      for (std::uint32_t place = 0; place < record.head().features; ++place) {
        double size = 0;
        for (std::size_t r = 0; r < record.head().width; ++r)
          size = std::max(size, std::abs(static_cast<double>(weights[std::size_t{place} * record.head().width + r])));
        if (!is_used[place] && size < least) least = size, best = place;
      }
    });
    return best;
  }

  // ---- reading ----

  void read_scores(const Desk& desk, FleetScores& to) const {
    to.lanes.resize(desk.learner.lanes());
    desk.learner.score_one(desk.instance(), options.settings.average_from > 0, to.lanes.data());
  }
  // Lays out the columns of an event that the records know.
  void lay_out_known(Desk& desk, std::uint32_t user, const EventFeatures& x) const {
    desk.clear();
    if (user == Users::nobody && !options.shared) return desk.begin();
    const RecordLook base = keys.look(options.shared ? Users::nobody : user);
    desk.load(*base, options.settings.average_from);
    lay_out_known(desk, *base, x, 1);
    if (!options.shared || user == Users::nobody) return;
    const RecordLook look = keys.look(user);
    const Record& narrow = *look;
    const bool is_wide = narrow.head().width == desk.width();
    const RecordBytes wide = is_wide ? nullptr : reshaped(narrow, keys.layout, narrow.head().labels, static_cast<std::uint32_t>(desk.width()));
    const Record its(keys.layout, is_wide ? narrow.bytes() : wide.get());
    lay_out_known(desk, its, x, options.personal);
    if (has_intercept()) desk.lay_out_biases(its, options.personal * desk.constant());
  }
  static void lay_out_known(Desk& desk, const Record& record, const EventFeatures& x, double scale) {
    static thread_local ColumnOrder order;
    static thread_local std::vector<std::uint32_t> places;
    if (places.size() < x.size) places.resize(x.size);
    record.find(x.hashes, x.size, places.data());
    desk.lay_out(record, order.ordered_known(places.data(), x.values, x.size, Record::missing), scale);
  }

  // ---- keys ----

  // Nobody if the fleet is full and new keys are ignored.
  std::uint32_t add_key(const FleetEvent& e) {
    while (keys.size() >= options.max_keys) {  // more than once if the fleet was loaded with a smaller limit
      if (options.at_max_keys == WhenFull::reject)
        throw InputError("the key " + shown_name(e.key) + " is new, and the fleet already has " + std::to_string(keys.size()) +
                         " keys, its limit (max_keys)");
      if (options.at_max_keys == WhenFull::ignore) {
        ignored += 1;
        clock += 1;  // a change: replicas count it, too
        return Users::nobody;
      }
      keys.remove(keys.idle(clock), clock + 1);
    }
    const auto room = static_cast<std::uint32_t>(std::min(e.x.size, options.max_features));
    return keys.add(e.tag, Record::made(keys.layout, e.key, 0, width_of(own_labels() ? 0 : known_.size()), room), clock + 1);
  }

  // ---- labels ----

  std::uint32_t id_of(const FleetEvent& e) const {
    return e.label_id != LabelTable::unknown ? e.label_id : labels.find(*e.label);
  }
  bool knows_label(const FleetEvent& e, std::uint32_t user) const {
    if (!is_classification()) return true;
    const std::uint32_t id = id_of(e);
    const auto is_among = [&](const auto* from, std::size_t count) { return std::find(from, from + count, id) != from + count; };
    if (!own_labels()) return is_among(known_.data(), known_.size());
    const RecordLook its = keys.look(user);
    return is_among(its->labels(), its->head().labels);
  }
  [[noreturn]] static void reject_label(const FleetEvent& e) {
    throw InputError("the label " + shown_label(*e.label) + " is not one of the classes");
  }
  // What the label of an event is for the learner, which gets it if it is new.
  LabelCode code_of(const FleetEvent& e, std::uint32_t user) {
    labels_for(user, of_event_);
    std::uint32_t id = id_of(e);
    const auto found = std::find(of_event_.begin(), of_event_.end(), id);
    if (id != LabelTable::unknown && found != of_event_.end())
      return {label_code(static_cast<std::size_t>(found - of_event_.begin()), of_event_.size()), false};
    if (options.closed) reject_label(e);
    if (of_event_.size() >= options.max_labels)
      throw InputError("the label " + shown_label(*e.label) + " is new, and the model has " + std::to_string(of_event_.size()) + " labels, its limit (max_labels)");
    if (id == LabelTable::unknown) id = labels.add(*e.label);
    const LabelCode code = add_label(labels, id, of_event_);
    if (!own_labels()) {
      known_ = of_event_;
      return code;
    }
    keys.replace(user, reshaped(keys.record(user), keys.layout, static_cast<std::uint32_t>(of_event_.size()), width_of(of_event_.size())));
    std::copy(of_event_.begin(), of_event_.end(), keys.record(user).labels());
    return code;
  }
  // There may be more labels since a record was used last.
  void widen(std::uint32_t user, const Desk& desk) {
    const Record its = keys.record(user);
    if (its.head().width == desk.width()) return;
    keys.replace(user, reshaped(its, keys.layout, its.head().labels, static_cast<std::uint32_t>(desk.width())));
  }
  // The two classes change places: for a key, or for all that share them.
  void flip(std::uint32_t user) {
    const auto flip_one = [&](std::uint32_t each) { keys.replace(each, flipped(keys.record(each), keys.layout)); };
    if (own_labels()) return flip_one(user);
    if (options.shared) flip_one(Users::nobody);
    for (std::uint32_t each = 0; each < keys.slots(); ++each)
      if (keys.exists(each)) keys.hold(each), flip_one(each), keys.set_stamp(each, clock + 1);
  }

  Desks desks_;
  std::vector<std::uint32_t> known_, known_before_;  // the labels of all keys, unless each has its own
  std::vector<std::uint32_t> of_event_;
  ColumnOrder base_order_, personal_order_;
  std::vector<std::uint32_t> base_places_, personal_places_;
};

}  // namespace hinge
