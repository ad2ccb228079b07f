// Kernels that process rows in pieces, tested with lengths around every size of a piece: they must
// not miss the last element.
#include <algorithm>
#include <numeric>

#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

/// Lengths around the sizes of vectors, groups of vectors, and pieces for a thread or a cache.
const std::vector<int64_t> kLengths = {1,    17,   63,   64,   65,   255,  257,  259,  1023,
                                       1025, 1027, 2047, 2048, 2049, 2050, 2051, 4097, 6147};
/// The largest length for reductions along columns, whose loops process fewer rows at a time.
constexpr int64_t kLongestColumn = 300;

/// The indices at which one element differs from the others: first, middle and the last three.
std::vector<int64_t> probe_indices(int64_t n) {
  std::vector<int64_t> indices{0, n / 2, n - 3, n - 2, n - 1};
  std::erase_if(indices, [&](int64_t i) { return i < 0 || i >= n; });
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

/// Rows of `n` random elements from `low` to `high`, one row for each index of probe_indices(n); at
/// this index the row has the element `special`.
Array rows_with(int64_t n, DType dtype, double low, double high, double special) {
  const auto indices = probe_indices(n);
  const auto rows = static_cast<int64_t>(indices.size());
  Array x = random({rows, n}, dtype, static_cast<unsigned>(n), low, high);
  for (int64_t r = 0; r < rows; ++r)
    x.values[static_cast<size_t>(r * n + indices[static_cast<size_t>(r)])] = special;
  return x;
}

/// The array of f(row) for each row of x.
template <class F>
Array for_each_row(const Array& x, DType dtype, F&& f) {
  const int64_t rows = x.spec.shape[0], n = x.spec.shape[1];
  Array y = zeros({rows}, dtype);
  for (int64_t r = 0; r < rows; ++r)
    y.values[static_cast<size_t>(r)] = f(x.values.begin() + r * n, x.values.begin() + (r + 1) * n);
  return y;
}

double reduced(ReduceKind kind, auto begin, auto end) {
  switch (kind) {
    case ReduceKind::max:
    case ReduceKind::any:
      return *std::max_element(begin, end);
    case ReduceKind::min:
    case ReduceKind::all:
      return *std::min_element(begin, end);
    case ReduceKind::prod:
      return std::accumulate(begin, end, 1.0, std::multiplies<>());
    case ReduceKind::mean:
      return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
    default:
      return std::accumulate(begin, end, 0.0);
  }
}

struct Reduction {
  ReduceKind kind;
  double low, high, special;
};
constexpr Reduction kReductions[] = {
    {ReduceKind::sum, 0, 1.99, 9},       {ReduceKind::mean, 0, 1.99, 9},
    {ReduceKind::max, -2, 1.99, 9},      {ReduceKind::min, 1, 3.99, -9},
    {ReduceKind::prod, 0.999, 1.001, 3}, {ReduceKind::any, 0, 0, 1},
    {ReduceKind::all, 1, 1, 0}};

/// Transposes the array, so that the reduced axis comes first.
Array transposed(const Array& x) {
  const int64_t rows = x.spec.shape[0], n = x.spec.shape[1];
  Array y = zeros({n, rows}, x.spec.dtype);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < n; ++i)
      y.values[static_cast<size_t>(i * rows + r)] = x.values[static_cast<size_t>(r * n + i)];
  return y;
}

}  // namespace

TEST_CASE("reductions of rows of any length take in the last element", "[cpu][lengths]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (const Reduction& reduction : kReductions) {
    const bool is_logical = reduction.kind == ReduceKind::any || reduction.kind == ReduceKind::all;
    const bool is_mean = reduction.kind == ReduceKind::mean,
               is_product = reduction.kind == ReduceKind::prod;
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::int32, DType::int64,
                        DType::uint8, DType::boolean}) {
      if (is_logical != (dtype == DType::boolean) || (is_mean && !is_floating(dtype))) continue;
      if (dtype == DType::uint8 && (reduction.low < 0 || reduction.special < 0)) continue;
      // Products in dtypes of 16 bits are not compared, because they are rounded.
      if (is_product && size_of(dtype) < 4) continue;
      for (int64_t n : kLengths) {
        const Array x = rows_with(n, dtype, reduction.low, reduction.high, reduction.special);
        Array want =
            for_each_row(x, dtype, [&](auto a, auto b) { return reduced(reduction.kind, a, b); });
        if (dtype == DType::uint8)
          for (double& v : want.values) v = std::fmod(v, 256);
        Reduce op;
        op.kind = reduction.kind, op.axes = {1};
        CAPTURE(n);
        CHECK(check(reduction_kernels, op, {x}, {want}, 2) >= 1);
        if (n > kLongestColumn) continue;
        op.axes = {0};
        CHECK(check(reduction_kernels, op, {transposed(x)}, {want}, 2) >= 1);
      }
    }
  }
}

TEST_CASE("reductions over the rows of arrays of any width", "[cpu][lengths]") {
  for (int64_t width : {1, 3, 127, 128, 129, 511, 512, 513, 2047, 2049, 2051}) {
    for (int64_t rows : {1, 63, 64, 65, 127, 129, 200}) {
      const Array x = random({rows, width}, DType::int32, 1, 0, 99);
      Array want = zeros({width}, DType::int32);
      for (int64_t i = 0; i < rows * width; ++i)
        want.values[static_cast<size_t>(i % width)] += x[i];
      Reduce op;
      op.axes = {0};
      CAPTURE(rows, width);
      CHECK(check(reduction_kernels, op, {x}, {want}) >= 1);
    }
  }
}

TEST_CASE("softmax of rows of any length sees the largest wherever it is", "[cpu][lengths]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    // exp overflows unless the maximum, the special element, is found and subtracted.
    const double largest = dtype == DType::float64 ? 900 : 200;
    for (int64_t n : kLengths) {
      for (double special : {largest, 1.0}) {
        const Array x = rows_with(n, dtype, -1, 1, special);
        const Array logs = for_each_row(x, dtype, [](auto a, auto b) {
          const double maximum = *std::max_element(a, b);
          return maximum + std::log(std::accumulate(a, b, 0.0, [&](double sum, double v) {
                   return sum + std::exp(v - maximum);
                 }));
        });
        for (bool is_log : {false, true}) {
          Array want = x;
          for (size_t i = 0; i < want.values.size(); ++i) {
            const double z = x.values[i] - logs[static_cast<int64_t>(i) / n];
            want.values[i] = is_log ? z : std::exp(z);
          }
          Softmax op;
          op.log = is_log;
          CAPTURE(n, special);
          CHECK(check(softmax_kernels, op, {x}, {want}) >= 1);
          if (n > kLongestColumn) continue;
          op.axis = 0;
          CHECK(check(softmax_kernels, op, {transposed(x)}, {transposed(want)}) >= 1);
        }
        if (dtype == DType::bfloat16) continue;
        const auto rows = x.spec.shape[0];
        Array labels = zeros({rows}, DType::int32), loss = zeros({rows}, dtype),
              up = random({rows}, dtype, 2, 0.5, 1), dz = x;
        for (int64_t r = 0; r < rows; ++r) {
          labels.values[static_cast<size_t>(r)] = static_cast<double>(n - 1);
          loss.values[static_cast<size_t>(r)] = logs[r] - x[r * n + n - 1];
          for (int64_t i = 0; i < n; ++i)
            dz.values[static_cast<size_t>(r * n + i)] =
                (std::exp(x[r * n + i] - logs[r]) - (i == n - 1)) * up[r];
        }
        CHECK(check(softmax_kernels, SoftmaxCrossEntropy{}, {x, labels}, {loss}) >= 1);
        CHECK(check(softmax_kernels, SoftmaxCrossEntropyBackward{}, {x, labels, up}, {dz}) >= 1);
      }
    }
  }
}

TEST_CASE("argmax and argmin of rows of any length give the first of equals", "[cpu][lengths]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  std::vector<int64_t> lengths = kLengths;
  lengths.insert(lengths.end(), {65537, 131075});  // lengths that are split into pieces
  for (DType dtype : {DType::float32, DType::float64, DType::int32, DType::uint8}) {
    for (int64_t n : lengths) {
      if (n > 10000 && size_of(dtype) != 4) continue;
      for (bool is_max : {true, false}) {
        // The extreme value occurs once, or also at later indices up to the end of the row.
        for (bool repeats_extremum : {false, true}) {
          Array x = rows_with(n, dtype, 1, 4, is_max ? 7 : 0);
          const auto indices = probe_indices(n);
          for (size_t r = 0; repeats_extremum && r < indices.size(); ++r)
            for (int64_t i = indices[r]; i < n; i += std::max<int64_t>(1, n / 9))
              x.values[r * static_cast<size_t>(n) + static_cast<size_t>(i)] = is_max ? 7 : 0;
          Array want = zeros({static_cast<int64_t>(indices.size())}, DType::int64);
          std::copy(indices.begin(), indices.end(), want.values.begin());
          ArgReduce op;
          op.max = is_max, op.axis = 1;
          CAPTURE(n, is_max, repeats_extremum);
          CHECK(check(reduction_kernels, op, {x}, {want}) >= 1);
          if (n > kLongestColumn) continue;
          op.axis = 0;
          CHECK(check(reduction_kernels, op, {transposed(x)}, {want}) >= 1);
        }
      }
    }
  }
}

TEST_CASE("argmax and argmin of rows of any length give the first that is no number",
          "[cpu][lengths]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (DType dtype : {DType::float32, DType::float64})
    for (int64_t n : {3, 17, 257, 2049, 6147})
      for (bool is_max : {true, false}) {
        Array x = rows_with(n, dtype, 1, 4, NAN);
        const auto indices = probe_indices(n);
        // The NaN at the last index comes later, so it must not be found.
        for (size_t r = 0; r < indices.size(); ++r)
          x.values[r * static_cast<size_t>(n) + static_cast<size_t>(n - 1)] = NAN;
        Array want = zeros({static_cast<int64_t>(indices.size())}, DType::int64);
        std::copy(indices.begin(), indices.end(), want.values.begin());
        ArgReduce op;
        op.max = is_max, op.axis = 1;
        CAPTURE(n, is_max);
        CHECK(check(reduction_kernels, op, {x}, {want}) >= 1);
        if (n > kLongestColumn) continue;
        op.axis = 0;
        CHECK(check(reduction_kernels, op, {transposed(x)}, {want}) >= 1);
      }
}

TEST_CASE("cumulative sums of any length", "[cpu][lengths]") {
  for (int64_t n : kLengths) {
    const Array x = rows_with(n, DType::int32, 0, 9, 100);
    for (bool reverse : {false, true}) {
      Array want = x;
      for (int64_t r = 0; r < x.spec.shape[0]; ++r) {
        const auto row = want.values.begin() + r * n;
        if (reverse)
          std::partial_sum(std::reverse_iterator(row + n), std::reverse_iterator(row),
                           std::reverse_iterator(row + n));
        else
          std::partial_sum(row, row + n, row);
      }
      Cumulative op;
      op.axis = 1, op.reverse = reverse;
      CHECK(check(reduction_kernels, op, {x}, {want}) >= 1);
      op.axis = 0;
      CHECK(check(reduction_kernels, op, {transposed(x)}, {transposed(want)}) >= 1);
    }
  }
}

TEST_CASE("layer normalization of rows of any length and with any epsilon", "[cpu][lengths]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (DType dtype : {DType::float32, DType::float64}) {
    for (int64_t n : kLengths) {
      for (double epsilon : {1e-3, 1e-6, 0.5}) {
        const Array x = rows_with(n, dtype, -1, 1, 3), gamma = random({n}, dtype, 2, 0.5, 1.5),
                    beta = random({n}, dtype, 3);
        const Array mean =
            for_each_row(x, dtype, [](auto a, auto b) { return reduced(ReduceKind::mean, a, b); });
        const Array rstd = for_each_row(x, dtype, [&](auto a, auto b) {
          const double mean = reduced(ReduceKind::mean, a, b);
          const double squares = std::accumulate(
              a, b, 0.0, [&](double s, double v) { return s + (v - mean) * (v - mean); });
          return 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
        });
        Array y = x;
        for (size_t i = 0; i < y.values.size(); ++i) {
          const auto r = static_cast<int64_t>(i) / n, c = static_cast<int64_t>(i) % n;
          y.values[i] = (x.values[i] - mean[r]) * rstd[r] * gamma[c] + beta[c];
        }
        LayerNorm op;
        op.epsilon = epsilon;
        CAPTURE(n, epsilon);
        CHECK(check(normalization_kernels, op, {x, gamma, beta}, {y, mean, rstd}, 4) >= 1);
      }
    }
  }
}
