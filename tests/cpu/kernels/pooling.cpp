#include <limits>
#include <random>

#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

struct PoolCase {
  Shape x;
  std::vector<int64_t> window, strides, before, after;
};

Shape pooled_shape(const PoolCase& c) {
  Shape y = c.x;
  for (int i = 0; i + 2 < c.x.rank(); ++i) {
    y.set(i + 1, (c.x[i + 1] + c.before[i] + c.after[i] - c.window[i]) / c.strides[i] + 1);
  }
  return y;
}

/// Calls f(index in y, indices in x under its window).
template <class F>
void each_window(const PoolCase& c, F&& f) {
  const int axes = c.x.rank() - 2;
  const Shape y = pooled_shape(c);
  const int64_t channels = y[-1], pixel_count = y.slice(1, 1 + axes).size();
  int64_t tap_count = 1;
  for (int64_t w : c.window) tap_count *= w;
  for (int64_t out = 0; out < y.size(); ++out) {
    std::vector<int64_t> window_indices;
    for (int64_t tap = 0; tap < tap_count; ++tap) {
      int64_t pixel = out / channels % pixel_count, remaining = tap, offset = 0, stride = 1;
      bool is_inside = true;
      for (int i = axes - 1; i >= 0; --i) {
        const int64_t position =
            pixel % y[i + 1] * c.strides[i] - c.before[i] + remaining % c.window[i];
        is_inside = is_inside && position >= 0 && position < c.x[i + 1];
        offset += position * stride, stride *= c.x[i + 1], pixel /= y[i + 1],
            remaining /= c.window[i];
      }
      if (is_inside)
        window_indices.push_back((out / channels / pixel_count * stride + offset) * channels +
                                 out % channels);
    }
    f(out, window_indices);
  }
}

void check_case(const PoolCase& c, DType dtype, bool is_max) {
  Array x = random(c.x, dtype, 1);
  // Rounding gives many equal values.
  for (auto& value : x.values) value = std::round(value * 4) / 4;
  const Array dy = random(pooled_shape(c), dtype, 2);
  Array y = zeros(dy.spec.shape, dtype), dx = zeros(c.x, dtype),
        argmax_indices = zeros(dy.spec.shape, DType::uint8);
  each_window(c, [&](int64_t out, const std::vector<int64_t>& indices_of_window) {
    size_t best_index = 0;
    for (size_t i = 0; i < indices_of_window.size(); ++i)
      best_index = x[indices_of_window[i]] > x[indices_of_window[best_index]] ? i : best_index;
    argmax_indices.values[out] = static_cast<double>(best_index);
    if (is_max)
      y.values[out] = x[indices_of_window[best_index]],
      dx.values[indices_of_window[best_index]] += dy[out];
    for (int64_t i : indices_of_window) {
      if (!is_max)
        y.values[out] += x[i] / indices_of_window.size(),
            dx.values[i] += dy[out] / indices_of_window.size();
    }
  });
  CAPTURE(to_text(c.x), is_max, name_of(dtype));
  crescent::Pool forward;
  forward.max = is_max, forward.window = c.window, forward.spec.strides = c.strides;
  forward.spec.pad_before = c.before, forward.spec.pad_after = c.after;
  forward.spec.dilation.assign(c.window.size(), 1);
  CHECK(check(pooling_kernels, forward, {x}, {y}) >= 2);
  PoolBackward backward;
  backward.max = is_max, backward.window = c.window, backward.spec = forward.spec,
  backward.input = c.x;
  CHECK(check(pooling_kernels, backward,
              is_max ? std::vector<Array>{x, dy} : std::vector<Array>{dy}, {dx}) >= 2);
  if (!is_max) return;
  PoolArgmax with_argmax;
  with_argmax.window = c.window, with_argmax.spec = forward.spec;
  CHECK(check(pooling_kernels, with_argmax, {x}, {y, argmax_indices}) >= 2);
  PoolArgmaxBackward argmax_backward;
  argmax_backward.window = c.window, argmax_backward.spec = forward.spec,
  argmax_backward.input = c.x;
  CHECK(check(pooling_kernels, argmax_backward, {argmax_indices, dy}, {dx}) >= 2);
}

const PoolCase kPoolCases[] = {
    {{3, 8, 8, 1}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
    {{1, 9, 7, 3}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {{2, 7, 9, 17}, {3, 2}, {1, 2}, {0, 0}, {2, 1}},
    {{32, 6, 6, 64}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
    {{2, 5, 5, 130}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {{3, 11, 5}, {3}, {2}, {1}, {1}},
    {{2, 5, 6, 7, 3}, {2, 3, 2}, {2, 2, 2}, {0, 1, 0}, {1, 1, 1}},
};

}  // namespace

TEST_CASE("pooling and its gradients agree with plain loops", "[cpu][pool]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (const auto& c : kPoolCases) {
    for (bool is_max : {true, false}) check_case(c, DType::float32, is_max);
  }
}

TEST_CASE("pooling of random geometry", "[cpu][pool]") {
  std::mt19937 generator(7);
  auto random_integer = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  for (int round = 0; round < 60; ++round) {
    const int64_t axes = random_integer(1, 3);
    PoolCase c{{random_integer(1, 5)}, {}, {}, {}, {}};
    for (int64_t i = 0; i < axes; ++i) {
      const int64_t window = random_integer(1, 4), before = random_integer(0, window - 1),
                    after = random_integer(0, window - 1);
      c.window.push_back(window), c.strides.push_back(random_integer(1, 4));
      c.before.push_back(before), c.after.push_back(after),
          c.x.append(window + random_integer(0, 5));
    }
    c.x.append(random_integer(1, 40));
    check_case(c, DType::float32, random_integer(0, 1) == 1);
  }
}

TEST_CASE("pooling in other float types", "[cpu][pool]") {
  for (DType dtype : {DType::float64, DType::bfloat16, DType::float16}) {
    for (bool max : {true, false}) check_case(kPoolCases[2], dtype, max);
  }
}

TEST_CASE("max pooling passes on what is not a number", "[cpu][pool]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int nan_index = 0; nan_index < 4; ++nan_index) {
    Array x = random({1, 2, 2, 1}, DType::float32, 1);
    x.values[nan_index] = nan;
    crescent::Pool op;
    op.window = {2, 2}, op.spec.strides = {2, 2}, op.spec.dilation = {1, 1};
    op.spec.pad_before = op.spec.pad_after = {0, 0};
    const TensorSpec in = x.spec, out{DType::float32, {1, 1, 1, 1}};
    auto kernel = pooling_kernels()[0].make({op, {&in, 1}, {&out, 1}, Options{}});
    CHECK(std::isnan(run(*kernel, {x}, {out}, 1).outputs[0][0]));
  }
}
