// Windows over the rows of a time series, like those of keras.utils.timeseries_dataset_from_array.
//
//   model->fit(timeseries_dataset_from_array(x, y, 24, {.sampling_rate = 2, .shuffle = true}));
#pragma once
#include "crescent/data/stream.h"

namespace crescent {

/// The options of timeseries_dataset_from_array(), with their names in Keras.
struct TimeseriesOptions {
  int64_t sequence_stride = 1;              ///< rows between the starts of successive windows
  int64_t sampling_rate = 1;                ///< rows between successive rows of a window
  std::optional<int64_t> batch_size = 128;  ///< nullopt: windows are not batched
  bool shuffle = false;                     ///< whether each pass has a new order of windows
  std::optional<int64_t> seed = {};         ///< nullopt: drawn from global_random()
  std::optional<int64_t> start_index = {};  ///< the first row in use; nullopt: 0
  /// The row after the last one in use; nullopt: the number of rows.
  std::optional<int64_t> end_index = {};
};

/// A stream of windows (sequence_length, ...) of `data` (rows, ...), each with the target of the
/// window's first row if there are targets (rows, ...); batches have an additional first axis. Data
/// may stay in files (open_array), from which a window is read when a cursor reaches it. Fails with
/// Keras' messages for numbers out of range, and if no window fits.
CRESCENT_API StreamPtr timeseries_dataset_from_array(const Tensor& data, const Tensor& targets,
                                                     int64_t sequence_length,
                                                     const TimeseriesOptions& options = {});

}  // namespace crescent
