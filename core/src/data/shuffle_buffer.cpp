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

ShuffleBuffer::ShuffleBuffer(const std::vector<ArrayInFile>& arrays, int64_t min_window_samples,
                             IsNeeded is_needed)
    : is_needed_(std::move(is_needed)), sample_count_(arrays.front().array.dim(0)) {
  int64_t sample_bytes = 1, samples_per_block = 1;
  for (const auto& [array, skips_unneeded_rows] : arrays) {
    const size_t row_size = row_bytes(array);
    const auto rows_per_block =
        static_cast<int64_t>(array.storage()->block() / std::max<size_t>(row_size, 1));
    const Column column{array, row_size, skips_unneeded_rows && rows_per_block <= 1};
    (is_mapped(array) ? mapped_columns_ : unmapped_columns_).push_back(column);
    has_column_with_skipped_rows_ = has_column_with_skipped_rows_ || column.skips_unneeded_rows;
    sample_bytes += static_cast<int64_t>(row_size);
    samples_per_block = std::max(samples_per_block, rows_per_block);
  }
  const int64_t window_samples =
      std::min(sample_count_, std::max(min_window_samples, kWindowBytes / sample_bytes));
  const int64_t block_count =
      (kRunBytes / sample_bytes + samples_per_block - 1) / samples_per_block;
  run_length_ = std::clamp(block_count * samples_per_block, int64_t{1},
                           std::max<int64_t>(1, window_samples / kMinRuns));
  runs_per_window_ = window_samples / run_length_;
  for (Window* w : {&current_window_, &next_window_})
    for (const Column& column : unmapped_columns_)
      w->rows.push_back(Storage::allocate(
          static_cast<size_t>(runs_per_window_ * run_length_) * column.row_bytes, false));
}

void ShuffleBuffer::begin_epoch(const SeedGenerator& order) {
  run_order_ = order.permutation((sample_count_ + run_length_ - 1) / run_length_);
  window_generator_.emplace(order.seed());
  first_unplanned_run_ = position_in_window_ = 0;
  taken_samples_ = 0;
  runs_in_next_window_ = (runs_per_window_ + 3) / 4;
  current_window_.order.clear();
  plan_window(0);
}

int64_t ShuffleBuffer::take(std::span<std::byte* const> targets) {
  if (position_in_window_ == current_window_.order.size())
    begin_next_window();
  else if (position_in_window_ % static_cast<size_t>(run_length_) == 0 && read_run())
    read_run();
  const Window& w = current_window_;
  const size_t index = static_cast<size_t>(w.order[position_in_window_]),
               prefetched_index = static_cast<size_t>(
                   w.order[std::min(position_in_window_ + 2, w.order.size() - 1)]);
  ++position_in_window_;
  for (size_t i = 0; i < unmapped_columns_.size(); ++i) {
    const size_t row_size = unmapped_columns_[i].row_bytes;
    if (unmapped_columns_[i].skips_unneeded_rows && !w.is_needed[index]) continue;
    prefetch_row(w.rows[i]->host() + prefetched_index * row_size, row_size);
    std::memcpy(targets[i], w.rows[i]->host() + index * row_size, row_size);
  }
  return w.sample_indices[index];
}

/// Chooses the samples of the next window and draws their order. `position` is the position of the
/// window's first sample in the order of the epoch.
void ShuffleBuffer::plan_window(int64_t position) {
  Window& w = next_window_;
  w.read_count = 0;
  w.sample_indices.clear();
  w.order.clear();
  const size_t end =
      std::min(run_order_.size(), first_unplanned_run_ + static_cast<size_t>(runs_in_next_window_));
  for (; first_unplanned_run_ < end; ++first_unplanned_run_) {
    const int64_t first = run_order_[first_unplanned_run_] * run_length_,
                  run_end = std::min(first + run_length_, sample_count_);
    for (int64_t sample_index = first; sample_index < run_end; ++sample_index)
      w.sample_indices.push_back(sample_index);
  }
  if (w.sample_indices.empty()) return;
  w.order = window_generator_->permutation(static_cast<int64_t>(w.sample_indices.size()));
  if (has_column_with_skipped_rows_) mark_needed(position);
}

void ShuffleBuffer::mark_needed(int64_t position) {
  next_window_.is_needed.resize(next_window_.sample_indices.size());
  for (const int64_t index : next_window_.order)
    next_window_.is_needed[static_cast<size_t>(index)] = is_needed_(position++);
}

/// Reads the rest of the next window, which then becomes the current one.
void ShuffleBuffer::begin_next_window() {
  while (read_run()) {
  }
  std::swap(current_window_, next_window_);
  position_in_window_ = 0;
  taken_samples_ += static_cast<int64_t>(current_window_.order.size());
  runs_in_next_window_ = std::min(runs_per_window_, 2 * runs_in_next_window_);
  plan_window(taken_samples_);
}

/// Reads a run of the next window; returns false if the window is complete.
bool ShuffleBuffer::read_run() {
  Window& w = next_window_;
  if (w.read_count == w.sample_indices.size()) return false;
  const size_t begin = w.read_count;
  do ++w.read_count;
  while (w.read_count < w.sample_indices.size() &&
         w.sample_indices[w.read_count] % run_length_ != 0);
  for (const Column& mapped : mapped_columns_) read_rows(mapped, nullptr, begin, w.read_count);
  for (size_t i = 0; i < unmapped_columns_.size(); ++i)
    read_rows(unmapped_columns_[i], w.rows[i]->host(), begin, w.read_count);
  return true;
}

/// Reads those of the samples [begin, end) of the next window that are needed into the window's
/// values `to` or, if `to` is null, asks the system to read them ahead. The samples [begin, end)
/// must be consecutive in the file.
void ShuffleBuffer::read_rows(const Column& column, std::byte* to, size_t begin, size_t end) const {
  const auto& [array, row_size, skips_unneeded_rows] = column;
  const auto is_skipped = [&, skips = skips_unneeded_rows](size_t i) {
    return skips && !next_window_.is_needed[i];
  };
  for (size_t first = begin; first < end;) {
    size_t run_end = first;
    while (run_end < end && !is_skipped(run_end)) ++run_end;
    const int64_t sample_index = next_window_.sample_indices[first];
    if (run_end > first && to)
      array.storage()->read(array.offset() + static_cast<size_t>(sample_index) * row_size,
                            (run_end - first) * row_size, to + first * row_size);
    else if (run_end > first)
      read_rows_ahead(array, sample_index, static_cast<int64_t>(run_end - first));
    first = run_end + 1;
  }
}

}  // namespace crescent
