// Gathers rows in any order into a batch. The device copies them with all of its threads, which are
// then awake for the next step.
#pragma once
#include <memory>
#include <span>

#include "crescent/data/data.h"
#include "crescent/program/device.h"

namespace crescent {

class RowGather {
 public:
  /// Gathers batches of `batch_size` rows; the last batch may be smaller. With `in_background`,
  /// which is for gathering while the device computes a step, only the calling thread copies.
  RowGather(const Tensor& array, int64_t batch_size, bool in_background);
  /// Copies these rows of the array to `target`, which has the shape of the batch, but only those
  /// at the positions `rows_to_read` of the batch. For an array in device memory, `target` becomes
  /// a new tensor in that memory, with all rows.
  void operator()(std::span<const int64_t> row_indices, const RowRange& rows_to_read,
                  Tensor& target);

 private:
  void copy(std::span<const int64_t> row_indices, std::byte* target) const;

  Tensor array_, row_indices_;
  std::unique_ptr<Executable> batch_gather_;  ///< null if only the calling thread copies
};

}  // namespace crescent
