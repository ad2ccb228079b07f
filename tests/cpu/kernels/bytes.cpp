// Products of 8-bit integers: exact for every instruction set, shape and extreme value.
#include "matmul/bytes.h"

#include <bit>

#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "crescent/program/program.h"
#include "matmul/matmul.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

/// Sizes around which the loops change: numbers of rows, of columns, and of terms in a sum (depth).
constexpr int64_t kRows[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 17, 64, 65};
constexpr int64_t kColumns[] = {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 143, 200};
constexpr int64_t kDepths[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257};

template <size_t N>
int64_t random_choice(const int64_t (&values)[N], std::mt19937& generator) {
  return values[generator() % N];
}

/// Random bytes; one time in three only the extreme values.
std::vector<int8_t> random_bytes(int64_t count, std::mt19937& generator) {
  const bool has_extremes = generator() % 3 == 0;
  std::vector<int8_t> values(static_cast<size_t>(count));
  for (int8_t& x : values)
    x = has_extremes ? (generator() % 4 ? int8_t{-128} : int8_t{127})
                     : static_cast<int8_t>(generator());
  return values;
}

/// The sum of k products, modulo 2^32.
int32_t product_at(const int8_t* a, int64_t step_a, const int8_t* b, int64_t step_b, int64_t k) {
  uint32_t sum = 0;
  for (int64_t q = 0; q < k; ++q) sum += static_cast<uint32_t>(a[q * step_a] * b[q * step_b]);
  return static_cast<int32_t>(sum);
}

/// The left operand of a product. Each of its rows consists of `depth.runs` runs, which are
/// `depth.length` consecutive values each and lie anywhere in memory.
struct Runs {
  int64_t m, n;
  bytes::Depth depth;
  std::vector<uint8_t> memory;
  std::vector<int64_t> row_offsets, run_offsets;

  Runs(int64_t m, int64_t n, bytes::Depth depth, std::mt19937& generator)
      : m(m), n(n), depth(depth) {
    int64_t position = 0;
    for (int64_t r = 0; r < depth.runs; ++r, position += depth.length + generator() % 3)
      run_offsets.push_back(position);
    for (int64_t i = 0; i < m; ++i)
      row_offsets.push_back(generator() % 7 + (i > 0 ? row_offsets.back() : 0));
    const int64_t end = row_offsets.back() + position + bytes::kGroup;
    for (int8_t x : random_bytes(end, generator)) memory.push_back(static_cast<uint8_t>(x));
  }
  int32_t at(int64_t i, int64_t q) const {
    const int64_t position = row_offsets[static_cast<size_t>(i)] +
                             run_offsets[static_cast<size_t>(q / depth.length)] + q % depth.length;
    return memory[static_cast<size_t>(position)] - bytes::kOffset;
  }
  bytes::LeftMatrix left() const {
    return {memory.data(), 0, row_offsets.data(), run_offsets.data()};
  }
};

constexpr int64_t kMarginColumns = 3;  // columns of a result that a product must not write

std::vector<int8_t> packed_panels(const std::vector<int8_t>& b, int64_t n, bytes::Depth depth) {
  std::vector<int8_t> b_panels(
      static_cast<size_t>(bytes::panel_count(n) * bytes::panel_bytes(depth)), 0x55);
  for (int64_t p = 0; p < bytes::panel_count(n); ++p)
    bytes::pack_panel(b.data() + p * bytes::kPanelColumns, n, 1, depth,
                      std::min(bytes::kPanelColumns, n - p * bytes::kPanelColumns),
                      b_panels.data() + p * bytes::panel_bytes(depth));
  return b_panels;
}

/// The m x n result c without the margin columns to its right. Fails if one of these was changed.
std::vector<int32_t> without_margin_columns(const std::vector<int32_t>& c, int64_t m, int64_t n) {
  std::vector<int32_t> result;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n + kMarginColumns; ++j) {
      const int32_t value = c[static_cast<size_t>(i * (n + kMarginColumns) + j)];
      if (j < n)
        result.push_back(value);
      else if (value != -1)
        FAIL("column " << j << " of " << n << " was written");
    }
  return result;
}

/// Multiplies a (m, k) by b (k, n) with these instructions of the processor.
std::vector<int32_t> multiply(bytes::Instructions instructions, const std::vector<int8_t>& a,
                              const std::vector<int8_t>& b, int64_t m, int64_t n, int64_t k) {
  const bytes::Depth depth{k};
  std::vector<uint8_t> packed_left(static_cast<size_t>(m * depth.padded()), 0xff);
  for (int64_t i = 0; i < m; ++i)
    bytes::pack_row(a.data() + i * k, 1, k, packed_left.data() + i * depth.padded());
  std::vector<int32_t> c(static_cast<size_t>(m * (n + kMarginColumns)), -1);
  bytes::product_with(instructions)({packed_left.data(), depth.padded()}, m,
                                    packed_panels(b, n, depth).data(), depth, n,
                                    {c.data(), n + kMarginColumns});
  return without_margin_columns(c, m, n);
}

Array array_of(const std::vector<int8_t>& values, const Shape& shape) {
  return {{DType::int8, shape}, {values.begin(), values.end()}};
}

}  // namespace

TEST_CASE("products of bytes are exact with all instructions of the processor") {
  std::mt19937 generator(1);
  for (auto instructions :
       {bytes::Instructions::plain, bytes::Instructions::avx2, bytes::Instructions::vnni}) {
    if (!bytes::processor_has(instructions)) {
      WARN("skipped: instructions " << static_cast<int>(instructions) << " on this processor");
      continue;
    }
    for (int trial = 0; trial < 1500; ++trial) {
      const int64_t m = random_choice(kRows, generator), n = random_choice(kColumns, generator),
                    k = random_choice(kDepths, generator);
      const std::vector<int8_t> a = random_bytes(m * k, generator),
                                b = random_bytes(k * n, generator);
      const std::vector<int32_t> c = multiply(instructions, a, b, m, n, k);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          if (c[static_cast<size_t>(i * n + j)] !=
              product_at(a.data() + i * k, 1, b.data() + j, n, k))
            FAIL(m << " x " << n << " x " << k << ", element " << i << ", " << j);
    }
  }
}

TEST_CASE("products of rows of several runs are exact, and their factors are applied once") {
  std::mt19937 generator(3);
  for (auto instructions :
       {bytes::Instructions::plain, bytes::Instructions::avx2, bytes::Instructions::vnni}) {
    if (!bytes::processor_has(instructions)) continue;
    for (int trial = 0; trial < 600; ++trial) {
      const bytes::Depth depth{1 + static_cast<int64_t>(generator() % 40),
                               1 + static_cast<int64_t>(generator() % 9)};
      const Runs rows(random_choice(kRows, generator), random_choice(kColumns, generator), depth,
                      generator);
      const int64_t m = rows.m, n = rows.n;
      const std::vector<int8_t> b = random_bytes(depth.size() * n, generator);
      std::vector<float> factors;
      for (int64_t j = 0; j < n; ++j) factors.push_back(static_cast<float>(generator() % 1000) / 7);
      const bool has_factors = generator() % 2;
      std::vector<int32_t> c(static_cast<size_t>(m * (n + kMarginColumns)), -1);
      bytes::product_with(instructions)(
          rows.left(), m, packed_panels(b, n, depth).data(), depth, n,
          {c.data(), n + kMarginColumns, has_factors ? factors.data() : nullptr});
      const std::vector<int32_t> product = without_margin_columns(c, m, n);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          int32_t sum = 0;
          for (int64_t q = 0; q < depth.size(); ++q)
            sum += rows.at(i, q) * b[static_cast<size_t>(q * n + j)];
          const int32_t result = product[static_cast<size_t>(i * n + j)];
          const float scaled_sum = static_cast<float>(sum) * factors[static_cast<size_t>(j)];
          if (has_factors ? std::bit_cast<float>(result) != scaled_sum : result != sum)
            FAIL(m << " x " << n << ", " << depth.runs << " x " << depth.length << ", element " << i
                   << ", " << j);
        }
    }
  }
}

TEST_CASE("sums of bytes beyond 32 bits wrap around") {
  constexpr int64_t kDepth = (int64_t{1} << 17) + 5;  // times 2^14 is beyond 2^31
  const std::vector<int8_t> a(kDepth, -128), b(kDepth, -128);
  for (auto instructions :
       {bytes::Instructions::plain, bytes::Instructions::avx2, bytes::Instructions::vnni})
    if (bytes::processor_has(instructions))
      CHECK(multiply(instructions, a, b, 1, 1, kDepth)[0] ==
            product_at(a.data(), 1, b.data(), 1, kDepth));
}

TEST_CASE("kernels for products of int8 have exact results in every layout") {
  std::mt19937 generator(2);
  const Options options;
  for (int trial = 0; trial < 600; ++trial) {
    const int64_t m = random_choice(kRows, generator), n = random_choice(kColumns, generator),
                  k = random_choice(kDepths, generator);
    Matmul op;
    op.transpose_a = generator() % 2, op.transpose_b = generator() % 2;
    const int64_t item_count = generator() % 3 ? 1 : 1 + generator() % 4;
    const bool shares_b = generator() % 2, has_items = item_count > 1;
    const Shape item_shape_a = op.transpose_a ? Shape{k, m} : Shape{m, k},
                one_b = op.transpose_b ? Shape{n, k} : Shape{k, n};
    const Shape shape_a = has_items ? Shape{item_count}.concat(item_shape_a) : item_shape_a,
                shape_b = has_items && !shares_b ? Shape{item_count}.concat(one_b) : one_b,
                shape_c = has_items ? Shape{item_count, m, n} : Shape{m, n};
    const std::vector<int8_t> a = random_bytes(shape_a.size(), generator),
                              b = random_bytes(shape_b.size(), generator);
    const TensorSpecs in{{DType::int8, shape_a}, {DType::int8, shape_b}},
        out{{DType::int32, shape_c}};
    const auto kernel = make_kernel({op, in, out, options});
    REQUIRE(kernel);
    const bool is_prepared = generator() % 2;
    const int threads = 1 + static_cast<int>(generator() % 3);
    const Array c =
        run(*kernel, {array_of(a, shape_a), array_of(b, shape_b)}, out, threads, is_prepared)
            .outputs[0];
    INFO(to_text(shape_a) << " " << op.transpose_a << ", " << to_text(shape_b) << " "
                          << op.transpose_b << ", prepared " << is_prepared << ", threads "
                          << threads);
    for (int64_t item = 0; item < item_count; ++item)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          const int8_t* left = a.data() + item * m * k + i * (op.transpose_a ? 1 : k);
          const int8_t* b_panels =
              b.data() + (shares_b || !has_items ? 0 : item * n * k) + j * (op.transpose_b ? k : 1);
          const int32_t wanted =
              product_at(left, op.transpose_a ? m : 1, b_panels, op.transpose_b ? 1 : n, k);
          if (c[(item * m + i) * n + j] != wanted)
            FAIL("element " << item << ", " << i << ", " << j << ": " << c[(item * m + i) * n + j]
                            << " for " << wanted);
        }
  }
}

TEST_CASE("what follows a product of int8 gives the bits that it gives alone") {
  for (int64_t rows : {1, 5, 64, 700})
    for (int64_t width : {16, 33, 100}) {
      const TensorSpecs specs{{DType::int8, {rows, width}},
                              {DType::int8, {width, 40}},
                              {DType::float32, {rows, 1}},
                              {DType::float32, {40}}};
      const auto body = [](const Tensors& in) {
        const Tensor sums = ops::cast(ops::matmul(in[0], in[1]), DType::float32);
        return Tensors{ops::tanh(sums / (in[2] * in[3]) + in[3])};
      };
      std::mt19937 generator(static_cast<unsigned>(rows * width));
      Tensors in;
      for (const TensorSpec& spec : specs) {
        std::vector<float> values(static_cast<size_t>(spec.shape.size()));
        for (float& x : values)
          x = spec.dtype == DType::int8 ? static_cast<float>(static_cast<int8_t>(generator()))
                                        : 100 + static_cast<float>(generator() % 1000);
        in.push_back(ops::cast(Tensor::from(values, spec.shape), spec.dtype));
      }
      const crescent::Function compiled(body);
      CHECK(compiled(in)[0].to_vector() == body(in)[0].to_vector());
    }
}
