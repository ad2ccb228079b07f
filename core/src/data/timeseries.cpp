#include "crescent/data/timeseries.h"

#include <algorithm>

#include "crescent/data/numpy_random.h"
#include "crescent/ops/random.h"

namespace crescent {
namespace {

/// Returns the rows first, first + rate, first + 2 rate, ... (`count` of them) of an array in
/// memory or in a file.
Tensor strided_rows(const Tensor& data, int64_t first, int64_t count, int64_t rate) {
  TensorSpec spec = data.spec();
  spec.shape.set(0, count);
  Tensor result = Tensor::uninitialized(spec);
  const size_t row_size = data.bytes() / static_cast<size_t>(data.dim(0));
  auto* target_bytes = static_cast<std::byte*>(result.mutable_raw());
  for (int64_t i = 0; i < count; ++i)
    data.storage()->read(data.offset() + static_cast<size_t>(first + i * rate) * row_size, row_size,
                         target_bytes + static_cast<size_t>(i) * row_size);
  return result;
}

void check_range(int64_t count, std::optional<int64_t> start, std::optional<int64_t> end) {
  if (start && *start < 0)
    fail("`start_index` must be 0 or greater. Received: start_index=", *start);
  if (start && *start >= count)
    fail("`start_index` must be lower than the length of the data. Received: start_index=", *start,
         ", for data of length ", count);
  if (end && start && *end <= *start)
    fail("`end_index` must be greater than `start_index`. Received: start_index=", *start,
         ", end_index=", *end);
  if (end && *end >= count)
    fail("`end_index` must be lower than the length of the data. Received: end_index=", *end,
         ", for data of length ", count);
  if (end && *end <= 0) fail("`end_index` must be greater than 0. Received: end_index=", *end);
}

void check_steps(int64_t count, int64_t length, int64_t stride, int64_t rate) {
  if (rate <= 0) fail("`sampling_rate` must be greater than 0. Received: sampling_rate=", rate);
  if (rate >= count)
    fail("`sampling_rate` must be lower than the length of the data. Received: sampling_rate=",
         rate, ", for data of length ", count);
  if (stride <= 0)
    fail("`sequence_stride` must be greater than 0. Received: sequence_stride=", stride);
  if (stride >= count)
    fail("`sequence_stride` must be lower than the length of the data. Received: sequence_stride=",
         stride, ", for data of length ", count);
  if (length < 1)
    fail("`sequence_length` must be greater than 0. Received: sequence_length=", length);
}

/// The number of rows at which a window can begin.
int64_t window_count(const Tensor& data, const Tensor& targets, int64_t length,
                     const TimeseriesOptions& options) {
  const int64_t start = options.start_index.value_or(0),
                end = options.end_index.value_or(data.dim(0));
  int64_t window_total = 0;
  if (length <= data.dim(0)) window_total = end - start - (length - 1) * options.sampling_rate;
  if (targets && targets.rank() == 0) fail("expected a target for each row, got a single number");
  if (targets) window_total = std::min(window_total, targets.dim(0) - start);
  if (window_total < 1)
    fail("no window of ", length, " rows fits: there are ", end - start, " rows",
         targets ? concat(" and ", targets.dim(0), " targets") : "", ", start_index=", start);
  return window_total;
}

/// A stream of the indices at which windows begin.
StreamPtr window_starts(int64_t windows, const TimeseriesOptions& options) {
  std::vector<int64_t> start_indices;
  for (int64_t start = 0; start < windows; start += options.sequence_stride)
    start_indices.push_back(start);
  const int64_t shuffle_seed = options.seed      ? *options.seed
                               : options.shuffle ? global_random().seed() % 1'000'000
                                                 : 0;
  if (options.shuffle) NumpyRandom(static_cast<uint32_t>(shuffle_seed)).shuffle(start_indices);
  std::vector<Element> elements;
  for (const int64_t window_start : start_indices) elements.push_back({window_start});
  const StreamPtr starts = list_stream(std::move(elements));
  if (!options.shuffle) return starts;
  return shuffle(starts, {options.batch_size ? 8 * *options.batch_size : 1024, shuffle_seed, true});
}

Mapping window_cutting(const Tensor& data, const Tensor& targets, int64_t length,
                       const TimeseriesOptions& options) {
  Mapping mapping;
  const int64_t start = options.start_index.value_or(0), rate = options.sampling_rate;
  mapping.make = [=]() -> Mapper {
    return [=](Element element) {
      const int64_t position = start + element[0].as_int();
      element[0] = std::make_shared<BoxedTensor>(strided_rows(data, position, length, rate));
      if (targets) {
        const Tensor row = strided_rows(targets, position, 1, 1);
        element.push_back(
            std::make_shared<BoxedTensor>(row.view(row.shape().slice(1, row.rank()))));
      }
      return element;
    };
  };
  return mapping;
}

}  // namespace

StreamPtr timeseries_dataset_from_array(const Tensor& data, const Tensor& targets,
                                        int64_t sequence_length, const TimeseriesOptions& options) {
  if (data.rank() == 0) fail("expected rows, got a single number");
  check_range(data.dim(0), options.start_index, options.end_index);
  check_steps(data.dim(0), sequence_length, options.sequence_stride, options.sampling_rate);
  const int64_t windows = window_count(data, targets, sequence_length, options);
  const StreamPtr stream =
      map(window_starts(windows, options), window_cutting(data, targets, sequence_length, options));
  return options.batch_size ? batch(stream, {*options.batch_size, {}, 1, false}) : stream;
}

}  // namespace crescent
