// Ops on weights of 4 bits, compared with sums in float64. Matrices have sizes near those of the
// kernels' tiles, of blocks with a common scale, and of groups of input rows.
#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/crescent.h"
#include "crescent/device/quantized_op_types.h"
#include "draws.h"

using namespace crescent;

namespace {

constexpr int64_t kRows[] = {1, 2, 31, 32, 33, 127, 128, 129, 300};
constexpr int64_t kColumns[] = {1, 2, 3, 7, 8, 9, 63, 64, 65, 126, 127, 128, 129, 200, 257};
constexpr int64_t kBlocks[] = {1, 2, 3, 32, 128, 1000};
constexpr int64_t kLines[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 20};

/// A random matrix of 4-bit values, and the numbers for which they stand, in float64.
struct RandomMatrix {
  int64_t rows, columns, block;
  Tensor bytes, scale, zero;
  std::vector<double> floats;

  explicit RandomMatrix(std::mt19937& generator)
      : rows(random_choice(kRows, generator)),
        columns(random_choice(kColumns, generator)),
        block(random_choice(kBlocks, generator)) {
    const int64_t width = (columns + 1) / 2, blocks = (rows + block - 1) / block;
    std::vector<int8_t> packed(static_cast<size_t>(rows * width)),
        zeros(static_cast<size_t>(blocks * columns));
    for (int8_t& x : packed) x = static_cast<int8_t>(generator());
    for (int8_t& x : zeros) x = static_cast<int8_t>(static_cast<int>(generator() % 16) - 8);
    const std::vector<float> scales = random_floats(blocks * columns, 2, generator);
    bytes = Tensor::from(packed, {rows, width});
    scale = Tensor::from(scales, {blocks, columns});
    zero = Tensor::from(zeros, {blocks, columns});
    for (int64_t k = 0; k < rows; ++k)
      for (int64_t j = 0; j < columns; ++j) {
        const auto byte = static_cast<uint8_t>(packed[static_cast<size_t>(k * width + j / 2)]);
        const int half = j % 2 ? byte >> 4 : byte & 15;
        const auto block_index = static_cast<size_t>(k / block * columns + j);
        floats.push_back(double((half > 7 ? half - 16 : half) - zeros[block_index]) *
                         scales[block_index]);
      }
  }
  Tensor as_floats() const {
    Int4Floats op;
    op.block = block;
    return apply1(op, {bytes, scale, zero});
  }
  Tensor product(const Tensor& x) const {
    Int4Product op;
    op.block = block;
    return apply1(op, {x, bytes, scale, zero});
  }
};

}  // namespace

TEST_CASE("4-bit weights as floats are exact up to rounding") {
  std::mt19937 generator(1);
  for (int trial = 0; trial < 400; ++trial) {
    const RandomMatrix matrix(generator);
    const std::vector<double> values = matrix.as_floats().to_vector();
    REQUIRE(values.size() == matrix.floats.size());
    for (size_t i = 0; i < values.size(); ++i)
      if (std::abs(values[i] - matrix.floats[i]) > 1e-6 * std::abs(matrix.floats[i]))
        FAIL(matrix.rows << " x " << matrix.columns << ", blocks of " << matrix.block
                         << ", element " << i << ": " << values[i] << ", expected "
                         << matrix.floats[i]);
  }
}

TEST_CASE("products with 4-bit weights are those of float64, and a line has the same bits alone") {
  std::mt19937 generator(2);
  for (int trial = 0; trial < 800; ++trial) {
    const RandomMatrix matrix(generator);
    const int64_t lines = random_choice(kLines, generator), rows = matrix.rows,
                  columns = matrix.columns;
    const std::vector<float> x = random_floats(lines * rows, 2, generator);
    const Tensor input = Tensor::from(x, {lines, rows}), y = matrix.product(input);
    REQUIRE(y.shape() == Shape{lines, columns});
    const std::vector<double> values = y.to_vector();
    for (int64_t i = 0; i < lines * columns; ++i) {
      double sum = 0, size = 0;
      for (int64_t k = 0; k < rows; ++k) {
        const double term = x[static_cast<size_t>(i / columns * rows + k)] *
                            matrix.floats[static_cast<size_t>(k * columns + i % columns)];
        sum += term, size += std::abs(term);
      }
      const double value = values[static_cast<size_t>(i)];
      if (!(std::abs(value - sum) <= 1e-6 * size + 1e-12))
        FAIL(lines << " lines, " << rows << " x " << columns << ", blocks of " << matrix.block
                   << ", element " << i << ": " << value << ", expected " << sum);
    }
    if (lines > 16) continue;
    const int64_t line = static_cast<int64_t>(generator()) % lines;
    const Tensor single_row = matrix.product(ops::slice_axis(input, 0, line, line + 1));
    CHECK(single_row.to_vector() == ops::slice_axis(y, 0, line, line + 1).to_vector());
  }
}

TEST_CASE("products with 4-bit weights of half-width floats and of float64 are those of float32") {
  std::mt19937 generator(5);
  for (const DType dtype : {DType::bfloat16, DType::float16, DType::float64})
    for (int trial = 0; trial < 60; ++trial) {
      const RandomMatrix matrix(generator);
      const int64_t lines = random_choice(kLines, generator);
      const Tensor x = ops::cast(
          Tensor::from(random_floats(lines * matrix.rows, 2, generator), {lines, matrix.rows}),
          dtype);
      const Tensor y = matrix.product(x), float32_x = ops::cast(x, DType::float32);
      REQUIRE(y.dtype() == dtype);
      const Tensor sizes = ops::matmul(ops::abs(float32_x), ops::abs(matrix.as_floats()));
      const Tensor error =
          ops::abs(ops::cast(y, DType::float32) - matrix.product(float32_x)) / (sizes + 1e-6);
      CHECK(ops::max(error).item() < (dtype == DType::float64 ? 1e-6 : 0.02));
    }
}

TEST_CASE("products with 4-bit weights have the gradient of the product of floats") {
  std::mt19937 generator(3);
  for (int trial = 0; trial < 50; ++trial) {
    const RandomMatrix matrix(generator);
    const int64_t lines = random_choice(kLines, generator);
    const Tensor x =
        Tensor::from(random_floats(lines * matrix.rows, 2, generator), {lines, matrix.rows});
    const Tensor g =
        Tensor::from(random_floats(lines * matrix.columns, 2, generator), {lines, matrix.columns});
    GradientTape tape;
    tape.watch(x);
    const Tensor y = matrix.product(x);
    tape.stop();
    const Tensor sources[] = {x};
    const Tensor gradient = tape.gradient(y, sources, g).front();
    const Tensor expected = ops::matmul(g, ops::transpose(matrix.as_floats()));
    CHECK(ops::max(ops::abs(gradient - expected)).to_vector()[0] <
          1e-4 * (1 + ops::max(ops::abs(expected)).to_vector()[0]));
  }
}

TEST_CASE("4-bit weights of shapes that do not fit are refused") {
  std::mt19937 generator(4);
  RandomMatrix matrix(generator);
  matrix.block = 0;
  CHECK_THROWS_WITH(matrix.as_floats(), Catch::Contains("blocks of 0 rows"));
  RandomMatrix other_matrix(generator);
  CHECK_THROWS_WITH(other_matrix.product(ops::ones({2, other_matrix.rows + 1})),
                    Catch::Contains("expected floats (..., "));
}
