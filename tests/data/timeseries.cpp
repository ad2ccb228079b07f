// Windows over time series: their rows, their targets, and errors for arguments out of range.
#include "crescent/data/timeseries.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "passes.h"

using namespace crescent;
using Catch::Contains;

namespace {

using Doubles = std::vector<double>;

Tensor series(int64_t rows) {
  std::vector<int32_t> numbers;
  for (int64_t i = 0; i < rows; ++i) numbers.push_back(static_cast<int32_t>(i));
  return Tensor::from(numbers, {rows});
}

/// The values of all windows, one window after another.
Doubles window_values(const StreamPtr& stream, size_t component_index = 0, uint64_t epoch = 0) {
  Doubles values;
  for (const Element& element : elements_of_pass(stream, epoch))
    for (const double number : numbers_of(element.at(component_index))) values.push_back(number);
  return values;
}

StreamPtr window_dataset(int64_t length, const TimeseriesOptions& options) {
  return timeseries_dataset_from_array(series(10), {}, length, options);
}

}  // namespace

TEST_CASE("windows begin a stride apart and take every so many rows") {
  CHECK(window_values(window_dataset(2, {.sequence_stride = 3})) == Doubles{0, 1, 3, 4, 6, 7});
  CHECK(window_values(window_dataset(3, {.sequence_stride = 2, .sampling_rate = 3})) ==
        Doubles{0, 3, 6, 2, 5, 8});
  CHECK(window_values(window_dataset(2, {.start_index = 4, .end_index = 7})) ==
        Doubles{4, 5, 5, 6});
}

TEST_CASE("windows come in batches or one by one") {
  const auto batches = elements_of_pass(window_dataset(2, {.batch_size = 4}));
  REQUIRE(batches.size() == 3);
  CHECK(Codec<Tensor>::decode(batches[0][0]).shape() == Shape{4, 2});
  CHECK(Codec<Tensor>::decode(batches[2][0]).shape() == Shape{1, 2});
  const auto unbatched_windows = elements_of_pass(window_dataset(2, {.batch_size = {}}));
  REQUIRE(unbatched_windows.size() == 9);
  CHECK(Codec<Tensor>::decode(unbatched_windows[8][0]).shape() == Shape{2});
}

TEST_CASE("a window has the target at the place of its first row") {
  const StreamPtr stream = timeseries_dataset_from_array(series(10), series(4), 2);
  CHECK(window_values(stream, 0) == Doubles{0, 1, 1, 2, 2, 3, 3, 4});
  CHECK(window_values(stream, 1) == Doubles{0, 1, 2, 3});
}

TEST_CASE("shuffled windows are all windows, in an order that the seed decides") {
  const Doubles first_order = window_values(window_dataset(1, {.shuffle = true, .seed = 1}));
  CHECK(window_values(window_dataset(1, {.shuffle = true, .seed = 1})) == first_order);
  CHECK(window_values(window_dataset(1, {.shuffle = true, .seed = 2})) != first_order);
  CHECK(first_order != window_values(window_dataset(1, {})));
  const StreamPtr shuffled_dataset = window_dataset(1, {.shuffle = true, .seed = 1});
  CHECK(window_values(shuffled_dataset, 0, 1) != window_values(shuffled_dataset, 0, 0));
  Doubles sorted_order = first_order;
  std::sort(sorted_order.begin(), sorted_order.end());
  CHECK(sorted_order == window_values(window_dataset(1, {})));
}

TEST_CASE("windows refuse numbers that the rows do not have") {
  CHECK_THROWS_WITH(window_dataset(2, {.start_index = -1}), Contains("`start_index` must be 0 or"));
  CHECK_THROWS_WITH(window_dataset(2, {.start_index = 10}), Contains("for data of length 10"));
  CHECK_THROWS_WITH(window_dataset(2, {.start_index = 3, .end_index = 3}),
                    Contains("`end_index` must be greater than `start_index`"));
  CHECK_THROWS_WITH(window_dataset(2, {.end_index = 10}), Contains("`end_index` must be lower"));
  CHECK_THROWS_WITH(window_dataset(2, {.end_index = 0}),
                    Contains("`end_index` must be greater than 0"));
  CHECK_THROWS_WITH(window_dataset(2, {.sampling_rate = 0}),
                    Contains("`sampling_rate` must be greater"));
  CHECK_THROWS_WITH(window_dataset(2, {.sampling_rate = 10}),
                    Contains("`sampling_rate` must be lower"));
  CHECK_THROWS_WITH(window_dataset(2, {.sequence_stride = 0}),
                    Contains("`sequence_stride` must be gr"));
  CHECK_THROWS_WITH(window_dataset(2, {.sequence_stride = 10}),
                    Contains("`sequence_stride` must be lo"));
  CHECK_THROWS_WITH(window_dataset(0, {}), Contains("`sequence_length` must be greater than 0"));
  CHECK_THROWS_WITH(window_dataset(11, {}),
                    Contains("no window of 11 rows fits: there are 10 rows"));
  CHECK_THROWS_WITH(timeseries_dataset_from_array(Tensor(1.0f), {}, 2), Contains("expected rows"));
  CHECK_THROWS_WITH(timeseries_dataset_from_array(series(4), Tensor(1.0f), 2),
                    Contains("expected a target for each row"));
}
