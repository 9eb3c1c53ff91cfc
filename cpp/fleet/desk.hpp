// A learner of a few columns, on which the columns of one event are laid out: the round is that of any learner. Afterwards
// they are put away into the records they came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <variant>
#include <vector>

#include "../model/build.hpp"
#include "columns.hpp"
#include "record.hpp"

namespace hinge {

class Desk {
 public:
  explicit Desk(const Settings& s)
      : settings(s), learner(build(s)), waits_(waits_for_constant(s)), first_constant_(first_constant(s)) {
    find_flat();
    if (has_covariance(s)) diagonal_ = static_cast<Diagonal*>(&shaped_of(learner).shape());
  }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  Settings settings;
  Learner learner;

  static RecordLayout layout_of(const Settings& s) {
    return {s.single ? sizeof(float) : sizeof(double), s.average_from > 0, has_covariance(s)};
  }
  // The number of weights per feature.
  static std::uint32_t width_of(const Settings& s) {
    const std::size_t lanes = lanes_of(s);
    if (lanes == 0) return 1;
    return static_cast<std::uint32_t>(s.single ? padded<float>(lanes) : padded<double>(lanes));
  }

  std::size_t width() const { return width_; }
  bool many_lanes() const { return lanes_of(settings) > 0; }

  // ---- the event ----

  void clear() { x_.clear(); }
  // An instance without weights.
  void lay_out_values(const double* values, std::size_t count) {
    x_.assign(values, values + count);
    make_room(count);
  }
  std::size_t columns() const { return x_.size(); }
  // Lays out columns of a record after those that are there; their values are multiplied by `scale`.
  void lay_out(const Record& record, const RecordColumns& at, double scale) {
    const std::size_t first = x_.size();
    x_.resize(first + at.size);
    make_room(x_.size());
    for (std::size_t j = 0; j < at.size; ++j) x_[first + j] = scale * at.values[j];
    if (record.head().width != width_) throw std::logic_error("a record has not been widened");
    gather(record.v(), v_, layout_.real * width_, at, first);
    if (layout_.averages) gather(record.u(), u_, sizeof(double) * width_, at, first);
    if (layout_.variances) gather(record.t(), t_, sizeof(double), at, first);
  }
  // Lays out one column whose weights are the biases of a record.
  void lay_out_biases(const Record& record, double value) {
    const std::size_t first = x_.size();
    x_.push_back(value);
    make_room(x_.size());
    for (std::size_t r = 0; r < width_; ++r) put_weight(first * width_ + r, record.biases()[r]);
    if (layout_.averages) std::memcpy(u_ + first * width_, record.bias_sums(), sizeof(double) * width_);
    if (layout_.variances) t_[first] = record.bias_precision();
  }
  // Puts the columns away: those from `first` on belong to these places.
  void put_away(const Record& record, const RecordColumns& at, std::size_t first) const {
    scatter(v_, record.v(), layout_.real * width_, at, first);
    if (layout_.averages) scatter(u_, record.u(), sizeof(double) * width_, at, first);
    if (layout_.variances) scatter(t_, record.t(), sizeof(double), at, first);
  }
  void put_away_biases(const Record& record, std::size_t column) const {
    for (std::size_t r = 0; r < width_; ++r) record.biases()[r] = weight(column * width_ + r);
    if (layout_.averages) std::memcpy(record.bias_sums(), u_ + column * width_, sizeof(double) * width_);
    if (layout_.variances) record.bias_precision() = t_[column];
  }
  // Calls function(bytes, size) for the arrays of some columns.
  template <class Function>
  void each_array(std::size_t first, std::size_t count, const Function& function) const {
    function(v_ + first * layout_.real * width_, count * layout_.real * width_);
    if (layout_.averages) function(reinterpret_cast<const char*>(u_ + first * width_), count * width_ * sizeof(double));
    if (layout_.variances) function(reinterpret_cast<const char*>(t_ + first), count * sizeof(double));
  }
  std::size_t bytes_per_column() const {
    return layout_.real * width_ + (layout_.averages ? sizeof(double) * width_ : 0) + (layout_.variances ? sizeof(double) : 0);
  }
  Instance instance() const {
    Instance x;
    x.values = x_.data();
    x.size = x_.size();
    return x;
  }

  // ---- the scalars of a learner, which are those of a record ----

  double constant() const { return learner.memory().constant(); }
  // Those of a learner that has not learned yet.
  void begin() {
    const RecordBytes fresh = Record::made(layout_, {}, 0, static_cast<std::uint32_t>(width_), 0);
    load(Record(layout_, fresh.get()), 1);
  }

  void load(const Record& record, std::int64_t average_from) {
    const RecordHead& h = record.head();
    learner.statistics = h.statistics;
    learner.awaits_constant = waits_ && h.constant == 0;
    learner.memory().set_constant(waits_ && h.constant != 0 ? h.constant : first_constant_);
    const std::int64_t tallied =
        layout_.averages ? std::max<std::int64_t>(0, h.statistics.rounds - average_from + 1) : 0;
    std::visit([&](auto* flat) { load_biases(*flat, record, tallied); }, flat_);
    learner.memory().flat().set_weight_bound(h.weight_bound);
    if (diagonal_ == nullptr) return;
    diagonal_->set_added(h.added);
    if (settings.fit_intercept) diagonal_->precisions()[0] = record.bias_precision();
  }
  void store(const Record& record) const {
    RecordHead& h = record.head();
    h.statistics = learner.statistics;
    h.constant = learner.awaits_constant ? 0 : learner.memory().constant();
    std::visit([&](const auto* flat) { store_biases(*flat, record); }, flat_);
    h.weight_bound = std::max(h.weight_bound, std::visit([](const auto* flat) { return flat->weight_bound(); }, flat_));
    if (diagonal_ == nullptr) return;
    h.added = diagonal_->added();
    if (settings.fit_intercept) record.bias_precision() = diagonal_->precisions()[0];
  }


 private:
  void find_flat() {
    Memory& flat = learner.memory().flat();
    const bool many = lanes_of(settings) > 0;
    layout_ = layout_of(settings);
    width_ = width_of(settings);
    if (settings.single && many) flat_ = static_cast<Lanes<float>*>(&flat);
    else if (settings.single) flat_ = static_cast<Weights<float>*>(&flat);
    else if (many) flat_ = static_cast<Lanes<double>*>(&flat);
    else flat_ = static_cast<Weights<double>*>(&flat);
    find_arrays();
  }
  void make_room(std::size_t columns) {
    if (columns <= learner.memory().dimension()) return;
    learner.memory().resize(std::max(columns, 2 * learner.memory().dimension()));
    find_arrays();
  }
  void find_arrays() {
    std::visit([&]<class Flat>(Flat* flat) {
      if constexpr (requires { flat->padded_weights(); }) {
        v_ = reinterpret_cast<char*>(flat->padded_weights());
        u_ = flat->padded_sums();
      } else {
        v_ = reinterpret_cast<char*>(flat->v.data());
        u_ = flat->u.data();
      }
    }, flat_);
    if (diagonal_ != nullptr) t_ = diagonal_->precisions().data() + (settings.fit_intercept ? 1 : 0);
  }

  template <class From>
  static void gather(const From* from, void* to, std::size_t bytes, const RecordColumns& at, std::size_t first) {
    const auto* source = reinterpret_cast<const char*>(from);
    auto* target = static_cast<char*>(to) + first * bytes;
    if (bytes == sizeof(double))
      for (std::size_t j = 0; j < at.size; ++j)
        std::memcpy(target + j * sizeof(double), source + std::size_t{at.places[j]} * sizeof(double), sizeof(double));
    else
      for (std::size_t j = 0; j < at.size; ++j)
        std::memcpy(target + j * bytes, source + std::size_t{at.places[j]} * bytes, bytes);
  }
  template <class To>
  static void scatter(const void* from, To* to, std::size_t bytes, const RecordColumns& at, std::size_t first) {
    const auto* source = static_cast<const char*>(from) + first * bytes;
    auto* target = reinterpret_cast<char*>(to);
    if (bytes == sizeof(double))
      for (std::size_t j = 0; j < at.size; ++j)
        std::memcpy(target + std::size_t{at.places[j]} * sizeof(double), source + j * sizeof(double), sizeof(double));
    else
      for (std::size_t j = 0; j < at.size; ++j)
        std::memcpy(target + std::size_t{at.places[j]} * bytes, source + j * bytes, bytes);
  }
  double weight(std::size_t place) const {
    return settings.single ? static_cast<double>(reinterpret_cast<const float*>(v_)[place])
                           : reinterpret_cast<const double*>(v_)[place];
  }
  void put_weight(std::size_t place, double value) {
    if (settings.single) reinterpret_cast<float*>(v_)[place] = static_cast<float>(value);
    else reinterpret_cast<double*>(v_)[place] = value;
  }

  template <class Real>
  static void load_biases(Weights<Real>& w, const Record& record, std::int64_t tallied) {
    w.now.bias = record.biases()[0];
    w.now.tallied = tallied;
    w.now.alpha = static_cast<double>(tallied);
    if (tallied > 0) w.now.bias_sum = record.bias_sums()[0];
    else w.now.bias_sum = 0;
  }
  template <class Real>
  static void load_biases(Lanes<Real>& w, const Record& record, std::int64_t tallied) {
    w.tallied = tallied;
    std::copy_n(record.biases(), w.biases.size(), w.biases.begin());
    if (tallied > 0) std::copy_n(record.bias_sums(), w.bias_sums.size(), w.bias_sums.begin());
    else std::fill(w.bias_sums.begin(), w.bias_sums.end(), 0.0);
  }
  template <class Real>
  void store_biases(const Weights<Real>& w, const Record& record) const {
    record.biases()[0] = w.now.bias;
    if (layout_.averages) record.bias_sums()[0] = w.now.bias_sum;
  }
  template <class Real>
  void store_biases(const Lanes<Real>& w, const Record& record) const {
    std::copy(w.biases.begin(), w.biases.end(), record.biases());
    if (layout_.averages) std::copy(w.bias_sums.begin(), w.bias_sums.end(), record.bias_sums());
  }

  bool waits_;
  double first_constant_;
  RecordLayout layout_;
  std::size_t width_ = 1;
  std::variant<Weights<double>*, Weights<float>*, Lanes<double>*, Lanes<float>*> flat_;
  Diagonal* diagonal_ = nullptr;
  char* v_ = nullptr;
  double *u_ = nullptr, *t_ = nullptr;
  std::vector<double> x_;
};

}  // namespace hinge
