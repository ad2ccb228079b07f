// Shuffles samples in files, which are read in runs of consecutive samples: the order of runs is
// random, and so is that of the samples in a window of several runs. While the samples of one
// window are taken, the next window is read run by run, or the system is asked to read it ahead if
// the file is mapped. The first windows of an epoch are smaller, so that the first batch needs no
// long wait.
#pragma once
#include <optional>
#include <vector>

#include "crescent/ops/random.h"

namespace crescent {

class ShuffleBuffer {
 public:
  /// `arrays` have the same first dimension. A window holds 16 MiB of samples, but at least `least`
  /// samples.
  ShuffleBuffer(const Tensors& arrays, int64_t least);
  /// Draws a new order of runs, without reading any.
  void begin_epoch(const SeedGenerator& order);
  /// Takes the next sample and returns its index. Its row of the i-th array that is not mapped is
  /// copied to targets[i].
  int64_t take(std::span<std::byte* const> targets);

 private:
  struct Column {
    Tensor array;
    size_t row;  ///< bytes of a row
  };
  struct Window {
    std::vector<std::shared_ptr<Storage>> rows;  ///< for each column, the values of its rows
    std::vector<int64_t> numbers;  ///< indices of the samples in the order in which they were read
  };
  const std::byte* row_at(size_t i, size_t index) const;
  bool read_run();
  void next_window();

  Tensors mapped_;
  std::vector<Column> columns_;  ///< the arrays that are not mapped
  int64_t samples_, run_length_, window_runs_;
  int64_t next_runs_ = 0;      ///< the number of runs in next_ when it is complete
  std::vector<int64_t> runs_;  ///< the order of runs
  size_t next_run_ = 0;
  Window current_window_, next_;
  std::vector<int64_t> order_;  ///< the order of the samples in current_window_
  size_t at_ = 0;
  std::optional<SeedGenerator> window_generator_;  ///< draws the order of samples within windows
};

}  // namespace crescent
