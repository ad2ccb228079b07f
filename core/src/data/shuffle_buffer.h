// Shuffles samples in files, which are read in runs of consecutive samples: the order of runs is
// random, and so is that of the samples in a window of several runs. While the samples of one
// window are taken, the next window is read run by run, or the system is asked to read it ahead if
// the file is mapped. The first windows of an epoch are smaller, so that the first batch needs no
// long wait.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "crescent/ops/random.h"

namespace crescent {

/// An array of samples in a file.
struct ArrayInFile {
  Tensor array;
  bool skips_unneeded_rows = false;  ///< whether only the rows that are needed are read
};

class ShuffleBuffer {
 public:
  /// Whether the rows at this position in the order of the epoch are needed.
  using IsNeeded = std::function<bool(int64_t position)>;
  /// `arrays` have the same first dimension. A window holds 16 MiB of samples, but at least
  /// `min_window_samples` samples. `is_needed` is called only for rows of arrays with
  /// skips_unneeded_rows. If such an array is stored in blocks of several rows, all of its rows are
  /// read.
  ShuffleBuffer(const std::vector<ArrayInFile>& arrays, int64_t min_window_samples,
                IsNeeded is_needed);
  /// Draws a new order of runs, without reading any.
  void begin_epoch(const SeedGenerator& order);
  /// Takes the next sample and returns its index. Copies the row of this sample in the i-th array
  /// that is not mapped to targets[i], if that row was read.
  int64_t take(std::span<std::byte* const> targets);

 private:
  struct Column {
    Tensor array;
    size_t row_bytes;  ///< bytes of a row
    bool skips_unneeded_rows;
  };
  struct Window {
    std::vector<std::shared_ptr<Storage>> rows;  ///< for each column, the values of its rows
    std::vector<int64_t> sample_indices;  ///< indices of the samples, in the order of the runs
    std::vector<int64_t> order;           ///< the order in which the samples are taken
    std::vector<char> is_needed;  ///< for each of `sample_indices`, whether its rows are needed
    size_t read_count = 0;        ///< the number of samples that were read
  };
  void plan_window(int64_t position);
  void mark_needed(int64_t position);
  void begin_next_window();
  bool read_run();
  void read_rows(const Column& column, std::byte* to, size_t begin, size_t end) const;

  std::vector<Column> mapped_columns_;    ///< arrays that are mapped
  std::vector<Column> unmapped_columns_;  ///< arrays that are not mapped
  IsNeeded is_needed_;
  bool has_column_with_skipped_rows_ = false;  ///< whether an array has skips_unneeded_rows
  int64_t sample_count_, run_length_, runs_per_window_;
  int64_t runs_in_next_window_ = 0;  ///< the number of runs in next_window_
  std::vector<int64_t> run_order_;   ///< the order of runs
  size_t first_unplanned_run_ = 0;   ///< the first run after those of next_window_
  Window current_window_, next_window_;
  size_t position_in_window_ = 0;
  /// the number of samples in the windows of the epoch up to current_window_
  int64_t taken_samples_ = 0;
  std::optional<SeedGenerator> window_generator_;  ///< draws the order of samples within windows
};

}  // namespace crescent
