// Depthwise convolutions that are computed row by row, fused with the normalizations before and
// after them, compared with plain loops in double.
#include "convolution/depthwise.h"

#include "convolution/convolution.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

struct Geometry {
  int64_t rows, columns, channels, step, pad_top, pad_bottom, pad_left, pad_right;
};

/// Calls f(pixel of x, tap, pixel of y) for all taps of the kernel that are inside of the image.
template <class F>
void each_tap(const Geometry& g, const Shape& y, F&& f) {
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t i = 0; i < y[1]; ++i)
      for (int64_t j = 0; j < y[2]; ++j)
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t row = i * g.step - g.pad_top + tap / 3,
                        column = j * g.step - g.pad_left + tap % 3;
          if (row < 0 || row >= g.rows || column < 0 || column >= g.columns) continue;
          f((n * g.rows + row) * g.columns + column, tap, (n * y[1] + i) * y[2] + j);
        }
}

void check_geometry(const Geometry& g) {
  const int64_t c = g.channels;
  ConvSpec spec;
  spec.strides = {g.step, g.step}, spec.dilation = {1, 1}, spec.groups = c;
  spec.pad_before = {g.pad_top, g.pad_left}, spec.pad_after = {g.pad_bottom, g.pad_right};
  auto output_size = [&](int64_t n, int64_t pad_before, int64_t pad_after) {
    return (n + pad_before + pad_after - 3) / g.step + 1;
  };
  const Shape x_shape{2, g.rows, g.columns, c},
      y_shape{2, output_size(g.rows, g.pad_top, g.pad_bottom),
              output_size(g.columns, g.pad_left, g.pad_right), c};
  const DType f32 = DType::float32;
  const Array x = random(x_shape, f32, 1), mean = random({c}, f32, 2),
              rstd = random({c}, f32, 3, 0.5, 2), gamma = random({c}, f32, 4, 0.5, 1.5),
              beta = random({c}, f32, 5), kernel = random({3, 3, 1, c}, f32, 6);
  if (y_shape[1] < 1 || y_shape[2] < 1 || !has_row_loops(spec, x.spec, kernel.spec, {f32, y_shape}))
    return;
  CAPTURE(to_text(x_shape), to_text(y_shape), to_text(spec));
  Array normalized = x, activated = x;
  for (size_t i = 0; i < x.values.size(); ++i) {
    const auto k = static_cast<int64_t>(i) % c;
    activated.values[i] = (x.values[i] - mean[k]) * rstd[k] * gamma[k] + beta[k];
    normalized.values[i] = std::max(0.0, activated.values[i]);
  }
  for (const bool has_relu : {false, true}) {
    const Array& kernel_input = has_relu ? normalized : activated;
    Array y = zeros(y_shape);
    each_tap(g, y_shape, [&](int64_t from, int64_t tap, int64_t to) {
      for (int64_t k = 0; k < c; ++k)
        y.values[static_cast<size_t>(to * c + k)] +=
            kernel_input[from * c + k] * kernel[tap * c + k];
    });
    DepthwiseForward op;
    op.spec = spec, op.relu = has_relu, op.output = y_shape;
    CHECK(check(convolution_kernels, op, {x, mean, rstd, gamma, beta, kernel}, {y}) >= 1);
  }

  const Array y = random(y_shape, f32, 7), dnormal = random(y_shape, f32, 8),
              y_mean = random({c}, f32, 9), scale = random({c}, f32, 10),
              slope = random({c}, f32, 11), offset = random({c}, f32, 12);
  Array dkernel = zeros(kernel.spec.shape), dx = zeros(x_shape), sums = zeros({c}),
        products = zeros({c});
  auto dy = [&](int64_t at, int64_t k) {
    return scale[k] * dnormal[at * c + k] - (y[at * c + k] - y_mean[k]) * slope[k] - offset[k];
  };
  each_tap(g, y_shape, [&](int64_t from, int64_t tap, int64_t to) {
    for (int64_t k = 0; k < c; ++k) {
      dkernel.values[static_cast<size_t>(tap * c + k)] += normalized[from * c + k] * dy(to, k);
      dx.values[static_cast<size_t>(from * c + k)] += kernel[tap * c + k] * dy(to, k);
    }
  });
  for (size_t i = 0; i < dx.values.size(); ++i) {
    const auto k = static_cast<int64_t>(i) % c;
    dx.values[i] *= normalized.values[i] > 0;
    sums.values[static_cast<size_t>(k)] += dx.values[i];
    products.values[static_cast<size_t>(k)] += dx.values[i] * (x.values[i] - mean[k]);
  }
  DepthwiseBackward op;
  op.spec = spec;
  CHECK(check(convolution_kernels, op,
              {y, dnormal, y_mean, scale, slope, offset, x, mean, rstd, gamma, beta, kernel},
              {dkernel, dx, sums, products}, 4) >= 1);
}

}  // namespace

TEST_CASE("depthwise convolutions by rows agree with plain loops at every border", "[cpu][conv]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (int64_t step : {1, 2})
    for (int64_t before : {0, 1})
      for (int64_t column_before : {0, 1})
        for (int64_t after : {0, 1})
          for (int64_t rows : {2, 3, 5, 6})
            for (int64_t columns : {2, 3, 6, 7})
              for (int64_t channels : {3, 16, 21})
                check_geometry({rows, columns, channels, step, before, after, column_before,
                                step == 1 ? 2 - column_before : after});
}
