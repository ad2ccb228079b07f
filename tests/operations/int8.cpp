// Convolutions of 8-bit integers must equal their decomposition in float64 bit for bit, and be
// close to the convolution of the unquantized floats. Sizes are near those of the kernels' panels,
// groups and tiles.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "crescent/crescent.h"
#include "crescent/device/quantized_op_types.h"
#include "draws.h"

using namespace crescent;

namespace {

constexpr int64_t kInputs[] = {1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 64, 65};
constexpr int64_t kFilters[] = {1, 2, 15, 16, 17, 31, 32, 33, 48, 49, 63, 64, 65, 130};
constexpr int64_t kBatches[] = {0, 1, 1, 2, 3, 17};

int64_t random_up_to(int64_t max_value, std::mt19937& generator) {
  return 1 + static_cast<int64_t>(generator() % max_value);
}

Tensor convolved(const Int8Conv& op, const Tensors& in) {
  return apply1(op, {in[0], in[1], in[2]});
}

/// A convolution of random geometry over one to three axes, with its arguments.
struct RandomConvolution {
  Int8Conv op;
  Shape x, kernel;
  Tensors inputs;

  explicit RandomConvolution(std::mt19937& generator) {
    const int axes = 1 + static_cast<int>(generator() % 3);
    const int64_t max_extent = axes == 1 ? 300 : axes == 2 ? 40 : 8;
    x.append(random_choice(kBatches, generator));
    for (int i = 0; i < axes; ++i) add_axis(max_extent, generator);
    const int64_t channels = random_choice(kInputs, generator),
                  filters = random_choice(kFilters, generator);
    x.append(channels), kernel.append(channels), kernel.append(filters);
    if (generator() % 4 == 0) op.range.low = -static_cast<int64_t>(generator() % 129);
    if (generator() % 4 == 0) op.range.high = random_up_to(127, generator);
    const float largest = std::pow(10.0f, static_cast<float>(generator() % 60) - 30);
    inputs = {Tensor::from(random_floats(x.size(), largest, generator), x),
              random_kernel(generator),
              Tensor::from(random_floats(filters, 100, generator), {filters})};
  }
  /// Draws an axis into which the window fits.
  void add_axis(int64_t max_extent, std::mt19937& generator) {
    const int64_t window = random_up_to(7, generator), stride = random_up_to(3, generator),
                  dilation = random_up_to(3, generator);
    const int64_t before = generator() % 4, after = generator() % 4,
                  window_extent = (window - 1) * dilation + 1;
    op.spec.strides.push_back(stride), op.spec.dilation.push_back(dilation);
    op.spec.pad_before.push_back(before), op.spec.pad_after.push_back(after);
    x.append(std::max(random_up_to(max_extent, generator), window_extent - before - after));
    kernel.append(window);
  }
  Tensor random_kernel(std::mt19937& generator) const {
    const bool is_extreme = generator() % 3 == 0;
    std::vector<int8_t> values(static_cast<size_t>(kernel.size()));
    for (int8_t& w : values)
      w = is_extreme ? (generator() % 2 ? -128 : 127) : static_cast<int8_t>(generator());
    return Tensor::from(values, kernel);
  }
  std::string text() const {
    return concat(op.text(), " of ", x, " with ", kernel, ", ", op.range.low, " to ",
                  op.range.high);
  }
};

bool are_same(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = a.to_vector(), right = b.to_vector();
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return a.spec() == b.spec() && std::equal(left.begin(), left.end(), right.begin(), same);
}

}  // namespace

TEST_CASE("convolutions of bytes have the bits of their plain form") {
  std::mt19937 generator(1);
  for (int trial = 0; trial < 300; ++trial) {
    const RandomConvolution c(generator);
    INFO(c.text());
    const Tensor result = convolved(c.op, c.inputs),
                 decomposed_result = c.op.decompose(c.inputs).front();
    REQUIRE(are_same(result, decomposed_result));
  }
}

TEST_CASE("convolutions of bytes with constant kernels and what follows have the same bits") {
  std::mt19937 generator(2);
  for (int trial = 0; trial < 150; ++trial) {
    const RandomConvolution c(generator);
    INFO(c.text());
    const Variable kernel(c.inputs[1]), scale(c.inputs[2]);
    const auto body = [&](auto&& convolution) {
      return [&, convolution](const Tensors& in) {
        const Tensor y = convolution(Tensors{in[0], kernel.value(), scale.value()});
        return Tensors{ops::relu(y + scale.value()) + y};
      };
    };
    const crescent::Function fused(body([&](const Tensors&in) { return convolved(c.op, in); })),
        plain(body([&](const Tensors&in) { return c.op.decompose(in).front(); }));
    const Tensors x{c.inputs[0]};
    REQUIRE(are_same(fused(x)[0], plain(x)[0]));
    kernel.assign(ops::cast(ops::zeros(c.kernel), DType::int8));
    REQUIRE(are_same(fused(x)[0], plain(x)[0]));
  }
}

TEST_CASE("a convolution of bytes is as far from that of floats as rounding allows") {
  std::mt19937 generator(3);
  for (int trial = 0; trial < 60; ++trial) {
    RandomConvolution c(generator);
    c.op.range = {};
    if (c.x[0] == 0) continue;
    INFO(c.text());
    Conv float_convolution;
    float_convolution.spec = c.op.spec;
    const Tensor x = ops::cast(c.inputs[0], DType::float64),
                 kernel = ops::cast(c.inputs[1], DType::float64),
                 scale = ops::cast(c.inputs[2], DType::float64);
    const Tensor y = apply1(float_convolution, {x, kernel}) / scale;
    const Tensor magnitudes =
        apply1(float_convolution, {ops::ones_like(x), ops::abs(kernel)}) / ops::abs(scale);
    const double step = (ops::max(ops::abs(x)).item() + 1e-7) / 127;
    const Tensor error = ops::abs(ops::cast(convolved(c.op, c.inputs), DType::float64) - y);
    const Tensor allowed = magnitudes * (0.5 * step) + ops::abs(y) * 1e-5;
    CHECK(ops::all(ops::less_equal(error, allowed * 1.001)).item() == 1);
  }
}

TEST_CASE("samples of zeros, NaN and infinity do not change others") {
  std::mt19937 generator(4);
  Int8Conv op;
  op.spec = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const Shape shape{5, 6, 7, 5};
  std::vector<float> values = random_floats(shape.size(), 3, generator);
  const auto sample = static_cast<std::ptrdiff_t>(shape.size() / shape[0]);
  std::fill_n(values.begin() + sample, sample, 0.0f);
  values[static_cast<size_t>(2 * sample + 9)] = std::numeric_limits<float>::quiet_NaN();
  values[static_cast<size_t>(4 * sample - 1)] = -std::numeric_limits<float>::infinity();
  const Tensor x = Tensor::from(values, shape),
               kernel = ops::cast(
                   Tensor::from(random_floats(3 * 3 * 5 * 20, 127, generator), {3, 3, 5, 20}),
                   DType::int8),
               scale = Tensor::from(random_floats(20, 3, generator), {20});
  const Tensors inputs{x, kernel, scale};
  const Tensor y = convolved(op, inputs);
  CHECK(are_same(y, op.decompose(inputs).front()));
  CHECK(ops::max(ops::abs(y.view_rows(1, 1))).item() == 0);
  CHECK(ops::all(ops::isnan(y.view_rows(2, 2))).item() == 1);
  CHECK(ops::any(ops::isnan(y.view_rows(4, 1))).item() == 0);
}

TEST_CASE("the gradient of a convolution of bytes is that of the convolution of floats") {
  std::mt19937 generator(5);
  for (int trial = 0; trial < 20; ++trial) {
    const RandomConvolution c(generator);
    if (c.x[0] == 0) continue;
    INFO(c.text());
    const auto gradient_of = [&](auto&& convolution) {
      GradientTape tape;
      tape.watch(c.inputs[0]);
      const Tensor y = convolution();
      tape.stop();
      return tape.gradient(y, std::span(c.inputs).first(1)).front();
    };
    Conv float_convolution;
    float_convolution.spec = c.op.spec;
    const Tensor kernel = ops::cast(c.inputs[1], DType::float32);
    const Tensor expected = gradient_of([&] {
      return apply1(float_convolution, {c.inputs[0], kernel}) / c.inputs[2];
    });
    const Tensor result = gradient_of([&] { return convolved(c.op, c.inputs); });
    const double difference = ops::max(ops::abs(result - expected)).item();
    CHECK(difference <= 1e-5 * ops::max(ops::abs(expected)).item());
  }
}

TEST_CASE("convolutions of bytes refuse what does not fit") {
  Int8Conv op;
  op.spec = {{1}, {1}, {0}, {0}};
  const Tensor x = ops::ones({2, 5, 3}), kernel = ops::cast(ops::ones({2, 3, 4}), DType::int8),
               scale = ops::ones({4});
  CHECK(apply1(op, {x, kernel, scale}).shape() == Shape{2, 4, 4});
  CHECK_THROWS_WITH(apply1(op, {x, ops::ones({2, 3, 4}), scale}), Catch::Contains("int8"));
  CHECK_THROWS_WITH(apply1(op, {x, kernel, ops::ones({3})}), Catch::Contains("floats (out)"));
  op.spec.groups = 3;
  CHECK_THROWS_WITH(apply1(op, {x, kernel, scale}), Catch::Contains("1 group"));
}
