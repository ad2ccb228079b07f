#include "data/timeseries.h"

#include "crescent/data/timeseries.h"

namespace crescent::lua {
namespace {

StreamPtr timeseries(const Tensor& data, const Tensor& targets, int64_t sequence_length,
                     int64_t sequence_stride, int64_t sampling_rate, Value batch_size, bool shuffle,
                     std::optional<int64_t> seed, std::optional<int64_t> start_index,
                     std::optional<int64_t> end_index, const std::string& format) {
  if (format != "tf")
    fail("datasets are Crescent's own: leave 'format' at \"tf\", got \"", format, "\"");
  TimeseriesOptions options{.sequence_stride = sequence_stride,
                            .sampling_rate = sampling_rate,
                            .batch_size = {},
                            .shuffle = shuffle,
                            .seed = seed,
                            .start_index = start_index,
                            .end_index = end_index};
  if (batch_size.is_int()) options.batch_size = batch_size.as_int();
  return timeseries_dataset_from_array(data, targets, sequence_length, options);
}

}  // namespace

CallablePtr timeseries_function() {
  return bound(
      "timeseries_dataset_from_array -> a dataset", &timeseries,
      {"data", "targets=nil", "sequence_length", "sequence_stride=1", "sampling_rate=1",
       "batch_size: an integer=128", "shuffle=false", "seed=nil", "start_index=nil",
       "end_index=nil", "format=tf"},
      "Windows of `sequence_length` rows of an array, each with the target at the first row of the "
      "window; data may stay in files. batch_size = false gives single windows.");
}

}  // namespace crescent::lua
