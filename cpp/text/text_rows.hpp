// Rows as they are read from text: a CSR matrix and what belongs to each row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hinge {

// A vector that does not fill new memory with zeros. If room was made, one may write behind its end.
template <class T>
class Growing {
 public:
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return capacity_ * sizeof(T); }
  T operator[](std::size_t i) const { return data_[i]; }
  void make_room(std::size_t more) {
    if (more <= capacity_ - size_) return;
    const std::size_t capacity = std::max(size_ + more, 2 * capacity_);
    auto fresh = std::make_unique_for_overwrite<T[]>(capacity);
    std::copy_n(data_.get(), size_, fresh.get());
    data_ = std::move(fresh);
    capacity_ = capacity;
  }
  void push(T value) {
    make_room(1);
    data_[size_++] = value;
  }
  void append(const T* values, std::size_t count) {
    make_room(count);
    std::copy_n(values, count, data_.get() + size_);
    size_ += count;
  }
  // Room must have been made.
  void set_size(std::size_t size) { size_ = size; }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

// The names of columns that follow each other.
struct ColumnNames {
  std::size_t first = 0;  // the column of the first name
  std::string bytes;
  std::vector<std::size_t> ends;

  std::size_t count() const { return ends.size(); }
  std::string_view name(std::size_t i) const {
    const std::size_t from = i == 0 ? 0 : ends[i - 1];
    return {bytes.data() + from, ends[i] - from};
  }
  void push(std::size_t column, std::string_view name) {
    if (ends.empty()) first = column;
    bytes.append(name);
    ends.push_back(bytes.size());
  }
  void clear() {
    bytes.clear();
    ends.clear();
  }
};

struct TextRows {
  Growing<double> values, labels;
  Growing<std::int32_t> columns;
  Growing<std::int64_t> starts, label_starts;  // row i is from starts[i] to [i + 1], and so are its labels
  Growing<std::int64_t> lines;                 // the line of each row
  Growing<double> weights;                     // empty until a line has one
  Growing<double> unseen;                      // the squared values of features without a column; may be empty
  std::size_t width = 0;                       // one more than the largest column
  ColumnNames new_names;                       // of columns that no earlier rows had

  TextRows() { clear(); }
  std::size_t count() const { return lines.size(); }
  std::size_t bytes() const {
    return values.bytes() + columns.bytes() + starts.bytes() + labels.bytes() + label_starts.bytes() + lines.bytes() +
           weights.bytes() + unseen.bytes() + new_names.bytes.capacity();
  }
  void clear() {
    new_names.clear();
    starts.set_size(0), starts.push(0);
    label_starts.set_size(0), label_starts.push(0);
    lines.set_size(0);
    kept_width_ = kept_weights_ = 0;
    drop_row();
  }
  void end_row(std::size_t line) {
    starts.push(static_cast<std::int64_t>(values.size()));
    label_starts.push(static_cast<std::int64_t>(labels.size()));
    lines.push(static_cast<std::int64_t>(line));
    kept_width_ = width;
    kept_weights_ = weights.size();
  }
  // Takes back what has been read since the last row ended.
  void drop_row() {
    values.set_size(static_cast<std::size_t>(starts[count()]));
    columns.set_size(values.size());
    labels.set_size(static_cast<std::size_t>(label_starts[count()]));
    weights.set_size(kept_weights_);
    unseen.set_size(std::min(unseen.size(), count()));
    width = kept_width_;
  }

 private:
  std::size_t kept_width_ = 0, kept_weights_ = 0;  // when the last row ended
};

}  // namespace hinge
