#include "kernel/loops.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

constexpr double kScale = 0.3;

struct Sizes {
  int64_t batch, queries, keys, heads, width, value_width;
};

/// The attention weights (b,h,t,s) for q, k and a mask (whose axes have these sizes or 1), and the
/// statistics (b,h,t,2).
struct Weights {
  Array weights, statistics;
};

Weights weights_of(const Sizes& z, const Array& q, const Array& k, const Array* mask) {
  Weights r{zeros({z.batch, z.heads, z.queries, z.keys}),
            zeros({z.batch, z.heads, z.queries, 2}, computed_as(q.spec.dtype))};
  auto allowed = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    if (!mask) return true;
    const Shape& s = mask->spec.shape;
    auto at = [&](int axis, int64_t position) { return s[axis] == 1 ? 0 : position; };
    return (*mask)[((at(0, b) * s[1] + at(1, h)) * s[2] + at(2, i)) * s[3] + at(3, j)] != 0;
  };
  for (int64_t row = 0; row < z.batch * z.heads * z.queries; ++row) {
    const int64_t i = row % z.queries, h = row / z.queries % z.heads, b = row / z.queries / z.heads;
    double* w = &r.weights.values[static_cast<size_t>(row * z.keys)];
    for (int64_t j = 0; j < z.keys; ++j) {
      for (int64_t c = 0; c < z.width; ++c) {
        w[j] += kScale * q[((b * z.queries + i) * z.heads + h) * z.width + c] *
                k[((b * z.keys + j) * z.heads + h) * z.width + c];
      }
      if (!allowed(b, h, i, j)) w[j] = masked_score(DType::float32);
    }
    const double top = *std::max_element(w, w + z.keys);
    double total = 0;
    for (int64_t j = 0; j < z.keys; ++j) total += w[j] = std::exp(w[j] - top);
    for (int64_t j = 0; j < z.keys; ++j) w[j] /= total;
    double* statistics = &r.statistics.values[static_cast<size_t>(2 * row)];
    statistics[0] = top, statistics[1] = total;
  }
  return r;
}

Array context_of(const Sizes& z, const Array& weights, const Array& v) {
  Array y = zeros({z.batch, z.queries, z.heads, z.value_width}, v.spec.dtype);
  for (int64_t b = 0; b < z.batch; ++b) {
    for (int64_t h = 0; h < z.heads; ++h) {
      for (int64_t i = 0; i < z.queries; ++i) {
        for (int64_t j = 0; j < z.keys; ++j) {
          for (int64_t c = 0; c < z.value_width; ++c) {
            y.values[static_cast<size_t>(((b * z.queries + i) * z.heads + h) * z.value_width +
                                         c)] +=
                weights[((b * z.heads + h) * z.queries + i) * z.keys + j] *
                v[((b * z.keys + j) * z.heads + h) * z.value_width + c];
          }
        }
      }
    }
  }
  return y;
}

std::vector<Array> operands(const Sizes& z, DType dtype) {
  return {random({z.batch, z.queries, z.heads, z.width}, dtype, 1),
          random({z.batch, z.keys, z.heads, z.width}, dtype, 2),
          random({z.batch, z.keys, z.heads, z.value_width}, dtype, 3)};
}

/// A random mask in which each query attends at least to key 0.
Array some(const Shape& shape) {
  Array mask = random(shape, DType::boolean, 5, 0, 2);
  for (int64_t i = 0; i < shape.size(); i += shape[3]) mask.values[static_cast<size_t>(i)] = 1;
  return mask;
}

/// A mask in which query i attends to the keys from i - before to i + after.
Array band(int64_t queries, int64_t keys, int64_t before, int64_t after) {
  Array mask = zeros({1, 1, queries, keys}, DType::boolean);
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = std::max<int64_t>(0, i - before); j < std::min(keys, i + after + 1); ++j)
      mask.values[static_cast<size_t>(i * keys + j)] = 1;
  return mask;
}

/// A mask in which sample b attends to the keys from 7 b to 40 + b.
Array padding(int64_t batch, int64_t keys) {
  Array mask = zeros({batch, 1, 1, keys}, DType::boolean);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t j = 7 * b; j < 40 + b; ++j) mask.values[static_cast<size_t>(b * keys + j)] = 1;
  return mask;
}

void check_forward(const Sizes& z, DType dtype, const Array* mask = nullptr) {
  auto in = operands(z, dtype);
  const Weights w = weights_of(z, in[0], in[1], mask);
  const Array context = context_of(z, w.weights, in[2]);
  if (mask) in.push_back(*mask);
  Attention op;
  op.scale = kScale;
  CAPTURE(z.queries, z.keys, z.width, name_of(dtype));
  CHECK(check(attention_kernels, op, in, {context, w.statistics}, 2) >= 2);
}

void check_gradient(const Sizes& z, DType dtype, const Array* mask = nullptr) {
  auto in = operands(z, dtype);
  const Array dy = random({z.batch, z.queries, z.heads, z.value_width}, dtype, 4);
  auto f = [&](const std::vector<Array>& x) {
    return std::vector<Array>{context_of(z, weights_of(z, x[0], x[1], mask).weights, x[2])};
  };
  std::vector<Array> wanted;
  for (size_t i = 0; i < 3; ++i) wanted.push_back(numeric_gradient(f, in, i, {dy}));
  in.push_back(weights_of(z, in[0], in[1], mask).statistics);
  in.push_back(dy);
  if (mask) in.push_back(*mask);
  AttentionBackward op;
  op.scale = kScale;
  CAPTURE(z.queries, z.keys, z.width, name_of(dtype));
  CHECK(check(attention_kernels, op, in, wanted, dtype == DType::float64 ? 1e5 : 10) >= 2);
}

}  // namespace

TEST_CASE("attention agrees with plain loops", "[cpu][attention]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (const Sizes& z :
       {Sizes{1, 1, 1, 1, 1, 1}, Sizes{2, 5, 7, 3, 4, 6}, Sizes{2, 64, 64, 2, 32, 32},
        Sizes{1, 3, 600, 2, 20, 33}, Sizes{1, 150, 1100, 1, 9, 17}}) {
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16})
      check_forward(z, dtype);
  }
}

TEST_CASE("attention looks where the mask lets it", "[cpu][attention]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const Sizes z{2, 9, 21, 3, 8, 5};
  for (const Shape& shape :
       {Shape{2, 3, 9, 21}, Shape{2, 1, 1, 21}, Shape{1, 1, 9, 21}, Shape{2, 1, 9, 1}}) {
    const Array mask = some(shape);
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16})
      check_forward(z, dtype, &mask);
  }
}

TEST_CASE("keys that no query of a block may see are left out", "[cpu][attention]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx2));
  const Sizes z{2, 150, 150, 2, 8, 5};
  for (const Array& mask :
       {band(150, 150, 150, 0), band(150, 150, 20, 0), band(150, 150, 9, 30), padding(2, 150)}) {
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16})
      check_forward(z, dtype, &mask);
  }
  for (const Array& mask : {band(70, 70, 70, 0), band(70, 70, 12, 0), padding(1, 70)}) {
    check_gradient({1, 70, 70, 1, 2, 2}, DType::float32, &mask);
    check_gradient({1, 70, 70, 1, 2, 2}, DType::bfloat16, &mask);
  }
}

TEST_CASE("a query that may see nothing mixes all values", "[cpu][attention]") {
  const Sizes z{1, 3, 5, 1, 4, 4};
  Array mask = zeros({1, 1, 3, 5}, DType::boolean);
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    check_forward(z, dtype, &mask);
    check_gradient(z, dtype, &mask);
  }
  // a mask with which one of the queries attends to no key
  mask = some({1, 1, 3, 5});
  for (size_t j = 0; j < 5; ++j) mask.values[5 + j] = 0;
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    check_forward(z, dtype, &mask);
    check_gradient(z, dtype, &mask);
  }
}

TEST_CASE("gradients of attention agree with finite differences", "[cpu][attention]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const Array mask = some({2, 1, 5, 7});
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    check_gradient({2, 5, 7, 3, 4, 6}, dtype);
    check_gradient({2, 5, 7, 2, 3, 2}, dtype, &mask);
    check_gradient({1, 70, 600, 1, 2, 3}, dtype);
  }
}

TEST_CASE("gradients of attention with weights that only nearly sum to 1 lose no more than that",
          "[cpu][attention]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const Sizes z{2, 5, 70, 2, 4, 3};
  for (DType dtype : {DType::float32, DType::float64}) {
    std::vector<Array> in = operands(z, dtype);
    in.push_back(weights_of(z, in[0], in[1], nullptr).statistics);
    in.push_back(random({z.batch, z.queries, z.heads, z.value_width}, dtype, 4));
    AttentionBackward op;
    op.scale = kScale;
    TensorSpecs specs, out{in[0].spec, in[1].spec, in[2].spec};
    for (const Array& x : in) specs.push_back(x.spec);
    const auto gradients = [&] {
      return run(*make_kernel({op, specs, out, Options{}}), in, out, 2).outputs;
    };
    const std::vector<Array> exact = gradients();
    for (size_t i = 1; i < in[3].values.size(); i += 2) in[3].values[i] *= 1.25;
    const std::vector<Array> smaller = gradients();
    for (size_t o = 0; o < 3; ++o)
      for (int64_t i = 0; i < exact[o].spec.shape.size(); ++i)
        CHECK(smaller[o][i] * 1.25 == Approx(exact[o][i]).margin(1e-5));
  }
}
