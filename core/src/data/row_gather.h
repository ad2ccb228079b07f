// Rows in a drawn order as a batch. The device copies them with all of its threads, which so are
// awake for the step that follows.
#pragma once
#include <memory>
#include <span>

#include "crescent/program/device.h"

namespace crescent {

class RowGather {
 public:
  /// For batches of so many rows of `array`; the last may be smaller. In the background, while the
  /// device works on another batch, the caller copies alone.
  RowGather(const Tensor& array, int64_t batch_size, bool in_background);
  /// Copies these rows of the array to `target`, which has the place for them; rows of an array in
  /// a device's memory become a new tensor there.
  void operator()(std::span<const int64_t> rows, Tensor& target);

 private:
  void copy(std::span<const int64_t> rows, Tensor& target) const;

  Tensor array_, rows_;
  std::unique_ptr<Executable> whole_batch_;  ///< null where the caller copies alone
};

}  // namespace crescent
