// The convolutions of the benchmark workloads, each forward and with both gradients, in float32 and
// bfloat16.
#include "bench.h"

namespace crescent::bench {
namespace {

struct Convolution {
  const char* name;
  Shape x, kernel;
  /// pad: the sum of the padding on both sides; if it is odd, the end gets one more.
  int64_t stride, pad;
};

const Convolution kConvolutions[] = {
    {"cnn_28x28x1_32", {128, 28, 28, 1}, {3, 3, 1, 32}, 1, 0},
    {"cnn_26x26x32_64", {128, 26, 26, 32}, {3, 3, 32, 64}, 1, 0},
    {"resnet_32x32x3_16", {128, 32, 32, 3}, {3, 3, 3, 16}, 1, 2},
    {"resnet_32x32x16_16", {128, 32, 32, 16}, {3, 3, 16, 16}, 1, 2},
    {"resnet_32x32x16_32_by_2", {128, 32, 32, 16}, {3, 3, 16, 32}, 2, 1},
    {"resnet_16x16x32_32", {128, 16, 16, 32}, {3, 3, 32, 32}, 1, 2},
    {"resnet_8x8x64_64", {128, 8, 8, 64}, {3, 3, 64, 64}, 1, 2},
    {"resnet_1x1_32x32x16_32_by_2", {128, 32, 32, 16}, {1, 1, 16, 32}, 2, 0},
    {"one_26x26x32_64", {1, 26, 26, 32}, {3, 3, 32, 64}, 1, 0},
    {"one_16x16x32_32", {1, 16, 16, 32}, {3, 3, 32, 32}, 1, 2},
};

ConvSpec spec_of(const Convolution& c) {
  ConvSpec spec;
  spec.strides = {c.stride, c.stride};
  spec.dilation = {1, 1};
  spec.pad_before = {c.pad / 2, c.pad / 2};
  spec.pad_after = {c.pad - c.pad / 2, c.pad - c.pad / 2};
  return spec;
}

void add_passes(const std::string& family, const Convolution& c, Input (*input)(const Shape&)) {
  Conv forward;
  forward.spec = spec_of(c);
  ConvBackwardData data;
  data.spec = spec_of(c), data.input = c.x;
  ConvBackwardKernel kernel;
  kernel.spec = spec_of(c), kernel.kernel = c.kernel;
  auto length = [&](int axis) { return (c.x[axis] + c.pad - c.kernel[axis - 1]) / c.stride + 1; };
  const Shape y{c.x[0], length(1), length(2), c.kernel[3]};
  auto add_pass = [&](const char* pass, const auto& op, const Shape& a, const Shape& b) {
    add(
        concat(family, "/", c.name, "/", pass), {input(a), input(b)},
        [=](const Tensors& in) {
          return Tensors{apply1(op, {in[0], in[1]})};
        },
        Limit::arithmetic);
  };
  add_pass("forward", forward, c.x, c.kernel);
  add_pass("backward_data", data, y, c.kernel);
  add_pass("backward_kernel", kernel, c.x, y);
}

}  // namespace

void add_convolutions() {
  for (const Convolution& c : kConvolutions) {
    add_passes("convolution", c, floats);
    add_passes("convolution_bf16", c, bfloats);
  }
}

}  // namespace crescent::bench
