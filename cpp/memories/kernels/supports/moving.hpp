// Supports: insertion, changes of coefficients, removal.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../supports.hpp"

namespace hinge {

inline void Supports::number(std::int64_t number, bool may_be_known) {
  number_ = number;
  known_ = passes_.on() ? passes_.support_of(ahead_.numbers[current_]) : none;
  if (!may_be_known || passes_.on()) return;
  const auto found = std::find(numbers.begin(), numbers.end(), number);
  if (found != numbers.end()) known_ = static_cast<std::size_t>(found - numbers.begin());
}

inline void Supports::make_room(double amount, double decay, bool replacing) {
  double largest = itself();
  if (passes_.on()) {
    kernels_ = kernels_with_rows();
    largest = std::max(largest, kernels_.largest);
  } else {
    const double* const kernels = ahead_.of(current_);
    for (std::size_t i = 0; i < count(); ++i) largest = std::max(largest, std::abs(kernels[i]));
  }
  const double step = amount * std::max(1.0, largest);
  double bound = decay * weight_bound_ + step;
  if (!(bound <= limit_)) bound = decay * largest_weight() + step;  // the bound may have become loose
  if (!(bound <= limit_)) throw InputError("the step would make a coefficient larger than the model can hold");
  if (known_ == none) {
    const std::size_t more = replacing ? count() : count() + 1;
    const double square = kind_.keeps_values ? 8.0 * static_cast<double>(more) * static_cast<double>(more) : 0;
    const double each = 8.0 * static_cast<double>(stride_ * (kind_.averaging ? 2 : 1) + 6);
    if (bytes_with(current_) + square + each * static_cast<double>(more) > kind_.max_bytes)
      throw InputError("the supports would take more than " +
                    std::to_string(static_cast<std::int64_t>(kind_.max_bytes)) +
                    " bytes (max_cache): give a budget, or a larger max_cache");
    reserve_vector(current_);
    grow(more);
    if (!passes_.on()) compare_rows_ahead();
  }
  weight_bound_ = bound;
}

inline void Supports::move(const double* amounts, double decay, const Instance& /*x*/) {
  const double amount = amounts[0];
  if (kind_.distances) {
    const double product = products_[0], along = averaging() ? sum_of_average() : 0;
    now.norm2 = std::max(0.0, decay * decay * now.norm2 + 2 * amount * decay * product + amount * amount * itself());
    now.sum_product = decay * now.sum_product + amount * along;
    for (double& bias : biases) bias *= decay;
    now.origin *= decay;
    shrink(decay);
  }
  const std::size_t i = known_ == none ? append() : known_;
  double* const c = v.data() + i * stride_;
  double* const sums = averaging() ? u.data() + i * stride_ : nullptr;
  double total = 0;
  for (std::size_t r = 0; kind_.shared && r < lanes(); ++r) {
    given[i * lanes() + r] += amounts[r];
    biases[r] -= amounts[r];
    total += amounts[r];
  }
  for (std::size_t r = 0; r < held(); ++r) {
    const double step = kind_.shared ? total : amounts[r] / now.scale, before = c[r];
    c[r] += step;
    if (sums != nullptr) sums[r] -= now.alpha * (c[r] - before);
    if (passes_.on()) passes_.add(r, c[r] - before, kernels_.values);
  }
  if (kind_.shared && kind_.sorted) std::sort(biases.begin(), biases.end());
  sum_up_shares();
}

inline void Supports::remove(std::size_t i, double own) {
  const std::size_t last = count() - 1;
  if (journaling_ && ages[i] < before_.numbers.now.insertions) buried_.push_back({ages[i], vector(i)});
  const double rest = kind_.distances ? rest_without(i) : 1;
  const double kernel = ahead_.count == 0 ? 0 : this->kernel(i);
  for (std::size_t r = 0; r < held(); ++r) products_[r] -= coefficient(i, r) * kernel;
  if (kind_.distances) {
    const bool left = all_without(i) >= nothing_left;
    now.norm2 = norm2_without(i, own);
    now.origin = left ? now.origin / rest : now.origin + coefficient(i, 0);
    now.scale /= rest;
    weight_bound_ = std::max(weight_bound_, weight_bound_ / rest);
    fold_if_needed();
  }
  for (std::size_t r = 0; kind_.shared && r < lanes(); ++r) biases[r] += given[i * lanes() + r];
  if (kind_.shared && kind_.sorted) std::sort(biases.begin(), biases.end());
  remove_vector(i);
  for (std::size_t row = current_; row < ahead_.count; ++row) ahead_.of(row)[i] = ahead_.of(row)[last];
  if (kind_.keeps_values) {
    for (std::size_t j = 0; j <= last; ++j) values_[i * room_ + j] = values_[last * room_ + j];
    for (std::size_t j = 0; j <= last; ++j) values_[j * room_ + i] = values_[j * room_ + last];
  }
  take_last(numbers, i, 1);
  take_last(ages, i, 1);
  take_last(itself_, i, 1);
  take_last(squares_, i, 1);
  take_last(v, i, stride_);
  take_last(u, i, averaging() ? stride_ : 0);
  take_last(given, i, kind_.shared ? lanes() : 0);
  if (kind_.distances && ahead_.count > 0) {
    sum_up(v, ahead_.of(current_), products_.data());
    products_[0] *= now.scale;
  }
  known_ = none;
  now.removals += 1;
  sum_up_shares();
}

inline void Supports::tally() {
  if (kind_.distances) {
    now.sum_norm2 += 2 * now.sum_product + now.norm2;
    now.sum_product += now.norm2;
  }
  now.alpha += now.scale;
  now.tallied += 1;
  for (std::size_t r = 0; r < lanes(); ++r) bias_sums[r] += biases[r];
}

inline void Supports::grow(std::size_t count) {
  for (std::vector<double>* all : {&itself_, &squares_}) reserve(*all, count);
  reserve(numbers, count);
  reserve(ages, count);
  reserve(v, count * stride_);
  if (averaging()) reserve(u, count * stride_);
  if (kind_.shared) reserve(given, count * lanes());
  if (kind_.keeps_values && count > room_) {
    const std::size_t room = std::max({count, room_ + room_ / 2, std::size_t{8}});
    std::vector<double> values(room * room);
    const std::size_t kept = std::min(this->count(), room_);  // 0 while a state is restored
    for (std::size_t i = 0; i < kept; ++i) std::copy_n(values_.data() + i * room_, kept, values.data() + i * room);
    values_.swap(values);
    room_ = room;
  }
}

inline std::size_t Supports::append() {
  const std::size_t i = count();
  const double* const kernels = ahead_.of(current_);
  add_vector(current_);
  numbers.push_back(number_);
  ages.push_back(now.insertions++);
  itself_.push_back(itself());
  squares_.push_back(ahead_.squares[current_]);
  v.resize(v.size() + stride_);
  if (averaging()) u.resize(u.size() + stride_);
  if (kind_.shared) given.resize(given.size() + lanes());
  if (kind_.keeps_values) {
    for (std::size_t j = 0; j < i; ++j) values_[i * room_ + j] = values_[j * room_ + i] = kernels[j];
    values_[i * room_ + i] = itself();
  }
  if (passes_.on()) {
    passes_.became(ahead_.numbers[current_], i);
    return i;
  }
  for (std::size_t row = current_ + 1; row < ahead_.count; ++row)
    ahead_.of(row)[i] = ahead_.with_rows[row * ahead_.count + current_];
  if (ahead_.stride > i) ahead_.of(current_)[i] = itself();
  return i;
}

inline double Supports::all_without(std::size_t i) const {
  if (!is_most(i)) return shares_ - coefficient(i, 0);
  double sum = now.origin;
  for (std::size_t j = 0; j < count(); ++j) sum += j == i ? 0 : coefficient(j, 0);
  return sum;
}

inline void Supports::sum_up_shares() {
  shares_ = now.origin;
  for (std::size_t j = 0; kind_.distances && j < count(); ++j) shares_ += coefficient(j, 0);
}

inline double Supports::norm2_without(std::size_t i, double own) const {
  const double c = coefficient(i, 0), rest = rest_without(i);
  double norm2 = now.norm2 - 2 * c * own + c * c * itself_[i];
  if (is_most(i)) {
    norm2 = 0;
    for (std::size_t j = 0; j < count(); ++j)
      for (std::size_t k = 0; j != i && k < count(); ++k)
        norm2 += k == i ? 0 : coefficient(j, 0) * coefficient(k, 0) * values_of(j)[k];
  }
  return std::max(0.0, norm2 / (rest * rest));
}

inline void Supports::fold_if_needed() {
  const bool cancels = averaging() && now.alpha > 64 * now.scale * static_cast<double>(now.tallied);
  if (now.scale >= smallest_scale && now.scale <= 1 / smallest_scale && !cancels) return;
  for (std::size_t k = 0; k < v.size(); ++k) {
    if (averaging()) u[k] = now.alpha * v[k] + u[k];
    v[k] *= now.scale;
  }
  passes_.scale(now.scale);
  now.alpha = 0;
  now.scale = 1;
}

}  // namespace hinge
