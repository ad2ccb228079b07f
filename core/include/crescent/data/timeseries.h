// Windows over rows that follow each other in time, as keras.utils.timeseries_dataset_from_array
// cuts them.
//
//   model->fit(timeseries_dataset_from_array(x, y, 24, {.sampling_rate = 2, .shuffle = true}));
#pragma once
#include "crescent/data/stream.h"

namespace crescent {

struct TimeseriesOptions {
  int64_t sequence_stride = 1;              ///< rows from the start of a window to the next
  int64_t sampling_rate = 1;                ///< rows from one of a window to the next
  std::optional<int64_t> batch_size = 128;  ///< none: single windows
  bool shuffle = false;                     ///< windows in another order in each pass
  std::optional<int64_t> seed = {};         ///< none: drawn from global_random()
  std::optional<int64_t> start_index = {};  ///< the first row that is used; 0
  std::optional<int64_t> end_index = {};    ///< the first row that is not used any more; all rows
};

/// Elements are windows (sequence_length, ...) of `data` (rows, ...) and, where there are targets
/// (rows, ...), the target at the place of a window's first row; batches have an axis more in
/// front. Data may stay in files (open_array): a window is read when it is asked for. Fails in
/// Keras' words for numbers out of range, and where no window fits.
CRESCENT_API StreamPtr timeseries_dataset_from_array(const Tensor& data, const Tensor& targets,
                                                     int64_t sequence_length,
                                                     const TimeseriesOptions& options = {});

}  // namespace crescent
