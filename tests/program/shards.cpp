// Ops on logical shards, parts of a batch whose number does not depend on the number of processes.
// They run in one process and in two.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "crescent/ops/ops.h"
#include "crescent/program/distribution.h"
#include "crescent/program/program.h"
#include "crescent/program/shard_ops.h"

#include "pair.h"

namespace crescent {
namespace {

/// Values of very different magnitude, so that sums in another order have other bits.
template <class T>
std::vector<T> random_values(int64_t shard, int64_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(shard * 1000003 + count));
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(
        std::ldexp(static_cast<double>(random() % 2001) - 1000, static_cast<int>(random() % 12))));
  return values;
}

/// The values of each shard. Those of shards of the other process are 77777, which must not enter a
/// result.
template <class T>
Tensors values_of_shards(int64_t shards, int64_t count) {
  const ShardRange own_range = own_shards(shards);
  Tensors tensors;
  for (int64_t s = 0; s < shards; ++s) {
    std::vector<T> values = random_values<T>(s, count);
    if (s < own_range.first || s >= own_range.last)
      std::fill(values.begin(), values.end(), T(77777));
    tensors.push_back(Tensor::from(values, {count}));
  }
  return tensors;
}

Tensor reduced(const Tensors& values, ReduceKind kind) {
  ShardReduce op;
  op.kind = kind;
  return crescent::apply(std::make_shared<const ShardReduce>(op), values).front();
}

/// Combines shards [first, last) in the order that the op documents.
template <class T>
T pairwise_reduced(ReduceKind kind, const std::vector<std::vector<T>>& values, size_t first,
                   size_t last, size_t i) {
  if (last - first == 1) return values[first][i];
  const size_t middle_shard = first + (last - first) / 2;
  const T a = pairwise_reduced(kind, values, first, middle_shard, i),
          b = pairwise_reduced(kind, values, middle_shard, last, i);
  if (kind == ReduceKind::max) return std::max(a, b);
  return kind == ReduceKind::min ? std::min(a, b) : static_cast<T>(a + b);
}

template <class T>
void check_reduction(ReduceKind kind, int64_t shards, int64_t count) {
  const Tensor got = reduced(values_of_shards<T>(shards, count), kind);
  std::vector<std::vector<T>> values;
  for (int64_t s = 0; s < shards; ++s) values.push_back(random_values<T>(s, count));
  std::vector<T> expected;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    expected.push_back(pairwise_reduced(kind, values, 0, values.size(), i));
  INFO(name_of(kind) << " of " << shards << " shards with " << count << " elements");
  CHECK((std::equal(expected.begin(), expected.end(), got.data<T>())));
}

void check_concat(int64_t shards) {
  const ShardRange own_range = own_shards(shards);
  Tensors rows;
  std::vector<double> expected;
  for (int64_t s = 0; s < shards; ++s) {
    const int64_t count = 1 + s % 3;
    const bool is_own = s >= own_range.first && s < own_range.last;
    rows.push_back(Tensor::full({count, 2}, is_own ? s : -1));
    for (int64_t i = 0; i < 2 * count; ++i) expected.push_back(static_cast<double>(s));
  }
  const Tensor joined_rows = crescent::apply(std::make_shared<const ShardConcat>(), rows).front();
  CHECK(joined_rows.to_vector() == expected);
}

/// Each process runs only the instructions of its own shards: an index that is out of range in a
/// shard of the other process is no error.
void check_program() {
  const Function total_of_shards([](const Tensors& in) {
    Tensors slices;
    for (int64_t s = 0; s < 3; ++s) {
      ShardSlice slice;
      slice.shard = s, slice.first = 2 * s, slice.count = 2;
      slices.push_back(ops::sum(ops::gather(in[1], apply1(slice, {in[0]}), 0)));
    }
    return Tensors{reduced(slices, ReduceKind::sum)};
  });
  std::vector<int32_t> rows{0, 1, 2, 0, 1, 2};
  const ShardRange own_range = own_shards(3);
  for (int64_t i = 0; i < 6; ++i)
    if (i / 2 < own_range.first || i / 2 >= own_range.last) rows[static_cast<size_t>(i)] = 99;
  const Tensor table = Tensor::from(std::vector<float>{1, 10, 100}, {3});
  CHECK(total_of_shards({Tensor::from(rows, {6}), table})[0].item() == 222);
}

void check_all() {
  for (int64_t shards = 1; shards <= 16; ++shards) {
    check_concat(shards);
    for (int64_t count : {1, 7, 1023, 1024, 1025})
      check_reduction<float>(ReduceKind::sum, shards, count);
  }
  for (int64_t count : {65535, 65536, 65537, 131073}) {
    check_reduction<float>(ReduceKind::sum, 8, count);
    check_reduction<double>(ReduceKind::sum, 5, count);
  }
  for (ReduceKind kind : {ReduceKind::sum, ReduceKind::max, ReduceKind::min}) {
    check_reduction<int32_t>(kind, 7, 1030);
    check_reduction<int64_t>(kind, 3, 5);
    check_reduction<double>(kind, 6, 1030);
    check_reduction<float>(kind, 6, 1030);
  }
  for (DType dtype : {DType::bfloat16, DType::float16, DType::int8, DType::uint8, DType::int16}) {
    INFO(name_of(dtype));
    const ShardRange own_range = own_shards(5);
    Tensors values;
    for (int64_t s = 0; s < 5; ++s)
      values.push_back(
          Tensor::full({3}, s >= own_range.first && s < own_range.last ? s + 1 : 20, dtype));
    CHECK(reduced(values, ReduceKind::sum).to_vector() == std::vector<double>(3, 15));
  }
  for (ReduceKind kind : {ReduceKind::sum, ReduceKind::max, ReduceKind::min})
    for (int64_t nan_shard = 0; nan_shard < 3; ++nan_shard) {
      Tensors values;
      for (int64_t s = 0; s < 3; ++s)
        values.push_back(Tensor::full({20}, s == nan_shard ? NAN : static_cast<double>(s)));
      for (const double x : reduced(values, kind).to_vector()) CHECK(std::isnan(x));
    }
  check_program();
}

}  // namespace

TEST_CASE("shards of one process", "[shards]") { check_all(); }

TEST_CASE("the second of two processes with shards", "[.][second_of_shards]") {
  be_second_of_two();
  set_distribution(Distribution::data_parallel);
  check_all();
}

TEST_CASE("shards of two processes have the same bits", "[shards]") {
  const FirstOfTwo first("[second_of_shards]");
  set_distribution(Distribution::data_parallel);
  check_all();
  set_distribution(Distribution::none);
}

TEST_CASE("values of shards do not mix", "[shards]") {
  const auto mixed_function = [](const Tensors& in) {
    ShardSlice first, second;
    first.count = second.count = 2, second.shard = 1, second.first = 2;
    return Tensors{apply1(first, {in[0]}) + apply1(second, {in[0]})};
  };
  const Program program = trace(mixed_function, std::vector<TensorSpec>{{DType::float32, {4}}});
  CHECK_THROWS_WITH(shards_of_values(program), Catch::Contains("the logical shards 0 and 1"));
  const auto communicating_function = [](const Tensors& in) {
    ShardSlice slice;
    slice.count = 2;
    return Tensors{ops::all_reduce(apply1(slice, {in[0]}))};
  };
  CHECK_THROWS_WITH(shards_of_values(trace(communicating_function,
                                           std::vector<TensorSpec>{{DType::float32, {4}}})),
                    Catch::Contains("all_reduce_sum cannot be computed for a logical shard"));
}

TEST_CASE("what shards cannot be", "[shards]") {
  CHECK_THROWS_WITH(reduced({Tensor(1.0f), Tensor::full({2}, 1)}, ReduceKind::sum),
                    Catch::Contains("from every shard"));
  CHECK_THROWS_WITH(reduced({Tensor::full({2}, 1, DType::complex64)}, ReduceKind::sum),
                    Catch::Contains("takes no complex numbers"));
  CHECK_THROWS_WITH(reduced({Tensor(1.0f)}, ReduceKind::mean),
                    Catch::Contains("expected sum, max or min, got mean"));
  ShardSlice slice;
  slice.first = 3, slice.count = 2;
  CHECK_THROWS_WITH(apply1(slice, {ops::zeros({4, 2})}), Catch::Contains("rows [3, 5)"));
  CHECK_THROWS_WITH(crescent::apply(std::make_shared<const ShardConcat>(),
                                    Tensors{ops::zeros({4, 2}), ops::zeros({4, 3})}),
                    Catch::Contains("expected rows like those of"));
}

}  // namespace crescent
