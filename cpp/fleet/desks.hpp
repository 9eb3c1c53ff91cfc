// The desks of a fleet: one for each number of labels. Threads that predict take desks of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "desk.hpp"

namespace hinge {

class Desks {
 public:
  explicit Desks(Settings settings) : settings_(std::move(settings)) { spare_.reserve(most_spare); }

  // That of the thread that learns, until the next call. One or two labels have one w. Those that were used last are kept.
  Desk& of(std::size_t labels) {
    const std::size_t kind = kind_of(labels);
    const auto found = std::find_if(own_.begin(), own_.end(), [&](const Spare& its) { return its.first == kind; });
    if (found != own_.end()) {
      if (found != own_.begin()) std::rotate(own_.begin(), found, found + 1);
    } else {
      auto fresh = made(kind);
      if (own_.size() >= most_own) own_.pop_back();
      own_.emplace(own_.begin(), kind, std::move(fresh));
    }
    return *own_.front().second;
  }

  // A desk for a thread that predicts, until the end of its scope.
  class Borrowed {
   public:
    Borrowed(const Desks& desks, std::size_t labels) : desks_(desks), kind_(desks.kind_of(labels)) {
      {
        // A lock that another thread held during a fork is held for ever in the child.
        const std::unique_lock held(desks.lock_, std::try_to_lock);
        if (!held.owns_lock()) {
          desk_ = desks.made(kind_);
          return;
        }
        const auto found = std::find_if(desks.spare_.begin(), desks.spare_.end(),
                                        [&](const Spare& spare) { return spare.first == kind_; });
        if (found != desks.spare_.end()) {
          desk_ = std::move(found->second);
          desks.spare_.erase(found);
        }
      }
      if (!desk_) desk_ = desks.made(kind_);
    }
    ~Borrowed() {
      const std::unique_lock held(desks_.lock_, std::try_to_lock);
      if (held.owns_lock() && desks_.spare_.size() < most_spare) desks_.spare_.emplace_back(kind_, std::move(desk_));
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    Desk& operator*() const { return *desk_; }

   private:
    const Desks& desks_;
    std::size_t kind_;
    std::unique_ptr<Desk> desk_;
  };

 private:
  using Spare = std::pair<std::size_t, std::unique_ptr<Desk>>;
  static constexpr std::size_t most_spare = 16, most_own = 8;

  bool has_labels() const { return settings_.task == "classification"; }
  std::size_t kind_of(std::size_t labels) const { return has_labels() ? std::max<std::size_t>(2, labels) : 0; }
  std::unique_ptr<Desk> made(std::size_t kind) const {
    Settings settings = settings_;
    if (has_labels()) settings.labels = kind;
    auto desk = std::make_unique<Desk>(settings);
    desk->learner.observes = Observes::nothing;
    return desk;
  }

  Settings settings_;
  std::vector<Spare> own_;  // the one that was used last comes first
  mutable std::mutex lock_;
  mutable std::vector<Spare> spare_;
};

}  // namespace hinge
