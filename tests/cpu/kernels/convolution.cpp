#include <malloc.h>

#include <random>

#include "convolution/convolution.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

struct Case {
  Shape x, kernel;  // axes: x is (batch, spatial..., in), the kernel (spatial..., in/groups, out)
  ConvSpec spec;
};

Shape output_shape(const Case& c) {
  Shape y = c.x;
  for (int i = 0; i + 2 < c.x.rank(); ++i) {
    const int64_t window_extent = (c.kernel[i] - 1) * c.spec.dilation[i] + 1;
    y.set(i + 1, (c.x[i + 1] + c.spec.pad_before[i] + c.spec.pad_after[i] - window_extent) /
                         c.spec.strides[i] +
                     1);
  }
  y.set(y.rank() - 1, c.kernel[-1]);
  return y;
}

/// Calls f(index in x, index in the kernel, index in y) for every product of the convolution.
template <class F>
void each_product(const Case& c, F&& f) {
  const int axes = c.x.rank() - 2;
  const Shape y = output_shape(c);
  const int64_t in_channels = c.x[-1], out_channels = y[-1],
                in_channels_of_group = in_channels / c.spec.groups,
                out_channels_of_group = out_channels / c.spec.groups;
  const int64_t pixel_count = y.slice(1, 1 + axes).size(),
                tap_count = c.kernel.slice(0, axes).size();
  for (int64_t window_tap = 0; window_tap < y[0] * pixel_count * tap_count; ++window_tap) {
    int64_t pixel = window_tap / tap_count % pixel_count, tap = window_tap % tap_count, offset = 0,
            stride = 1;
    bool is_inside = true;
    for (int i = axes - 1; i >= 0; --i) {
      const int64_t position = pixel % y[i + 1] * c.spec.strides[i] - c.spec.pad_before[i] +
                               tap % c.kernel[i] * c.spec.dilation[i];
      is_inside = is_inside && position >= 0 && position < c.x[i + 1];
      offset += position * stride, stride *= c.x[i + 1], pixel /= y[i + 1], tap /= c.kernel[i];
    }
    if (!is_inside) continue;
    const int64_t x0 = (window_tap / tap_count / pixel_count * stride + offset) * in_channels,
                  y0 = window_tap / tap_count * out_channels;
    for (int64_t o = 0; o < out_channels; ++o) {
      for (int64_t q = 0; q < in_channels_of_group; ++q) {
        f(x0 + o / out_channels_of_group * in_channels_of_group + q,
          (window_tap % tap_count * in_channels_of_group + q) * out_channels + o, y0 + o);
      }
    }
  }
}

void check_case(const Case& c, DType dtype, bool has_bias, ActivationKind activation,
                int min_kernel_count) {
  const Array x = random(c.x, dtype, 1), kernel = random(c.kernel, dtype, 2),
              b = random({c.kernel[-1]}, dtype, 3);
  const Array dy = random(output_shape(c), dtype, 4);
  Array y = zeros(dy.spec.shape, dtype), dx = zeros(c.x, dtype), dkernel = zeros(c.kernel, dtype);
  each_product(c, [&](int64_t i, int64_t w, int64_t o) {
    y.values[o] += x[i] * kernel[w], dx.values[i] += dy[o] * kernel[w],
        dkernel.values[w] += x[i] * dy[o];
  });
  for (size_t i = 0; i < y.values.size(); ++i) {
    double& value = y.values[i];
    if (has_bias) value += b.values[i % b.values.size()];
    if (activation == ActivationKind::relu) value = std::max(value, 0.0);
    if (activation == ActivationKind::tanh) value = std::tanh(value);
    if (activation == ActivationKind::sigmoid) value = 1 / (1 + std::exp(-value));
  }
  CAPTURE(to_text(c.x), to_text(c.kernel), to_text(c.spec), name_of(dtype));
  Conv forward;
  forward.spec = c.spec;
  CHECK(check(convolution_kernels, with_post_ops(forward, has_bias, Combine::none, activation),
              has_bias ? std::vector<Array>{x, kernel, b} : std::vector<Array>{x, kernel},
              {y}) >= min_kernel_count);
  ConvBackwardData input_gradient;
  input_gradient.spec = c.spec, input_gradient.input = c.x;
  CHECK(check(convolution_kernels, input_gradient, {dy, kernel}, {dx}) >= min_kernel_count);
  for (size_t i = 0; i < dx.values.size(); ++i) dx.values[i] *= x.values[i] > 0;
  const WithPostOps with_mask =
      with_post_ops(input_gradient, false, Combine::mask, ActivationKind::none);
  CHECK(check(convolution_kernels, with_mask, {dy, kernel, x}, {dx}) >= 1);
  ConvBackwardKernel kernel_gradient;
  kernel_gradient.spec = c.spec, kernel_gradient.kernel = c.kernel;
  CHECK(check(convolution_kernels, kernel_gradient, {x, dy}, {dkernel}, 2) >= min_kernel_count);
}

ConvSpec spec(std::vector<int64_t> strides, std::vector<int64_t> dilation,
              std::vector<int64_t> pad_before, std::vector<int64_t> pad_after, int64_t groups = 1) {
  ConvSpec s;
  s.strides = strides, s.dilation = dilation, s.pad_before = pad_before, s.pad_after = pad_after,
  s.groups = groups;
  return s;
}

const Case kCases[] = {
    {{3, 9, 8, 1}, {3, 3, 1, 32}, spec({1, 1}, {1, 1}, {0, 0}, {0, 0})},
    {{1, 9, 8, 3}, {3, 3, 3, 17}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},
    // Padding "same" with stride 2.
    {{32, 8, 8, 3}, {3, 3, 3, 16}, spec({2, 2}, {1, 1}, {0, 0}, {1, 1})},
    {{3, 11, 7, 17}, {2, 3, 17, 5}, spec({1, 1}, {2, 2}, {1, 2}, {1, 2})},
    {{2, 10, 10, 16}, {3, 3, 16, 32}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},
    {{33, 6, 6, 16}, {3, 3, 16, 16}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},
    {{3, 8, 8, 16}, {1, 1, 16, 32}, spec({2, 2}, {1, 1}, {0, 0}, {0, 0})},
    {{3, 8, 9, 8}, {3, 3, 2, 16}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1}, 4)},
    {{3, 8, 9, 6}, {3, 3, 1, 6}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1}, 6)},  // depthwise convolution
    {{3, 20, 5}, {3, 5, 7}, spec({1}, {1}, {2}, {0})},                      // causal, 1D
    {{3, 21, 16}, {5, 16, 32}, spec({2}, {1}, {1}, {2})},
    {{2, 5, 6, 7, 3}, {2, 3, 2, 3, 8}, spec({1, 2, 1}, {1, 1, 2}, {0, 1, 1}, {1, 1, 0})},
    // These cases are split among threads by rows.
    {{1, 30, 28, 32}, {3, 3, 32, 40}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},
    {{2, 61, 50, 16}, {5, 3, 16, 32}, spec({2, 1}, {1, 1}, {1, 1}, {2, 1})},
    // A 1x1 kernel, applied pixel by pixel.
    {{3, 8, 9, 16}, {1, 1, 16, 32}, spec({1, 1}, {1, 1}, {0, 0}, {0, 0})},
    {{16, 16, 16, 64}, {1, 1, 64, 48}, spec({1, 1}, {1, 1}, {0, 0}, {0, 0})},
    {{2, 3, 4, 5, 8}, {1, 1, 1, 8, 4}, spec({1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0})},
    {{9, 12, 12, 32}, {3, 3, 1, 32}, spec({2, 2}, {1, 1}, {0, 0}, {1, 1}, 32)},
    {{9, 12, 12, 16}, {3, 3, 1, 32}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1}, 16)},
    {{1, 5, 6, 7, 16}, {3, 3, 3, 16, 16}, spec({1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1})},
};

}  // namespace

TEST_CASE("convolution and its gradients agree with plain loops", "[cpu][conv]") {
  for (const auto& c : kCases) check_case(c, DType::float32, false, ActivationKind::none, 2);
}

TEST_CASE("convolution of bfloat16, with tiles and without", "[cpu][conv]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512));
  for (const auto& c : kCases) check_case(c, DType::bfloat16, true, ActivationKind::relu, 1);
  check_case({{1, 80, 70, 3}, {3, 5, 3, 33}, spec({1, 1}, {1, 1}, {2, 1}, {0, 4})}, DType::bfloat16,
             false, ActivationKind::none, 1);
}

TEST_CASE("3x3 convolution by Winograd's algorithm", "[cpu][conv]") {
  // Measured errors relative to the largest value: up to 3.1e-6 for Winograd's algorithm (1.4e-6
  // for the gradient of the kernel), and up to 1.2e-6 (0.6e-6) for oneDNN.
  const Case cases[] = {
      {{9, 8, 8, 16}, {3, 3, 16, 16}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},
      {{3, 13, 11, 12},
       {3, 3, 12, 21},
       spec({1, 1}, {1, 1}, {0, 2}, {1, 0})},  // tiles extend beyond all borders of the image
      {{2, 15, 17, 19},
       {3, 3, 19, 70},
       spec({1, 1}, {1, 1}, {2, 0}, {2, 0})},  // the columns form two panels
      {{1, 25, 24, 70},
       {3, 3, 70, 13},
       spec({1, 1}, {1, 1}, {3, 1}, {0, 1})},  // one row of tiles consists of padding
      {{1, 23, 24, 150},
       {3, 3, 150, 96},
       spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},  // a kernel shared by all threads
      // Winograd's tiles form many blocks.
      {{200, 4, 4, 16}, {3, 3, 16, 33}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},
      {{1, 16, 15, 32},
       {3, 3, 32, 40},
       spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},  // two blocks if the kernel is prepared
      {{1, 8, 8, 64},
       {3, 3, 64, 40},
       spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},  // four tiles if the kernel is prepared
  };
  const Simd simd = GENERATE(kNative, kNoAvx512, kNoAvx2);
  SimdLimit limit(simd);
  for (const auto& c : cases) check_case(c, DType::float32, true, ActivationKind::relu, 3);
  check_case(cases[0], DType::float32, true, ActivationKind::sigmoid, 3);
}

TEST_CASE("Winograd's algorithm gives the moments of its result", "[cpu][conv]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const Case cases[] = {{{9, 8, 8, 16}, {3, 3, 16, 16}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},
                        {{7, 13, 11, 12}, {3, 3, 12, 21}, spec({1, 1}, {1, 1}, {0, 2}, {1, 0})},
                        {{40, 9, 30, 16}, {3, 3, 16, 33}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1})}};
  for (const Case& c : cases) {
    const Array x = random(c.x, DType::float32, 1), kernel = random(c.kernel, DType::float32, 2),
                bias = random({c.kernel[-1]}, DType::float32, 3, 20, 30);
    const int64_t channels = c.kernel[-1];
    Array y = zeros(output_shape(c), DType::float32), mean = zeros({channels}, DType::float32),
          variance = mean;
    const auto size = static_cast<int64_t>(y.values.size());
    const double pixels = static_cast<double>(size / channels);
    for (int64_t i = 0; i < size; ++i) y.values[i] = bias[i % channels];
    each_product(c, [&](int64_t i, int64_t w, int64_t o) { y.values[o] += x[i] * kernel[w]; });
    for (int64_t i = 0; i < size; ++i) mean.values[i % channels] += y[i] / pixels;
    for (int64_t i = 0; i < size; ++i)
      variance.values[i % channels] += std::pow(y[i] - mean[i % channels], 2) / pixels;
    Conv op;
    op.spec = c.spec;
    WithPostOps with_moments = with_post_ops(op, true, Combine::none, ActivationKind::none);
    with_moments.post.push_back(PostOp::moments);
    CHECK(check(convolution_kernels, with_moments, {x, kernel, bias}, {y, mean, variance}) >= 2);
  }
}

TEST_CASE("Winograd's algorithm adds a residual", "[cpu][conv]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const Case cases[] = {{{1, 8, 8, 64}, {3, 3, 64, 64}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},
                        {{5, 13, 11, 12}, {3, 3, 12, 21}, spec({1, 1}, {1, 1}, {0, 2}, {1, 0})}};
  for (const Case& c : cases) {
    const Array x = random(c.x, DType::float32, 1), kernel = random(c.kernel, DType::float32, 2),
                residual = random(output_shape(c), DType::float32, 3, -9, 9);
    Array y = residual;
    each_product(c, [&](int64_t i, int64_t w, int64_t o) { y.values[o] += x[i] * kernel[w]; });
    for (double& value : y.values) value = std::max(value, 0.0);
    Conv op;
    op.spec = c.spec;
    const WithPostOps with_addend = with_post_ops(op, false, Combine::add, ActivationKind::relu);
    CHECK(check(convolution_kernels, with_addend, {x, kernel, residual}, {y}, 3) == 2);
  }
}

TEST_CASE("Winograd's algorithm with max pooling", "[cpu][conv]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const Case cases[] = {{{9, 8, 8, 16}, {3, 3, 16, 16}, spec({1, 1}, {1, 1}, {1, 1}, {1, 1})},
                        {{8, 13, 11, 12}, {3, 3, 12, 21}, spec({1, 1}, {1, 1}, {0, 2}, {1, 0})},
                        {{3, 26, 26, 32}, {3, 3, 32, 64}, spec({1, 1}, {1, 1}, {0, 0}, {0, 0})}};
  for (const Case& c : cases) {
    const Array x = random(c.x, DType::float32, 1), kernel = random(c.kernel, DType::float32, 2),
                bias = random({c.kernel[-1]}, DType::float32, 3);
    const Shape shape = output_shape(c);
    const int64_t channels = shape[3], rows = shape[1] / 2, columns = shape[2] / 2;
    Array sums = zeros(shape), y = zeros({shape[0], rows, columns, channels});
    each_product(c, [&](int64_t i, int64_t w, int64_t o) { sums.values[o] += x[i] * kernel[w]; });
    /// The element of x with index `number` in the window of output `out`.
    auto element = [&](int64_t out, int64_t number) {
      const int64_t channel = out % channels, column = out / channels % columns,
                    row = out / channels / columns;
      const int64_t image = row / rows,
                    pixel = (image * shape[1] + row % rows * 2 + number / 2) * shape[2] +
                            column * 2 + number % 2;
      return std::max(0.0, sums[pixel * channels + channel] + bias[channel]);
    };
    for (int64_t out = 0; out < y.spec.shape.size(); ++out) {
      for (int64_t number = 0; number < 4; ++number)
        y.values[out] = std::max(y[out], element(out, number));
    }
    Conv conv;
    conv.spec = c.spec;
    crescent::Pool pool;
    pool.window = {2, 2}, pool.spec = spec({2, 2}, {1, 1}, {0, 0}, {0, 0});
    ConvPool op;
    op.conv = std::make_shared<const WithPostOps>(
        with_post_ops(conv, true, Combine::none, ActivationKind::relu));
    op.pool = std::make_shared<const crescent::Pool>(pool);
    CHECK(check(convolution_kernels, op, {x, kernel, bias}, {y}, 3) == 2);

    PoolArgmax argmax_indices;
    argmax_indices.window = pool.window, argmax_indices.spec = pool.spec;
    op.pool = std::make_shared<const PoolArgmax>(argmax_indices);
    const TensorSpecs in{x.spec, kernel.spec, bias.spec}, out{y.spec, {DType::uint8, y.spec.shape}};
    const Outcome outcome = run(*make_kernel({op, in, out, Options{}}), {x, kernel, bias}, out, 2);
    Array maxima = y;
    for (int64_t i = 0; i < y.spec.shape.size(); ++i)
      maxima.values[i] = element(i, static_cast<int64_t>(outcome.outputs[1][i]));
    CHECK(difference(outcome.outputs[0], y) < 2e-5);
    CHECK(difference(maxima, y) < 2e-5);
  }
}

TEST_CASE("convolution of random geometry", "[cpu][conv]") {
  std::mt19937 generator(7);
  auto random_integer = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  for (int round = 0; round < 60; ++round) {
    const int64_t axes = random_integer(1, 3),
                  groups = random_integer(1, 5) == 1 ? random_integer(2, 4) : 1;
    Case c{{random_integer(1, 5)}, {}, spec({}, {}, {}, {}, groups)};
    for (int64_t i = 0; i < axes; ++i) {
      const int64_t kernel = random_integer(1, 4), dilation = random_integer(1, 2),
                    before = random_integer(0, 2), after = random_integer(0, 2);
      c.kernel.append(kernel), c.spec.dilation.push_back(dilation),
          c.spec.strides.push_back(random_integer(1, 3));
      c.spec.pad_before.push_back(before), c.spec.pad_after.push_back(after);
      c.x.append(std::max<int64_t>((kernel - 1) * dilation + 1 - before - after, 1) +
                 random_integer(0, axes == 3 ? 3 : 9));
    }
    const int64_t in = random_integer(1, 20), out = random_integer(1, 20);
    c.x.append(in * groups), c.kernel.append(in), c.kernel.append(out * groups);
    check_case(c, DType::float32, random_integer(0, 1) == 1,
               random_integer(0, 1) == 1 ? ActivationKind::relu : ActivationKind::none, 2);
    check_case(c, DType::bfloat16, true, ActivationKind::none, 1);
  }
}

TEST_CASE("strides wider than the image, in memory that holds anything", "[cpu][conv]") {
  const Case cases[] = {{{4, 1, 13}, {3, 13, 14}, spec({2}, {1}, {1}, {2})},
                        {{4, 2, 17}, {4, 17, 6}, spec({3}, {1}, {2}, {0})},
                        {{1, 6, 1, 20}, {4, 3, 20, 12}, spec({2, 2}, {1, 1}, {0, 0}, {0, 2})},
                        {{5, 1, 4, 10}, {3, 3, 10, 16}, spec({3, 1}, {1, 1}, {1, 1}, {1, 1})}};
  mallopt(M_PERTURB, 1);
  for (const Case& c : cases) check_case(c, DType::bfloat16, true, ActivationKind::none, 1);
  mallopt(M_PERTURB, 0);
}

// Winograd's algorithm is tested separately, because its error is relative to the largest sum and
// not to the tanh of this sum.
TEST_CASE("convolution adds the bias and applies the epilogue", "[cpu][conv]") {
  for (auto e : {ActivationKind::none, ActivationKind::relu, ActivationKind::sigmoid,
                 ActivationKind::tanh}) {
    check_case(kCases[1], DType::float32, true, e, 2),
        check_case(kCases[2], DType::float32, true, e, 2);
  }
}

TEST_CASE("convolution in other float types", "[cpu][conv]") {
  for (DType dtype : {DType::float64, DType::bfloat16, DType::float16}) {
    check_case(kCases[1], dtype, true, ActivationKind::relu, 2),
        check_case(kCases[4], dtype, true, ActivationKind::none, 2);
  }
}

TEST_CASE("convolution of an empty batch", "[cpu][conv]") {
  const Case c{{0, 8, 8, 3}, {3, 3, 3, 16}, spec({1, 1}, {1, 1}, {0, 0}, {0, 0})};
  check_case(c, DType::float32, true, ActivationKind::none, 2);
}

TEST_CASE("oneDNN has fast code for the usual convolutions", "[cpu][conv]") {
  for (int64_t channels : {1, 3, 16, 64}) {
    Conv op;
    op.spec = spec({1, 1}, {1, 1}, {1, 1}, {1, 1});
    const TensorSpec in[] = {{DType::float32, {8, 12, 12, channels}},
                             {DType::float32, {3, 3, channels, 32}}};
    const TensorSpec out{DType::float32, {8, 12, 12, 32}};
    Options options;
    auto kernel = make_onednn_convolution({op, in, {&out, 1}, options});
    REQUIRE(kernel);
    CHECK(kernel->name().find("ref") == std::string::npos);
  }
}

TEST_CASE("relu after a convolution passes on what is not a number", "[cpu][conv]") {
  for (DType dtype : {DType::float32, DType::bfloat16}) {
    Array x = random({1, 6, 6, 16}, dtype, 1);
    x.values[0] = std::nan("");
    Conv conv;
    conv.spec = spec({1, 1}, {1, 1}, {0, 0}, {0, 0});
    const WithPostOps op = with_post_ops(conv, false, Combine::none, ActivationKind::relu);
    const Array kernel_values = random({3, 3, 16, 16}, dtype, 2);
    const TensorSpecs in = {x.spec, kernel_values.spec}, out = {{dtype, {1, 4, 4, 16}}};
    for (const auto& row : convolution_kernels()) {
      auto kernel = row.op == conv.name() ? row.make({op, in, out, Options{}}) : nullptr;
      if (kernel) CHECK(std::isnan(run(*kernel, {x, kernel_values}, out, 1).outputs[0][0]));
    }
  }
}

TEST_CASE("what is not finite reaches those pixels alone that read it", "[cpu][conv]") {
  for (int64_t channels : {1, 3, 16, 32}) {
    for (double not_finite : {std::nan(""), HUGE_VAL}) {
      Array x = random({1, 9, 20, channels}, DType::bfloat16, 1);
      x.values[static_cast<size_t>((4 * 20 + 7) * channels)] = not_finite;
      const Array kernel_values = random({3, 3, channels, 16}, DType::bfloat16, 2);
      Conv op;
      op.spec = spec({1, 1}, {1, 1}, {1, 1}, {1, 1});
      const TensorSpecs in = {x.spec, kernel_values.spec},
                        out = {{DType::bfloat16, {1, 9, 20, 16}}};
      for (const auto& row : convolution_kernels()) {
        auto kernel = row.op == op.name() ? row.make({op, in, out, Options{}}) : nullptr;
        if (!kernel || kernel->name() != "amx") continue;
        const auto y = run(*kernel, {x, kernel_values}, out, 1).outputs[0];
        for (int64_t i = 0; i < 9 * 20; ++i) {
          const bool reads_element = std::abs(i / 20 - 4) <= 1 && std::abs(i % 20 - 7) <= 1;
          CAPTURE(channels, not_finite, i);
          CHECK(std::isfinite(y[static_cast<size_t>(i * 16)]) != reads_element);
        }
      }
    }
  }
}
