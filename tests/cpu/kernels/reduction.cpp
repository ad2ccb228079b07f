#include <algorithm>
#include <cmath>
#include <numeric>

#include "crescent/ops/ops.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

double initial_value(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::prod:
    case ReduceKind::all:
      return 1;
    case ReduceKind::max:
      return -1e300;
    case ReduceKind::min:
      return 1e300;
    default:
      return 0;
  }
}

double combine(ReduceKind kind, double a, double x) {
  switch (kind) {
    case ReduceKind::prod:
      return a * x;
    case ReduceKind::max:
      return std::max(a, x);
    case ReduceKind::min:
      return std::min(a, x);
    case ReduceKind::any:
      return a != 0 || x != 0;
    case ReduceKind::all:
      return a != 0 && x != 0;
    default:
      return a + x;
  }
}

Array reduced(ReduceKind kind, const Array& x, const std::vector<int>& axes) {
  std::vector<int64_t> dims;
  int64_t count = 1;
  for (int i = 0; i < x.spec.shape.rank(); ++i) {
    const bool is_reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (is_reduced)
      count *= x.spec.shape[i];
    else
      dims.push_back(x.spec.shape[i]);
  }
  Array y = zeros(Shape(dims), x.spec.dtype);
  std::fill(y.values.begin(), y.values.end(), initial_value(kind));
  for (int64_t i = 0; i < x.spec.shape.size(); ++i) {
    int64_t remaining = i, index = 0, stride = 1;
    for (int axis = x.spec.shape.rank() - 1; axis >= 0; --axis) {
      const int64_t c = remaining % x.spec.shape[axis];
      remaining /= x.spec.shape[axis];
      if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
      index += c * stride;
      stride *= x.spec.shape[axis];
    }
    double& v = y.values[static_cast<size_t>(index)];
    v = combine(kind, v, x[i]);
  }
  if (kind == ReduceKind::mean) {
    for (double& v : y.values) v /= static_cast<double>(count);
  }
  return y;
}

}  // namespace

TEST_CASE("reductions over any axes and dtypes") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const std::pair<Shape, std::vector<int>> cases[] = {{{10}, {0}},
                                                      {{1}, {0}},
                                                      {{}, {}},
                                                      {{3, 5}, {}},
                                                      {{7, 10}, {1}},
                                                      {{7, 10}, {0}},
                                                      {{300, 3}, {0}},
                                                      {{1000, 10}, {0}},
                                                      {{129, 600}, {0}},
                                                      {{129, 600}, {1}},
                                                      {{4, 5, 6, 7}, {0, 2}},
                                                      {{4, 5, 6, 7}, {1, 3}},
                                                      {{4, 5, 6, 7}, {0, 1, 2}},
                                                      {{4, 5, 6, 7}, {1, 2}},
                                                      {{4, 5, 6, 7}, {3}},
                                                      {{2, 1, 9}, {1, 2}},
                                                      {{3000, 32}, {0}},
                                                      {{5, 0}, {1}},
                                                      {{0, 5}, {1}},
                                                      {{300, 700}, {0, 1}}};
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16, DType::int32,
                      DType::int64, DType::uint8, DType::boolean}) {
    for (int k = 0; k < 7; ++k) {
      const ReduceKind kind = static_cast<ReduceKind>(k);
      const bool is_logical = kind == ReduceKind::any || kind == ReduceKind::all;
      if (is_logical != (dtype == DType::boolean) ||
          (kind == ReduceKind::mean && !is_floating(dtype)))
        continue;
      for (const auto& [shape, axes] : cases) {
        const bool is_extremum = kind == ReduceKind::max || kind == ReduceKind::min;
        if (shape.size() == 0 && (is_extremum || kind == ReduceKind::mean)) continue;
        if (kind == ReduceKind::prod && shape.size() > 100 && !is_floating(dtype)) continue;
        const bool is_integer_dtype = !is_floating(dtype), is_product = kind == ReduceKind::prod;
        Array x = random(shape, dtype, 1,
                         is_integer_dtype ? 0
                         : is_product     ? 0.99
                                          : -1,
                         is_integer_dtype ? 1.99
                         : is_product     ? 1.01
                                          : 1);
        Reduce op;
        op.kind = kind, op.axes = axes;
        Array want = reduced(kind, x, axes);
        if (dtype == DType::uint8) {
          for (double& v : want.values) v = std::fmod(v, 256);
        }
        CAPTURE(to_text(shape), axes);
        check(reduction_kernels, op, {x}, {want}, dtype == DType::float16 && is_product ? 40 : 3);
      }
    }
  }
}

TEST_CASE("rows are added several at once, whatever their number and length") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const DType dtype = GENERATE(DType::float32, DType::float64, DType::bfloat16, DType::float16);
  for (const int64_t rows : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31})
    for (const int64_t length : {1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 130, 2049}) {
      CAPTURE(dtype, rows, length);
      const Array x = random({rows, length}, dtype, static_cast<unsigned>(rows * length), -1, 1);
      for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::mean}) {
        Reduce op;
        op.kind = kind, op.axes = {1};
        check(reduction_kernels, op, {x}, {reduced(kind, x, {1})}, 3);
      }
    }
}

TEST_CASE("a sum of a million floats is as good as one in double") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  Array x = random({1 << 20}, DType::float32, 1, 0, 1);
  for (ReduceKind kind : {ReduceKind::sum, ReduceKind::mean}) {
    Reduce op;
    op.kind = kind, op.axes = {0};
    check(reduction_kernels, op, {x}, {reduced(kind, x, {0})}, 0.1);
  }
  x.spec.shape = {1 << 15, 32};
  Reduce op;
  op.kind = ReduceKind::sum, op.axes = {0};
  check(reduction_kernels, op, {x}, {reduced(ReduceKind::sum, x, {0})}, 0.1);
}

TEST_CASE("NaN wins in max and min") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (Shape shape : {Shape{100, 70}, Shape{7000, 1}, Shape{1, 7000}}) {
    for (int axis : {0, 1}) {
      Array x = random(shape, DType::float32, 1);
      x.values[3333] = NAN;
      Reduce op;
      op.kind = ReduceKind::max, op.axes = {axis};
      TensorSpec out{DType::float32, {shape[1 - axis]}};
      TensorSpecs in{x.spec}, outs{out};
      auto kernel = make_kernel({op, in, outs, Options{}});
      const Array got = run(*kernel, {x}, {out}, 1).outputs[0];
      CHECK(std::count_if(got.values.begin(), got.values.end(),
                          [](double v) { return std::isnan(v); }) == 1);
    }
  }
}

TEST_CASE("arg_reduce gives the first of equals, along any axis") {
  Array x = zeros({3, 4, 2}, DType::float32);
  for (size_t i = 0; i < 24; ++i) x.values[i] = static_cast<double>((i * 7) % 5);
  for (DType dtype :
       {DType::float32, DType::float64, DType::bfloat16, DType::int32, DType::uint8}) {
    x.spec.dtype = dtype;
    for (bool is_max : {true, false}) {
      for (int axis : {0, 1, 2}) {
        std::vector<int64_t> dims;
        for (int i = 0; i < 3; ++i)
          if (i != axis) dims.push_back(x.spec.shape[i]);
        Array want = zeros(Shape(dims), DType::int64);
        int64_t inner_stride = axis == 0 ? 8 : axis == 1 ? 2 : 1, length = x.spec.shape[axis];
        for (int64_t o = 0; o < 24 / length; ++o) {
          const int64_t base = o / inner_stride * length * inner_stride + o % inner_stride;
          int64_t best_index = 0;
          for (int64_t i = 1; i < length; ++i) {
            const double a = x[base + i * inner_stride], b = x[base + best_index * inner_stride];
            if (is_max ? a > b : a < b) best_index = i;
          }
          want.values[static_cast<size_t>(o)] = static_cast<double>(best_index);
        }
        ArgReduce op;
        op.max = is_max, op.axis = axis;
        CHECK(check(reduction_kernels, op, {x}, {want}) == 2);
      }
    }
  }
}

TEST_CASE("top_k is descending and stable; cumulative sums run both ways") {
  Array x = zeros({2, 5}, DType::float32);
  x.values = {1, 3, 2, 3, 0, 5, 4, 5, 5, 1};
  Array values = zeros({2, 3}), indices = zeros({2, 3}, DType::int32);
  values.values = {3, 3, 2, 5, 5, 5}, indices.values = {1, 3, 2, 0, 2, 3};
  TopK top_k;
  top_k.k = 3;
  CHECK(check(reduction_kernels, top_k, {x}, {values, indices}) == 2);

  // Rows of several lengths, with equal numbers and NaN, are compared with sorted copies.
  for (int64_t n : {1, 7, 17, 40, 100, 1031})
    for (int64_t k : {int64_t{1}, n / 9, n / 5, n})
      for (bool has_nan : {false, true})
        for (DType dtype : {DType::float32, DType::int32, DType::float64, DType::int64}) {
          if (k < 1 || (has_nan && is_integer(dtype))) continue;
          INFO("top_k " << k << " of " << n << (has_nan ? " with NaN" : ""));
          Array line = zeros({1, n}, dtype), best = zeros({1, k}, dtype),
                places = zeros({1, k}, DType::int32);
          for (int64_t i = 0; i < n; ++i)
            line.values[size_t(i)] = double((i * 7919 + n) % 997 % (n / 2 + 1)) - double(n) / 4;
          if (is_integer(dtype))
            for (double& v : line.values) v = std::round(v);
          if (has_nan) line.values[size_t(n / 3)] = std::nan("");
          std::vector<int64_t> order(static_cast<size_t>(n));
          std::iota(order.begin(), order.end(), 0);
          const auto value = [&](int64_t i) {
            const double v = line.values[size_t(i)];
            return std::isnan(v) ? HUGE_VAL : v;
          };
          std::stable_sort(order.begin(), order.end(),
                           [&](int64_t i, int64_t j) { return value(i) > value(j); });
          for (int64_t i = 0; i < k; ++i) {
            places.values[size_t(i)] = double(order[size_t(i)]);
            best.values[size_t(i)] = line.values[size_t(order[size_t(i)])];
          }
          top_k.k = k;
          CHECK(check(reduction_kernels, top_k, {line}, {best, places}) == 2);
        }

  Cumulative sum;
  Array want = x;
  sum.axis = 1;
  want.values = {1, 4, 6, 9, 9, 5, 9, 14, 19, 20};
  CHECK(check(reduction_kernels, sum, {x}, {want}) == 2);
  sum.axis = 0, sum.reverse = true;
  want.values = {6, 7, 7, 8, 1, 5, 4, 5, 5, 1};
  CHECK(check(reduction_kernels, sum, {x}, {want}) == 2);
}

TEST_CASE("zeros of both signs are equal to top_k, and keep their order", "[cpu]") {
  for (DType dtype : {DType::float32, DType::float64, DType::float16}) {
    for (int64_t n : {3, 17, 64, 257, 5000}) {
      CAPTURE(to_text(dtype), n);
      const Tensor x = ops::where(ops::equal(ops::mod(ops::arange(n), 3), 1), Tensor::full({}, 0.0),
                                  Tensor::full({}, -0.0));
      const Tensors best = ops::top_k(ops::cast(x, dtype), std::min<int64_t>(n, 12));
      const std::vector<double> indices = best[1].to_vector();
      for (size_t i = 0; i < indices.size(); ++i) CHECK(indices[i] == static_cast<double>(i));
    }
  }
}
