// Datasets that are split into shards for several workers.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <numeric>

#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

Tensor numbers(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0.0f);
  return Tensor::from(values, {n});
}

using Batches = std::vector<std::vector<double>>;

Batches epoch_of(Dataset& data) {
  Batches batches;
  Batch batch;
  for (data.begin_epoch(); data.next(batch);) batches.push_back(batch.x.front().to_vector());
  return batches;
}

/// For each i, the i-th batches of all shards, joined into one batch.
Batches joined_batches(const std::vector<DatasetPtr>& shards) {
  Batches all_batches;
  for (const DatasetPtr& shard : shards) {
    const Batches batches = epoch_of(*shard);
    CHECK(static_cast<int64_t>(batches.size()) == shard->batches());
    int64_t samples = 0;
    all_batches.resize(std::max(all_batches.size(), batches.size()));
    for (size_t i = 0; i < batches.size(); ++i) {
      samples += static_cast<int64_t>(batches[i].size());
      all_batches[i].insert(all_batches[i].end(), batches[i].begin(), batches[i].end());
    }
    CHECK(samples == shard->samples());
  }
  return all_batches;
}

std::vector<DatasetPtr> shards_of(const DatasetPtr& data, int64_t count) {
  std::vector<DatasetPtr> shards;
  for (int64_t i = 0; i < count; ++i) shards.push_back(shard(data, i, count));
  return shards;
}

}  // namespace

TEST_CASE("batches of the shards of arrays make up those of the whole, in every order") {
  const std::string path = concat("/tmp/crescent_shards_", getpid(), ".h5");
  for (int64_t samples : {24, 23, 19, 18, 17})
    for (int64_t count : {1, 2, 3})
      for (bool shuffle : {false, true})
        for (bool is_in_file : {false, true}) {
          CAPTURE(samples, count, shuffle, is_in_file);
          write_arrays(path, {{"x", numbers(samples)}});
          const Tensor x = is_in_file ? open_array(path, "x") : numbers(samples);
          const SeedGenerator order(7), same_order(7);
          const ArrayOptions options{.batch_size = 6, .shuffle = shuffle, .order = &order};
          const std::vector<DatasetPtr> shards =
              shards_of(array_dataset({x}, {}, {}, options), count);
          auto whole_dataset = array_dataset(
              {x}, {}, {}, {.batch_size = 6, .shuffle = shuffle, .order = &same_order});
          for (int epoch = 0; epoch < 2; ++epoch) {
            Batches wanted = epoch_of(*whole_dataset);
            if (static_cast<int64_t>(wanted.back().size()) < count) wanted.pop_back();
            CHECK(joined_batches(shards) == wanted);
          }
        }
  std::remove(path.c_str());
}

TEST_CASE("a shard goes on where it was, like other data") {
  const SeedGenerator order(7), other(9);
  auto shard_with_order = [](const SeedGenerator& order) {
    return shard(
        array_dataset({numbers(23)}, {}, {}, {.batch_size = 6, .shuffle = true, .order = &order}),
        1, 2);
  };
  const DatasetPtr first = shard_with_order(order), second = shard_with_order(other);
  (void)epoch_of(*first);
  Batch a, b;
  first->begin_epoch();
  first->next(a), first->next(a);
  second->restore(first->state(), 2);
  while (first->next(a)) {
    REQUIRE(second->next(b));
    CHECK(a.x.front().to_vector() == b.x.front().to_vector());
  }
  CHECK_FALSE(second->next(b));
}

TEST_CASE("other data goes to its shards by whole batches, as many to each") {
  auto generator = [](int64_t batches) {
    return generator_dataset([batches, at = int64_t{0}](Batch& batch) mutable {
      if (at == batches) return at = 0, false;
      batch.x = {Tensor::full({1}, static_cast<double>(at++))};
      return true;
    });
  };
  CHECK(epoch_of(*shard(generator(8), 1, 3)) == Batches{{1}, {4}});
  CHECK(epoch_of(*shard(prefetch(generator(8)), 0, 3)) == Batches{{0}, {3}});
  const DatasetPtr same_shard = shard(generator(8), 2, 3);
  same_shard->begin_epoch();
  Batch batch;
  same_shard->next(batch);
  const DatasetPtr resumed_shard = shard(generator(8), 2, 3);
  resumed_shard->restore(same_shard->state(), 1);
  REQUIRE(resumed_shard->next(batch));
  CHECK(batch.x.front().to_vector() == std::vector<double>{5});
  CHECK(shard(generator_dataset([](Batch&) { return false; }, 7), 0, 3)->batches() == 2);
}

TEST_CASE("shards that cannot be are refused") {
  const DatasetPtr data = array_dataset({numbers(12)}, {}, {}, {.batch_size = 4});
  CHECK_THROWS_WITH(shard(data, 3, 3), Contains("part 3 of 3"));
  CHECK_THROWS_WITH(shard(data, 0, 0), Contains("part 0 of 0"));
  CHECK_THROWS_WITH(shard(data, 0, 5), Contains("batches of 4 samples") && Contains("5 parts"));
  CHECK_THROWS_WITH(shard(nullptr, 0, 1), Contains("none"));
}
