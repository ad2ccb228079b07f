// A random order of samples that lie in files, read in long runs: runs change places, and those
// that are in the buffer together are mixed. While the samples of one window are handed out, the
// next one is read, a run at a time; of mapped files the system is asked to read it. The first
// windows of an epoch are smaller, so that it begins at once.
#pragma once
#include <optional>
#include <vector>

#include "crescent/ops/random.h"

namespace crescent {

class ShuffleBuffer {
 public:
  /// `arrays` have the same first axis. A window holds 16 MiB of samples, at least `least` of them.
  ShuffleBuffer(const Tensors& arrays, int64_t least);
  /// Draws a new order; nothing is read yet.
  void begin_epoch(const SeedGenerator& order);
  /// Takes a sample: its row of the i-th array that is not mapped goes to targets[i]. Returns its
  /// number.
  int64_t take(std::span<std::byte* const> targets);

 private:
  struct Column {
    Tensor array;
    size_t row;  ///< bytes
  };
  struct Window {
    std::vector<std::shared_ptr<Storage>> rows;  ///< of each column
    std::vector<int64_t> numbers;                ///< of the samples, as they were read
  };
  const std::byte* row_at(size_t i, size_t place) const;
  bool read_run();
  void turn();

  Tensors mapped_;
  std::vector<Column> columns_;  ///< the arrays that are not mapped
  int64_t samples_, run_length_, window_runs_;
  int64_t next_runs_ = 0;      ///< in next_ when it is whole
  std::vector<int64_t> runs_;  ///< their order
  size_t next_run_ = 0;
  Window now_, next_;
  std::vector<int64_t> order_;  ///< of the samples in now_
  size_t at_ = 0;
  std::optional<SeedGenerator> inside_;  ///< draws the order inside of windows
};

}  // namespace crescent
