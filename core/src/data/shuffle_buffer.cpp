#include "data/shuffle_buffer.h"

#include <algorithm>
#include <cstring>

#include "data/arrays.h"
#include "data/file_storage.h"
#include "data/prefetch_row.h"

namespace crescent {
namespace {

constexpr int64_t kWindowBytes = int64_t{16} << 20;
// number of bytes that a disk reads in about the time of a seek
constexpr int64_t kRunBytes = int64_t{256} << 10;
constexpr int64_t kMinRuns = 8;  // the least number of runs in a window

}  // namespace

ShuffleBuffer::ShuffleBuffer(const Tensors& arrays, int64_t least)
    : samples_(arrays.front().dim(0)) {
  int64_t sample = 1, block = 1;  // bytes of a sample, and samples in a block of the storage
  for (const Tensor& array : arrays) {
    const size_t row = row_bytes(array);
    if (is_mapped(array))
      mapped_.push_back(array);
    else
      columns_.push_back({array, row});
    sample += static_cast<int64_t>(row);
    block =
        std::max(block, static_cast<int64_t>(array.storage()->block() / std::max<size_t>(row, 1)));
  }
  const int64_t window = std::min(samples_, std::max(least, kWindowBytes / sample));
  const int64_t blocks = (kRunBytes / sample + block - 1) / block;
  run_length_ = std::clamp(blocks * block, int64_t{1}, std::max<int64_t>(1, window / kMinRuns));
  window_runs_ = window / run_length_;
  for (Window* w : {&current_window_, &next_})
    for (const Column& column : columns_)
      w->rows.push_back(
          Storage::allocate(static_cast<size_t>(window_runs_ * run_length_) * column.row, false));
}

void ShuffleBuffer::begin_epoch(const SeedGenerator& order) {
  runs_ = order.permutation((samples_ + run_length_ - 1) / run_length_);
  window_generator_.emplace(order.seed());
  next_run_ = at_ = 0;
  next_runs_ = (window_runs_ + 3) / 4;
  for (Window* w : {&current_window_, &next_}) w->numbers.clear();
}

int64_t ShuffleBuffer::take(std::span<std::byte* const> targets) {
  if (at_ == current_window_.numbers.size())
    next_window();
  else if (at_ % static_cast<size_t>(run_length_) == 0 && read_run())
    read_run();
  const size_t index = static_cast<size_t>(order_[at_]),
               later = static_cast<size_t>(order_[std::min(at_ + 2, order_.size() - 1)]);
  ++at_;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const size_t row = columns_[i].row;
    prefetch_row(current_window_.rows[i]->host() + later * row, row);
    std::memcpy(targets[i], current_window_.rows[i]->host() + index * row, row);
  }
  return current_window_.numbers[index];
}

/// Reads the rest of the next window, which then becomes the current one.
void ShuffleBuffer::next_window() {
  while (read_run()) {
  }
  std::swap(current_window_, next_);
  next_.numbers.clear();
  next_runs_ = std::min(window_runs_, 2 * next_runs_);
  order_ = window_generator_->permutation(static_cast<int64_t>(current_window_.numbers.size()));
  at_ = 0;
}

/// Adds a run to the next window; returns false if the window is complete or no run is left.
bool ShuffleBuffer::read_run() {
  const size_t filled = next_.numbers.size();
  if (next_run_ == runs_.size() ||
      static_cast<int64_t>(filled) + run_length_ > next_runs_ * run_length_)
    return false;
  const int64_t first = runs_[next_run_++] * run_length_,
                count = std::min(run_length_, samples_ - first);
  for (const Tensor& array : mapped_) expect_rows(array, first, count);
  for (size_t i = 0; i < columns_.size(); ++i) {
    const auto& [array, row] = columns_[i];
    array.storage()->read(array.offset() + static_cast<size_t>(first) * row,
                          static_cast<size_t>(count) * row, next_.rows[i]->host() + filled * row);
  }
  for (int64_t k = 0; k < count; ++k) next_.numbers.push_back(first + k);
  return true;
}

}  // namespace crescent
