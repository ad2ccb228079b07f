// Datasets that read only the needed rows of the inputs: these rows, and all targets, equal those
// of a dataset that reads all rows, and no other row is read.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "crescent/crescent.h"

using namespace crescent;

namespace {

constexpr int64_t kWidth = 3;

/// The storage of an array that stays outside of memory, like an array in a file; counts how often
/// each row was read.
class CountingStorage final : public Storage {
 public:
  explicit CountingStorage(const Tensor& values) : values_(values), read_counts(values.dim(0)) {
    bytes_ = values.bytes();
  }
  void fetch(size_t offset, size_t count, void* target) const override {
    std::memcpy(target, static_cast<const std::byte*>(values_.raw()) + offset, count);
    const size_t row = bytes_ / read_counts.size();
    for (size_t i = offset / row; i * row < offset + count; ++i) ++read_counts[i];
  }

 private:
  Tensor values_;

 public:
  mutable std::vector<int64_t> read_counts;
};

Tensor numbers(int64_t rows) {
  std::vector<float> values(static_cast<size_t>(rows * kWidth));
  std::iota(values.begin(), values.end(), 1.0f);
  return Tensor::from(values, {rows, kWidth});
}

/// The rows that process `rank` of `size` processes needs; as in training, at least one row of each
/// batch.
NeededRows share_of(int64_t rank, int64_t size) {
  return [=](int64_t rows) -> RowRange {
    const int64_t first = rows * rank / size, end = rows * (rank + 1) / size;
    return {std::min(first, rows - 1), std::max<int64_t>(end - first, 1)};
  };
}

std::vector<double> rows_of(const Tensor& t, const RowRange& rows) {
  return t.view_rows(rows.first, rows.count).to_vector();
}

using MakeData = std::function<DatasetPtr(const Tensor& x, const Tensor& y)>;

/// Compares two epochs of a dataset that reads all rows with those of a dataset that reads only
/// needed rows.
void compare(const MakeData& make, const Tensor& x, const Tensor& y,
             const NeededRows& needed_rows) {
  const DatasetPtr whole_dataset = make(x, y),
                   partial_dataset = make(x, y)->with_needed(needed_rows);
  for (int epoch = 0; epoch < 2; ++epoch) {
    Batch expected, got;
    whole_dataset->begin_epoch();
    partial_dataset->begin_epoch();
    CHECK(partial_dataset->state() == whole_dataset->state());
    int64_t batches = 0;
    while (whole_dataset->next(expected)) {
      REQUIRE(partial_dataset->next(got));
      ++batches;
      const RowRange rows = needed_rows(expected.x.front().dim(0));
      REQUIRE(got.x.front().shape() == expected.x.front().shape());
      CHECK(rows_of(got.x.front(), rows) == rows_of(expected.x.front(), rows));
      CHECK(got.y.front().to_vector() == expected.y.front().to_vector());
    }
    CHECK_FALSE(partial_dataset->next(got));
    // A new dataset that continues before the last batch of the epoch gives the same last batch.
    if (epoch == 0 || batches < 2) continue;
    const DatasetPtr resumed_dataset = make(x, y)->with_needed(needed_rows);
    resumed_dataset->restore(partial_dataset->state(), batches - 1);
    REQUIRE(resumed_dataset->next(got));
    const RowRange rows = needed_rows(expected.x.front().dim(0));
    CHECK(rows_of(got.x.front(), rows) == rows_of(expected.x.front(), rows));
    CHECK(got.y.front().to_vector() == expected.y.front().to_vector());
    CHECK_FALSE(resumed_dataset->next(got));
  }
}

StreamPtr batches_of(const StreamPtr& rows, int64_t size) {
  return batch(rows, {size, {}, 1, false});
}

/// Every way in which rows of arrays become batches of `size`.
std::vector<std::pair<std::string, MakeData>> dataset_makers(int64_t size) {
  const auto rows = [](const Tensor& x, const Tensor& y) {
    return slices({Codec<Tensor>::encode(x), Codec<Tensor>::encode(y)});
  };
  const auto arrays = [size](bool shuffle) {
    return [=](const Tensor& x, const Tensor& y) {
      const SeedGenerator order(5);
      return array_dataset({x}, {y}, {}, {.batch_size = size, .shuffle = shuffle, .order = &order});
    };
  };
  const auto stream = [rows](auto derive) {
    return [=](const Tensor& x, const Tensor& y) { return with_names(derive(rows(x, y)), {}, {}); };
  };
  return {
      {"arrays", arrays(false)},
      {"shuffled arrays", arrays(true)},
      {"arrays as a stream",
       [=](const Tensor& x, const Tensor& y) {
         return with_names(take(stream_of(arrays(true)(x, y)), 1000), {}, {});
       }},
      {"batches", stream([size](auto s) { return batches_of(s, size); })},
      {"shuffled batches",
       stream([size](auto s) { return batches_of(shuffle(s, {.buffer = 13, .seed = 4}), size); })},
      {"a long chain", stream([size](auto s) {
         const auto chain = take(skip(repeat(shuffle(s, {.buffer = 7, .seed = 4}), 2), 5), 90);
         return prefetch_elements(take(batches_of(chain, size), 40), 2);
       })},
      {"batches in any order",
       stream([size](auto s) { return shuffle(batches_of(s, size), {.buffer = 3, .seed = 9}); })},
      {"windows", stream([size](auto s) {
         return batch(s, {size, 2, 2, false});
       })}};
}

}  // namespace

TEST_CASE("needed rows of inputs are those of the whole, for every size of the last batch") {
  const std::string path = concat("/tmp/crescent_partial_", getpid(), ".npy");
  for (int64_t extra_samples = 0; extra_samples < 32; ++extra_samples) {
    const int64_t samples = 32 + extra_samples, size = extra_samples % 3 == 0 ? 32 : 8;
    const Tensor x = numbers(samples), y = x.view({samples * kWidth}).view_rows(0, samples);
    write_arrays(path, {{"", x}});
    const Tensor mapped_tensor = open_array(path);
    const Tensor counted_tensor = Tensor::on(std::make_shared<CountingStorage>(x), 0, x.spec());
    for (const auto& [name, make] : dataset_makers(size))
      for (int64_t count = 1; count <= 4; ++count)
        for (int64_t rank = 0; rank < count; ++rank) {
          CAPTURE(samples, size, name, rank, count);
          for (const Tensor& inputs : {x, mapped_tensor, counted_tensor})
            compare(make, inputs, y, share_of(rank, count));
        }
  }
  std::remove(path.c_str());
}

TEST_CASE("each row of inputs is read once, by the process that needs it") {
  for (const int64_t samples : {40, 57, 64}) {
    const Tensor x = numbers(samples), y = x.view({samples * kWidth}).view_rows(0, samples);
    for (const auto& [name, make] : dataset_makers(8)) {
      // These datasets read some rows several times.
      if (name == "a long chain" || name == "windows") continue;
      CAPTURE(samples, name);
      std::vector<int64_t> read_counts(static_cast<size_t>(samples));
      for (int64_t rank = 0; rank < 3; ++rank) {
        const auto counting_storage = std::make_shared<CountingStorage>(x);
        const NeededRows needed_rows = share_of(rank, 3);
        const DatasetPtr partial_dataset =
            make(Tensor::on(counting_storage, 0, x.spec()), y)->with_needed(needed_rows);
        std::vector<int64_t> expected_counts(read_counts.size());
        Batch batch;
        for (partial_dataset->begin_epoch(); partial_dataset->next(batch);) {
          const std::vector<double> values =
              rows_of(batch.x.front(), needed_rows(batch.x.front().dim(0)));
          for (size_t i = 0; i < values.size(); i += kWidth)
            expected_counts[static_cast<size_t>((values[i] - 1) / kWidth)] = 1;
        }
        CHECK(counting_storage->read_counts == expected_counts);
        for (size_t row = 0; row < read_counts.size(); ++row)
          read_counts[row] += expected_counts[row];
      }
      // If the last batch has fewer than three samples, there is not one row for each process; then
      // several processes read the same row.
      if (samples % 8 == 0) CHECK(read_counts == std::vector<int64_t>(read_counts.size(), 1));
    }
  }
}
