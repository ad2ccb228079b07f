#include "kernel/loops.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

/// The mean and variance over the rows of x, for each column.
std::vector<Array> moments(const Array& x) {
  const int64_t columns = x.spec.shape[-1], rows = x.spec.shape.size() / columns;
  Array mean = zeros({columns}, compute_dtype_of(x.spec.dtype)), variance = mean;
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) mean.values[c] += x[r * columns + c] / rows;
    for (int64_t r = 0; r < rows; ++r)
      variance.values[c] += std::pow(x[r * columns + c] - mean[c], 2) / rows;
  }
  return {mean, variance};
}

/// Batch normalization of the inputs x, gamma, beta; returns y, and the mean and variance over the
/// rows.
std::vector<Array> batch_norm(const std::vector<Array>& in, double epsilon) {
  const Array& x = in[0];
  const int64_t columns = x.spec.shape[-1], rows = x.spec.shape.size() / columns;
  const auto mean_and_variance = moments(x);
  const Array &mean = mean_and_variance[0], &variance = mean_and_variance[1];
  Array y = x;
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) {
      y.values[r * columns + c] =
          (x[r * columns + c] - mean[c]) / std::sqrt(variance[c] + epsilon) * in[1][c] + in[2][c];
    }
  }
  return {y, mean, variance};
}

/// Layer normalization of the inputs x, gamma, beta; returns y, and the mean and reciprocal
/// deviation of every row.
std::vector<Array> layer_norm(const std::vector<Array>& in, double epsilon) {
  const Array& x = in[0];
  const Shape shape = x.spec.shape, leading = shape.slice(0, shape.rank() - 1);
  const int64_t columns = shape[-1], rows = leading.size();
  Array y = x, mean = zeros(leading, compute_dtype_of(x.spec.dtype)), rstd = mean;
  for (int64_t r = 0; r < rows; ++r) {
    double variance = 0;
    for (int64_t c = 0; c < columns; ++c) mean.values[r] += x[r * columns + c] / columns;
    for (int64_t c = 0; c < columns; ++c)
      variance += std::pow(x[r * columns + c] - mean[r], 2) / columns;
    rstd.values[r] = 1 / std::sqrt(variance + epsilon);
    for (int64_t c = 0; c < columns; ++c) {
      y.values[r * columns + c] = (x[r * columns + c] - mean[r]) * rstd[r] * in[1][c] + in[2][c];
    }
  }
  return {y, mean, rstd};
}

std::vector<Array> operands(const Shape& shape, DType dtype) {
  const DType wide_dtype = compute_dtype_of(dtype);
  return {random(shape, dtype, 1), random({shape[-1]}, wide_dtype, 2, 0.5, 1.5),
          random({shape[-1]}, wide_dtype, 3)};
}

template <class Forward, class Backward, class Reference>
void check_gradients(const Shape& shape, DType dtype, Reference reference) {
  const auto in = operands(shape, dtype);
  const Array dy = random(shape, dtype, 4);
  auto f = [&](const std::vector<Array>& x) { return std::vector<Array>{reference(x, 1e-3)[0]}; };
  std::vector<Array> wanted;
  for (size_t i = 0; i < 3; ++i) wanted.push_back(numeric_gradient(f, in, i, {dy}));
  const auto outputs = reference(in, 1e-3);
  CAPTURE(to_text(shape), name_of(dtype));
  CHECK(check(normalization_kernels, Backward{}, {in[0], in[1], outputs[1], outputs[2], dy}, wanted,
              dtype == DType::float64 ? 1e4 : 10) >= 2);
}

}  // namespace

TEST_CASE("moments of batches agree with plain loops", "[cpu][norm]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (const Shape& shape : {Shape{3, 1}, Shape{40, 17}, Shape{32, 9, 9, 3}, Shape{4, 30, 30, 64},
                             Shape{3, 9, 9, 119}, Shape{2, 600}}) {
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
      const Array x = random(shape, dtype, 1);
      CHECK(check(normalization_kernels, BatchMoments{}, {x}, moments(x), 4) >= 2);
    }
  }
}

TEST_CASE("batch normalization agrees with plain loops", "[cpu][norm]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (const Shape& shape :
       {Shape{3, 1}, Shape{40, 17}, Shape{32, 9, 9, 3}, Shape{4, 30, 30, 64}, Shape{2, 615}}) {
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
      const auto in = operands(shape, dtype);
      CHECK(check(normalization_kernels, BatchNormTrain{}, in, batch_norm(in, 1e-3), 4) >= 2);
    }
  }
}

TEST_CASE("moments of batches keep their accuracy far from zero", "[cpu][norm]") {
  Array x = random({50, 20, 20, 4}, DType::float32, 1);
  for (auto& value : x.values) value = static_cast<float>(value + 300);
  const auto wanted = moments(x);
  const TensorSpecs in = {x.spec}, out = {wanted[0].spec, wanted[1].spec};
  const BatchMoments op;
  auto kernel = normalization_kernels()[0].make({op, in, out, Options{}});
  const auto got = run(*kernel, {x}, out, 2).outputs;
  CHECK(difference(got[0], wanted[0]) < 1e-6);
  CHECK(difference(got[1], wanted[1]) < 1e-5);
}

TEST_CASE("layer normalization agrees with plain loops", "[cpu][norm]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (const Shape& shape : {Shape{3, 2}, Shape{40, 17}, Shape{8, 9, 128}, Shape{2, 5000}}) {
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
      const auto in = operands(shape, dtype);
      CHECK(check(normalization_kernels, LayerNorm{}, in, layer_norm(in, 1e-3), 4) >= 2);
    }
  }
}

TEST_CASE("gradients of normalizations agree with finite differences", "[cpu][norm]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (const Shape& shape : {Shape{7, 3}, Shape{30, 17}, Shape{2, 3, 4, 5}, Shape{3, 115}}) {
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
      check_gradients<BatchNormTrain, BatchNormBackward>(shape, dtype, batch_norm);
      check_gradients<LayerNorm, LayerNormBackward>(shape, dtype, layer_norm);
    }
  }
}
