#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

/// Calls f(coordinates, linear index) for every element of the shape.
template <class F>
void for_each(const Shape& shape, F&& f) {
  std::vector<int64_t> at(static_cast<size_t>(shape.rank()));
  for (int64_t i = 0; i < shape.size(); ++i) {
    int64_t remaining = i;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      at[static_cast<size_t>(axis)] = remaining % shape[axis];
      remaining /= shape[axis];
    }
    f(at, static_cast<size_t>(i));
  }
}

size_t index_in(const Shape& shape, const std::vector<int64_t>& at) {
  int64_t index = 0;
  for (int axis = 0; axis < shape.rank(); ++axis)
    index = index * shape[axis] + at[static_cast<size_t>(axis)];
  return static_cast<size_t>(index);
}

/// The array of this shape whose element `at` is x[source(at)].
template <class F>
Array moved_elements(const Array& x, const Shape& shape, F&& source) {
  Array want = zeros(shape, x.spec.dtype);
  for_each(shape, [&](const std::vector<int64_t>& at, size_t i) {
    want.values[i] = x.values[index_in(x.spec.shape, source(at))];
  });
  return want;
}

constexpr DType kDTypes[] = {DType::float32, DType::float64, DType::float16, DType::uint8};

}  // namespace

TEST_CASE("transposes of every pattern") {
  const std::pair<Shape, std::vector<int>> cases[] = {{{3, 4}, {1, 0}},
                                                      {{200, 300}, {1, 0}},
                                                      {{2, 3, 4}, {0, 2, 1}},
                                                      {{2, 3, 4}, {2, 1, 0}},
                                                      {{2, 3, 4}, {1, 0, 2}},
                                                      {{5, 6, 7, 8}, {0, 2, 1, 3}},
                                                      {{5, 6, 7, 8}, {0, 3, 1, 2}},
                                                      {{5, 6, 7, 8}, {3, 1, 0, 2}},
                                                      {{1, 5, 1}, {2, 1, 0}},
                                                      {{64, 3, 50}, {2, 0, 1}},
                                                      {{2, 5000, 3}, {0, 2, 1}},
                                                      {{3, 5000}, {1, 0}},
                                                      {{5000, 8}, {1, 0}},
                                                      {{31, 33}, {1, 0}},
                                                      {{65, 9}, {1, 0}},
                                                      {{1023, 3}, {1, 0}},
                                                      {{1024, 8}, {1, 0}},
                                                      {{1025, 2}, {1, 0}},
                                                      {{2, 1025, 3}, {0, 2, 1}},
                                                      {{2, 2049, 7}, {0, 2, 1}},
                                                      {{3, 4, 1026}, {2, 0, 1}},
                                                      {{1025, 9}, {1, 0}},
                                                      {{0, 3}, {1, 0}}};
  for (DType dtype : kDTypes) {
    for (const auto& [shape, axes] : cases) {
      Transpose op;
      op.axes = axes;
      std::vector<int64_t> dims;
      for (int axis : axes) dims.push_back(shape[axis]);
      Array x = random(shape, dtype, 1, 0, 100);
      Array want = moved_elements(x, Shape(dims), [&](const std::vector<int64_t>& at) {
        std::vector<int64_t> source_index(at.size());
        for (size_t i = 0; i < at.size(); ++i) source_index[static_cast<size_t>(axes[i])] = at[i];
        return source_index;
      });
      CHECK(check(shape_kernels, op, {x}, {want}) == 2);
    }
  }
}

TEST_CASE("slices, flips, padding, broadcasts and concatenation") {
  for (DType dtype : kDTypes) {
    Array x = random({6, 7, 5}, dtype, 1, 0, 100);
    Slice slice;
    slice.start = {1, 6, 0}, slice.size = {2, 3, 5}, slice.stride = {3, -2, 1};
    check(shape_kernels, slice, {x},
          {moved_elements(x, {2, 3, 5}, [](const std::vector<int64_t>& at) {
            return std::vector<int64_t>{1 + 3 * at[0], 6 - 2 * at[1], at[2]};
          })});
    Reverse reverse;
    reverse.axes = {0, 2};
    check(shape_kernels, reverse, {x},
          {moved_elements(x, {6, 7, 5}, [](const std::vector<int64_t>& at) {
            return std::vector<int64_t>{5 - at[0], at[1], 4 - at[2]};
          })});
    Pad pad;
    pad.before = {1, 0, 2}, pad.after = {0, 3, 1}, pad.inner = {0, 1, 0}, pad.value = 9;
    Array padded = zeros({7, 16, 8}, dtype);
    std::fill(padded.values.begin(), padded.values.end(), 9);
    for_each(x.spec.shape, [&](const std::vector<int64_t>& at, size_t i) {
      padded.values[index_in(padded.spec.shape, {at[0] + 1, at[1] * 2, at[2] + 2})] = x.values[i];
    });
    CHECK(check(shape_kernels, pad, {x}, {padded}) == 2);
    BroadcastTo broadcast;
    broadcast.shape = {4, 6, 9, 5};
    Array broadcast_source = random({6, 1, 5}, dtype, 2, 0, 100);
    check(shape_kernels, broadcast, {broadcast_source},
          {moved_elements(broadcast_source, broadcast.shape, [](const std::vector<int64_t>& at) {
            return std::vector<int64_t>{at[1], 0, at[3]};
          })});
    for (int axis : {0, 1, 2}) {
      Concat concat;
      concat.axis = axis;
      Shape second_shape = x.spec.shape, joined_shape = x.spec.shape;
      second_shape.set(axis, 3), joined_shape.set(axis, x.spec.shape[axis] + 3);
      Array y = random(second_shape, dtype, 3, 0, 100), want = zeros(joined_shape, dtype);
      for_each(joined_shape, [&](std::vector<int64_t> at, size_t i) {
        int64_t& c = at[static_cast<size_t>(axis)];
        const bool is_first = c < x.spec.shape[axis];
        if (!is_first) c -= x.spec.shape[axis];
        want.values[i] =
            is_first ? x.values[index_in(x.spec.shape, at)] : y.values[index_in(second_shape, at)];
      });
      CHECK(check(shape_kernels, concat, {x, y}, {want}) == 2);
    }
  }
}

TEST_CASE("rows of any length are joined and repeated") {
  for (DType dtype : kDTypes) {
    for (int64_t width : {1, 2, 3, 5, 16, 21, 40, 90}) {
      const int64_t rows = 700;
      for (size_t array_count : {2u, 3u, 4u, 5u}) {
        Concat concat;
        concat.axis = 1;
        std::vector<Array> joined_arrays;
        for (size_t i = 0; i < array_count; ++i)
          joined_arrays.push_back(
              random({rows, width}, dtype, static_cast<unsigned>(i + 1), 0, 100));
        const auto count = static_cast<int64_t>(array_count);
        Array want = zeros({rows, count * width}, dtype);
        for_each(want.spec.shape, [&](const std::vector<int64_t>& at, size_t i) {
          const auto array_index = static_cast<size_t>(at[1] / width);
          want.values[i] =
              joined_arrays[array_index].values[static_cast<size_t>(at[0] * width + at[1] % width)];
        });
        CHECK(check(shape_kernels, concat, joined_arrays, {want}) == 2);
      }
      BroadcastTo broadcast;  // broadcasting repeats rows, then elements
      broadcast.shape = {rows, width, 3};
      Array row_values = random({rows, 1, 3}, dtype, 1, 0, 100),
            column_values = random({rows, 1, 1}, dtype, 2);
      check(shape_kernels, broadcast, {row_values},
            {moved_elements(row_values, broadcast.shape, [](const std::vector<int64_t>& at) {
              return std::vector<int64_t>{at[0], 0, at[2]};
            })});
      broadcast.shape = {rows, width, 1};
      check(shape_kernels, broadcast, {column_values},
            {moved_elements(column_values, broadcast.shape, [](const std::vector<int64_t>& at) {
              return std::vector<int64_t>{at[0], 0, 0};
            })});
    }
  }
}

TEST_CASE("lines of any length are reversed") {
  for (DType dtype : kDTypes)
    for (int64_t n : {2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130}) {
      INFO(to_text(dtype) << " " << n);
      const Array x = random({3, n}, dtype, static_cast<unsigned>(n), 0, 100);
      Reverse reverse;
      reverse.axes = {1};
      check(shape_kernels, reverse, {x},
            {moved_elements(x, {3, n}, [&](const std::vector<int64_t>& at) {
              return std::vector<int64_t>{at[0], n - 1 - at[1]};
            })});
    }
}

TEST_CASE("large moves are split among threads") {
  Array x = random({300, 2000}, DType::float32, 1);
  Slice slice;
  slice.start = {0, 1}, slice.size = {300, 1999}, slice.stride = {1, 1};
  check(shape_kernels, slice, {x},
        {moved_elements(x, {300, 1999}, [](const std::vector<int64_t>& at) {
          return std::vector<int64_t>{at[0], at[1] + 1};
        })});
  Reverse reverse;
  reverse.axes = {0, 1};
  check(shape_kernels, reverse, {x},
        {moved_elements(x, {300, 2000}, [](const std::vector<int64_t>& at) {
          return std::vector<int64_t>{299 - at[0], 1999 - at[1]};
        })});
}

TEST_CASE("gather and scatter_add are each other's inverse; indices out of range are clamped") {
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::int64}) {
    for (DType index : {DType::int32, DType::int64, DType::uint8}) {
      for (int axis : {0, 1, 2}) {
        Array x = random({6, 9, 4}, dtype, 1, 0, 100), at = zeros({2, 3}, index);
        at.values = {0, 3, 1, 3, index == DType::uint8 ? 0.0 : -5, 200};
        const int64_t length = x.spec.shape[axis];
        std::vector<int64_t> dims;
        for (int i = 0; i < 3; ++i) {
          if (i == axis)
            dims.insert(dims.end(), {2, 3});
          else
            dims.push_back(x.spec.shape[i]);
        }
        auto row = [&](int64_t a, int64_t b) {
          return std::min<int64_t>(
              std::max<int64_t>(static_cast<int64_t>(at.values[static_cast<size_t>(a * 3 + b)]), 0),
              length - 1);
        };
        auto source = [&](const std::vector<int64_t>& out) {
          std::vector<int64_t> source_index(out.begin(), out.begin() + axis);
          source_index.push_back(
              row(out[static_cast<size_t>(axis)], out[static_cast<size_t>(axis) + 1]));
          source_index.insert(source_index.end(), out.begin() + axis + 2, out.end());
          return source_index;
        };
        Gather gather;
        gather.axis = axis;
        Array y = moved_elements(x, Shape(dims), source);
        CHECK(check(shape_kernels, gather, {x, at}, {y}) == 2);
        ScatterAdd scatter;
        scatter.axis = axis, scatter.size = length;
        Array sum = zeros(x.spec.shape, dtype);
        for_each(y.spec.shape, [&](const std::vector<int64_t>& out, size_t i) {
          sum.values[index_in(sum.spec.shape, source(out))] += y.values[i];
        });
        CHECK(check(shape_kernels, scatter, {at, y}, {sum}) >= 2);
      }
    }
  }
}

TEST_CASE("scatter_add into a large table gives the same bits for any threads") {
  Array indices = random({5000}, DType::int32, 1, 0, 999.99),
        updates = random({5000, 64}, DType::float32, 2);
  Array sum = zeros({1000, 64});
  for (size_t i = 0; i < 5000; ++i) {
    for (size_t j = 0; j < 64; ++j)
      sum.values[static_cast<size_t>(indices.values[i]) * 64 + j] += updates.values[i * 64 + j];
  }
  ScatterAdd op;
  op.axis = 0, op.size = 1000;
  CHECK(check(shape_kernels, op, {indices, updates}, {sum}) == 2);
}

TEST_CASE("scatter_add of many halves does not stand still") {
  for (DType dtype : {DType::bfloat16, DType::float16}) {
    for (int64_t width : {1, 5}) {
      Array indices = zeros({4096}, DType::int32), updates = zeros({4096, width}, dtype),
            sum = zeros({2, width}, dtype);
      std::fill(updates.values.begin(), updates.values.end(), 1);
      std::fill_n(sum.values.begin(), width, 4096);
      ScatterAdd op;
      op.axis = 0, op.size = 2;
      CHECK(check(shape_kernels, op, {indices, updates}, {sum}) > 0);
    }
  }
}

TEST_CASE("take_along and gather take any number of indices of any dtype; they clamp") {
  for (DType dtype : {DType::uint8, DType::bfloat16, DType::float32, DType::int64}) {
    for (DType index_dtype :
         {DType::int32, DType::int64, DType::int16, DType::int8, DType::uint8}) {
      for (int64_t n : {0, 1, 3, 33, 1030}) {
        for (bool is_inside : {true, false}) {
          const double low = is_inside || index_dtype == DType::uint8 ? 0 : -3,
                       high = is_inside ? 6.99 : 9.99;
          const auto clamped_at = [](const Array& at, const std::vector<int64_t>& c) {
            return std::clamp(static_cast<int64_t>(at.values[index_in(at.spec.shape, c)]),
                              int64_t{0}, int64_t{6});
          };
          INFO(n << " indices of " << name_of(index_dtype) << " into " << name_of(dtype));
          TakeAlong take_along_axis;
          take_along_axis.axis = 1;
          const Array rows = random({3, 7}, dtype, 1, 0, 99),
                      at_rows = random({3, n}, index_dtype, 2, low, high);
          CHECK(check(shape_kernels, take_along_axis, {rows, at_rows},
                      {moved_elements(rows, {3, n}, [&](const std::vector<int64_t>& c) {
                        return std::vector<int64_t>{c[0], clamped_at(at_rows, c)};
                      })}) > 0);
          const Array columns = random({2, 7, n}, dtype, 3, 0, 99),
                      at_columns = random({2, 3, n}, index_dtype, 4, low, high);
          CHECK(check(shape_kernels, take_along_axis, {columns, at_columns},
                      {moved_elements(columns, {2, 3, n}, [&](const std::vector<int64_t>& c) {
                        return std::vector<int64_t>{c[0], clamped_at(at_columns, c), c[2]};
                      })}) > 0);
          const Array lines = random({n, 7}, dtype, 6, 0, 99),
                      one_of_each = random({n, 1}, index_dtype, 7, low, high);
          CHECK(check(shape_kernels, take_along_axis, {lines, one_of_each},
                      {moved_elements(lines, {n, 1}, [&](const std::vector<int64_t>& c) {
                        return std::vector<int64_t>{c[0], clamped_at(one_of_each, c)};
                      })}) > 0);
          Gather gather;
          gather.axis = 1;
          const Array at = random({n}, index_dtype, 5, low, high);
          CHECK(check(shape_kernels, gather, {rows, at},
                      {moved_elements(rows, {3, n}, [&](const std::vector<int64_t>& c) {
                        return std::vector<int64_t>{c[0], clamped_at(at, {c[1]})};
                      })}) > 0);
        }
      }
    }
  }
}

TEST_CASE("take_along, one_hot, fill and iota") {
  Array x = random({4, 5, 3}, DType::float32, 1), at = random({4, 2, 3}, DType::int64, 2, 0, 4.99);
  TakeAlong take_along_axis;
  take_along_axis.axis = 1;
  check(shape_kernels, take_along_axis, {x, at},
        {moved_elements(x, {4, 2, 3}, [&](const std::vector<int64_t>& c) {
          return std::vector<int64_t>{
              c[0], static_cast<int64_t>(at.values[index_in(at.spec.shape, c)]), c[2]};
        })});
  Array labels = zeros({4}, DType::int32);
  labels.values = {2, 0, -1, 7};
  for (DType dtype : {DType::float32, DType::bfloat16, DType::boolean, DType::int32}) {
    OneHot one_hot;
    one_hot.depth = 3, one_hot.dtype = dtype;
    Array want = zeros({4, 3}, dtype);
    want.values[2] = want.values[3] = 1;
    CHECK(check(shape_kernels, one_hot, {labels}, {want}) == 2);
    Fill fill;
    fill.shape = {5, 7}, fill.dtype = dtype, fill.value = 1;
    Array ones = zeros({5, 7}, dtype);
    std::fill(ones.values.begin(), ones.values.end(), 1);
    CHECK(check(shape_kernels, fill, {}, {ones}) == 2);
  }
  Iota iota;
  iota.shape = {2, 300, 3}, iota.dtype = DType::int64, iota.axis = 1;
  Array count = zeros(iota.shape, DType::int64);
  for_each(iota.shape, [&](const std::vector<int64_t>& c, size_t i) {
    count.values[i] = static_cast<double>(c[1]);
  });
  CHECK(check(shape_kernels, iota, {}, {count}) == 2);
}
