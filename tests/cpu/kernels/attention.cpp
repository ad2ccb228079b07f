#include "crescent/ops/random.h"
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

constexpr int64_t kSeed = 5'000'000'123, kCounter = 17;

/// Which query may attend to which key, and which weights are dropped; the axes of the mask have
/// the sizes of the scores or 1.
struct AttentionRule {
  const Array* mask = nullptr;
  bool is_causal = false;
  double dropout = 0;
  int64_t first_row = 0;

  /// The factor by which dropout multiplies attention weight number `weight_index`: 0 or 1 / (1 -
  /// dropout).
  double dropout_factor(const Sizes& z, int64_t weight_index) const {
    if (dropout == 0) return 1;
    const int64_t i = first_row * z.heads * z.queries * z.keys + weight_index;
    const uint32_t word = philox(kSeed, kCounter, static_cast<uint64_t>(i / 4)).word[i % 4];
    const bool is_kept = static_cast<float>(word >> 8) * 0x1p-24f >= static_cast<float>(dropout);
    return is_kept ? 1 / (1 - dropout) : 0;
  }
  bool is_allowed(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (is_causal && j > i) return false;
    if (!mask) return true;
    const Shape& s = mask->spec.shape;
    auto at = [&](int axis, int64_t position) { return s[axis] == 1 ? 0 : position; };
    return (*mask)[((at(0, b) * s[1] + at(1, h)) * s[2] + at(2, i)) * s[3] + at(3, j)] != 0;
  }
};

/// The attention weights (b,h,t,s), and for each query the statistics of its softmax (b,h,t,2).
struct Weights {
  Array weights, statistics;
};

Weights weights_of(const Sizes& z, const Array& q, const Array& k, const AttentionRule& rule) {
  Weights r{zeros({z.batch, z.heads, z.queries, z.keys}),
            zeros({z.batch, z.heads, z.queries, 2}, compute_dtype_of(q.spec.dtype))};
  for (int64_t row = 0; row < z.batch * z.heads * z.queries; ++row) {
    const int64_t i = row % z.queries, h = row / z.queries % z.heads, b = row / z.queries / z.heads;
    double* w = &r.weights.values[static_cast<size_t>(row * z.keys)];
    for (int64_t j = 0; j < z.keys; ++j) {
      for (int64_t c = 0; c < z.width; ++c) {
        w[j] += kScale * q[((b * z.queries + i) * z.heads + h) * z.width + c] *
                k[((b * z.keys + j) * z.heads + h) * z.width + c];
      }
      if (!rule.is_allowed(b, h, i, j)) w[j] = masked_score(DType::float32);
    }
    const double largest_score = *std::max_element(w, w + z.keys);
    double total = 0;
    for (int64_t j = 0; j < z.keys; ++j) total += w[j] = std::exp(w[j] - largest_score);
    for (int64_t j = 0; j < z.keys; ++j) w[j] /= total;
    double* statistics = &r.statistics.values[static_cast<size_t>(2 * row)];
    statistics[0] = largest_score, statistics[1] = total;
  }
  return r;
}

Array context_of(const Sizes& z, const Array& weights, const Array& v, const AttentionRule& rule) {
  Array y = zeros({z.batch, z.queries, z.heads, z.value_width}, v.spec.dtype);
  for (int64_t b = 0; b < z.batch; ++b) {
    for (int64_t h = 0; h < z.heads; ++h) {
      for (int64_t i = 0; i < z.queries; ++i) {
        for (int64_t j = 0; j < z.keys; ++j) {
          const int64_t weight = ((b * z.heads + h) * z.queries + i) * z.keys + j;
          const double dropped_weight = weights[weight] * rule.dropout_factor(z, weight);
          for (int64_t c = 0; c < z.value_width; ++c) {
            y.values[static_cast<size_t>(((b * z.queries + i) * z.heads + h) * z.value_width +
                                         c)] +=
                dropped_weight * v[((b * z.keys + j) * z.heads + h) * z.value_width + c];
          }
        }
      }
    }
  }
  return y;
}

/// The gradients of q, k and v.
std::vector<Array> gradients_of(const Sizes& z, const std::vector<Array>& in, const Array& dy,
                                const AttentionRule& rule) {
  const Array &q = in[0], &k = in[1], &v = in[2], w = weights_of(z, q, k, rule).weights;
  std::vector<Array> d{zeros(q.spec.shape, q.spec.dtype), zeros(k.spec.shape, k.spec.dtype),
                       zeros(v.spec.shape, v.spec.dtype)};
  std::vector<double> dw(static_cast<size_t>(z.keys));
  for (int64_t row = 0; row < z.batch * z.heads * z.queries; ++row) {
    const int64_t i = row % z.queries, h = row / z.queries % z.heads, b = row / z.queries / z.heads;
    const int64_t query = (b * z.queries + i) * z.heads + h;
    double mean = 0;
    for (int64_t j = 0; j < z.keys; ++j) {
      const int64_t key = (b * z.keys + j) * z.heads + h;
      const double dropout_factor = rule.dropout_factor(z, row * z.keys + j);
      double& weight_gradient = dw[static_cast<size_t>(j)] = 0;
      for (int64_t c = 0; c < z.value_width; ++c) {
        weight_gradient +=
            dropout_factor * dy[query * z.value_width + c] * v[key * z.value_width + c];
        d[2].values[static_cast<size_t>(key * z.value_width + c)] +=
            dropout_factor * w[row * z.keys + j] * dy[query * z.value_width + c];
      }
      mean += weight_gradient * w[row * z.keys + j];
    }
    for (int64_t j = 0; j < z.keys; ++j) {
      if (!rule.is_allowed(b, h, i, j)) continue;
      const int64_t key = (b * z.keys + j) * z.heads + h;
      const double weight_gradient =
          kScale * w[row * z.keys + j] * (dw[static_cast<size_t>(j)] - mean);
      for (int64_t c = 0; c < z.width; ++c) {
        d[0].values[static_cast<size_t>(query * z.width + c)] +=
            weight_gradient * k[key * z.width + c];
        d[1].values[static_cast<size_t>(key * z.width + c)] +=
            weight_gradient * q[query * z.width + c];
      }
    }
  }
  return d;
}

std::vector<Array> operands(const Sizes& z, DType dtype) {
  return {random({z.batch, z.queries, z.heads, z.width}, dtype, 1),
          random({z.batch, z.keys, z.heads, z.width}, dtype, 2),
          random({z.batch, z.keys, z.heads, z.value_width}, dtype, 3)};
}

/// A random mask in which each query attends at least to key 0, unless the mask has a single key.
Array random_mask(const Shape& shape) {
  Array mask = random(shape, DType::boolean, 5, 0, 2);
  if (shape[3] == 1) return mask;
  for (int64_t i = 0; i < shape.size(); i += shape[3]) mask.values[static_cast<size_t>(i)] = 1;
  return mask;
}

/// A mask in which query i attends to the keys from i - max_steps_before to i + max_steps_after.
Array band_mask(int64_t queries, int64_t keys, int64_t max_steps_before, int64_t max_steps_after) {
  Array mask = zeros({1, 1, queries, keys}, DType::boolean);
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = std::max<int64_t>(0, i - max_steps_before);
         j < std::min(keys, i + max_steps_after + 1); ++j)
      mask.values[static_cast<size_t>(i * keys + j)] = 1;
  return mask;
}

/// A mask in which sample b attends to the keys from 7 b to 40 + b.
Array padding_mask(int64_t batch, int64_t keys) {
  Array mask = zeros({batch, 1, 1, keys}, DType::boolean);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t j = 7 * b; j < 40 + b; ++j) mask.values[static_cast<size_t>(b * keys + j)] = 1;
  return mask;
}

template <class O>
O op_of(const AttentionRule& rule) {
  O op;
  op.scale = kScale, op.causal = rule.is_causal;
  op.dropout = rule.dropout, op.first_row = rule.first_row;
  return op;
}

/// Adds the mask, and the random state from which dropout draws, to the inputs if the rule has
/// them.
void add_inputs(const AttentionRule& rule, std::vector<Array>& in) {
  if (rule.mask) in.push_back(*rule.mask);
  if (rule.dropout > 0) in.push_back({{DType::int64, {2}}, {double(kSeed), double(kCounter)}});
}

void check_forward(const Sizes& z, DType dtype, const AttentionRule& rule = {}) {
  auto in = operands(z, dtype);
  const Weights w = weights_of(z, in[0], in[1], rule);
  const Array context = context_of(z, w.weights, in[2], rule);
  add_inputs(rule, in);
  CAPTURE(z.queries, z.keys, z.width, name_of(dtype), rule.is_causal, rule.dropout);
  CHECK(check(attention_kernels, op_of<Attention>(rule), in, {context, w.statistics}, 2) >= 2);
}

Array gradient_of_context(const Sizes& z, DType dtype) {
  return random({z.batch, z.queries, z.heads, z.value_width}, dtype, 4);
}

/// Appends to q, k and v the other inputs of the gradient: the context, the statistics of the
/// weights, and the gradient of the context.
std::vector<Array> with_results(const Sizes& z, std::vector<Array> in, const AttentionRule& rule) {
  const Weights w = weights_of(z, in[0], in[1], rule);
  const DType dtype = in[0].spec.dtype;
  in.push_back(context_of(z, w.weights, in[2], rule));
  in.push_back(w.statistics);
  in.push_back(gradient_of_context(z, dtype));
  return in;
}

void check_gradient(const Sizes& z, DType dtype, const AttentionRule& rule = {}) {
  const auto attention_inputs = operands(z, dtype);
  const auto wanted = gradients_of(z, attention_inputs, gradient_of_context(z, dtype), rule);
  auto in = with_results(z, attention_inputs, rule);
  add_inputs(rule, in);
  CAPTURE(z.queries, z.keys, z.width, name_of(dtype), rule.is_causal, rule.dropout);
  CHECK(check(attention_kernels, op_of<AttentionBackward>(rule), in, wanted, 20) >= 2);
}

void check_both(const Sizes& z, DType dtype, const AttentionRule& rule = {}) {
  check_forward(z, dtype, rule);
  check_gradient(z, dtype, rule);
}

constexpr DType kDTypes[] = {DType::float32, DType::float64, DType::bfloat16, DType::float16};

}  // namespace

TEST_CASE("attention agrees with plain loops", "[cpu][attention]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (const Sizes& z :
       {Sizes{1, 1, 1, 1, 1, 1}, Sizes{2, 5, 7, 3, 4, 6}, Sizes{2, 64, 64, 2, 32, 32},
        Sizes{1, 3, 600, 2, 20, 33}, Sizes{1, 150, 1100, 1, 9, 17}, Sizes{1, 1000, 40, 1, 5, 70}}) {
    for (DType dtype : kDTypes) check_both(z, dtype);
    for (DType dtype : kDTypes) check_both(z, dtype, {nullptr, true});
  }
}

TEST_CASE("attention agrees with plain loops for lengths around its tiles", "[cpu][attention]") {
  for (int64_t queries : {1, 15, 16, 17, 63, 64, 65, 129, 257, 1000})
    for (int64_t keys : {1, 15, 17, 64, 65, 511, 512, 513, 600, 1100})
      for (bool is_causal : {false, true})
        check_both({1, queries, keys, 1 + queries % 2, 3, 2}, DType::float32, {nullptr, is_causal});
}

TEST_CASE("the plain gradient of attention agrees with finite differences", "[cpu][attention]") {
  const Array mask = random_mask({2, 1, 5, 7});
  for (const AttentionRule& rule :
       {AttentionRule{}, AttentionRule{nullptr, true}, AttentionRule{&mask, false},
        AttentionRule{&mask, true}, AttentionRule{nullptr, false, 0.4},
        AttentionRule{&mask, true, 0.2}}) {
    const Sizes z{2, 5, 7, 3, 4, 6};
    const auto in = operands(z, DType::float64);
    const Array dy = gradient_of_context(z, DType::float64);
    const auto plain_gradients = gradients_of(z, in, dy, rule);
    auto f = [&](const std::vector<Array>& x) {
      return std::vector<Array>{context_of(z, weights_of(z, x[0], x[1], rule).weights, x[2], rule)};
    };
    for (size_t i = 0; i < 3; ++i)
      CHECK(difference(plain_gradients[i], numeric_gradient(f, in, i, {dy})) < 1e-7);
  }
}

TEST_CASE("attention drops the weights that a draw tells", "[cpu][attention]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  // The last rate equals the random number that is drawn for the first weight; the weight is kept.
  const double rate =
      GENERATE(1e-9, 0.1, 0.5, 0.97, double(philox(kSeed, kCounter, 0).word[0] >> 8) * 0x1p-24);
  for (const Sizes& z :
       {Sizes{1, 1, 1, 1, 1, 1}, Sizes{3, 5, 7, 3, 4, 6}, Sizes{2, 33, 64, 2, 8, 4},
        Sizes{1, 3, 603, 2, 20, 33}, Sizes{1, 70, 1101, 1, 5, 7}}) {
    for (DType dtype : kDTypes) check_both(z, dtype, {nullptr, false, rate, 0});
    check_both(z, DType::float32, {nullptr, true, rate, 3});
  }
}

TEST_CASE("attention drops weights for lengths around its tiles", "[cpu][attention]") {
  for (int64_t queries : {1, 3, 64, 65, 129})
    for (int64_t keys : {1, 2, 15, 17, 63, 64, 65, 511, 512, 513, 1030}) {
      const Array mask = band_mask(queries, keys, 40, 40);
      for (bool is_causal : {false, true}) {
        check_both({2, queries, keys, 2, 3, 2}, DType::float32, {nullptr, is_causal, 0.3, queries});
        check_both({2, queries, keys, 2, 3, 2}, DType::float32, {&mask, is_causal, 0.3, keys % 3});
      }
    }
}

TEST_CASE("attention looks where the mask lets it", "[cpu][attention]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const bool is_causal = GENERATE(false, true);
  const Sizes z{2, 9, 21, 3, 8, 5};
  for (const Shape& shape : {Shape{2, 3, 9, 21}, Shape{2, 1, 1, 21}, Shape{1, 1, 9, 21},
                             Shape{2, 1, 9, 1}, Shape{1, 1, 1, 1}, Shape{1, 3, 1, 21}}) {
    const Array mask = random_mask(shape);
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16})
      check_both(z, dtype, {&mask, is_causal});
  }
}

TEST_CASE("keys that no query of a block may see are left out", "[cpu][attention]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx2));
  const bool is_causal = GENERATE(false, true);
  const Sizes z{2, 150, 150, 2, 8, 5};
  for (const Array& mask : {band_mask(150, 150, 150, 0), band_mask(150, 150, 20, 0),
                            band_mask(150, 150, 9, 30), padding_mask(2, 150)}) {
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16})
      check_both(z, dtype, {&mask, is_causal});
  }
  const Array narrow_mask = band_mask(700, 700, 70, 3), late_mask = band_mask(700, 300, 700, -390),
              key_mask = random_mask({1, 1, 1, 700}), query_mask = random_mask({1, 1, 150, 1});
  check_both({1, 700, 700, 1, 4, 3}, DType::float32, {&narrow_mask, is_causal});
  check_both({1, 700, 300, 1, 4, 3}, DType::float32, {&late_mask, is_causal});
  check_both({1, 700, 700, 1, 2, 3}, DType::float32, {&key_mask, is_causal});
  check_both({1, 150, 300, 1, 2, 3}, DType::float32, {&query_mask, is_causal});
  check_both({2, 700, 700, 8, 1, 1}, DType::float32, {nullptr, is_causal});
}

TEST_CASE("a query that may see nothing mixes all values", "[cpu][attention]") {
  const bool is_causal = GENERATE(false, true);
  const Sizes z{1, 3, 5, 1, 4, 4}, longer{1, 130, 600, 1, 4, 4};
  Array mask = zeros({1, 1, 3, 5}, DType::boolean);
  // With these masks some of the queries attend to no key.
  Array small_mask = random_mask({1, 1, 3, 5}), long_mask = zeros({1, 1, 1, 600}, DType::boolean);
  for (size_t j = 0; j < 5; ++j) small_mask.values[5 + j] = 0;
  long_mask.values[100] = long_mask.values[599] = 1;
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    check_both(z, dtype, {&mask, is_causal});
    check_both(z, dtype, {&small_mask, is_causal});
    check_both(longer, dtype, {&long_mask, is_causal});
  }
}

TEST_CASE("NaN and infinity in attention spread as in the plain form", "[cpu][attention]") {
  const Sizes z{1, 130, 600, 1, 4, 3};
  const bool is_causal = GENERATE(false, true);
  const double not_finite = GENERATE(double(NAN), double(INFINITY), -double(INFINITY));
  for (size_t input_index : {0, 1, 2}) {
    for (int64_t step : {40, 70, 129}) {
      auto in = operands(z, DType::float32);
      in[input_index].values[static_cast<size_t>(step * in[input_index].spec.shape[3])] =
          not_finite;
      const AttentionRule rule{nullptr, is_causal};
      const Array wanted = context_of(z, weights_of(z, in[0], in[1], rule).weights, in[2], rule);
      const TensorSpecs specs{in[0].spec, in[1].spec, in[2].spec},
          out{wanted.spec, {DType::float32, {1, 1, 130, 2}}};
      const Options options;
      const auto got =
          run(*make_kernel({op_of<Attention>(rule), specs, out, options}), in, out, 2).outputs[0];
      CAPTURE(input_index, step, is_causal, not_finite);
      for (int64_t i = 0; i < wanted.spec.shape.size(); ++i) {
        // Kernels skip keys to which no query of a block may attend. The reference multiplies these
        // keys by 0 instead, which gives NaN for infinities, so queries before the changed key are
        // not compared.
        if (is_causal && input_index > 0 && i / 3 < step) continue;
        if (std::isfinite(wanted[i]))
          CHECK(got[i] == Approx(wanted[i]).margin(1e-5));
        else
          CHECK((std::isnan(wanted[i]) ? std::isnan(got[i]) : got[i] == wanted[i]));
      }
    }
  }
}

TEST_CASE("keys of score -infinity weigh nothing, whatever tile they are in", "[cpu][attention]") {
  const Sizes z{1, 2, 700, 1, 1, 1};
  auto in = operands(z, DType::float32);
  std::fill(in[0].values.begin(), in[0].values.end(), 1);
  std::fill_n(in[1].values.begin(), 690, -double(INFINITY));
  const Weights w = weights_of(z, in[0], in[1], {});
  const Array context = context_of(z, w.weights, in[2], {});
  CHECK(check(attention_kernels, op_of<Attention>({}), in, {context, w.statistics}, 2) >= 2);
}

TEST_CASE("the memory that parts of a gradient share grows as the length", "[cpu][attention]") {
  auto scratch_bytes_of = [](int64_t steps) {
    const TensorSpec x{DType::float32, {1, steps, 1, 8}};
    const TensorSpec statistics{DType::float32, {1, 1, steps, 2}};
    const TensorSpecs in{x, x, x, x, statistics, x}, out{x, x, x};
    const Options options;
    return make_kernel({op_of<AttentionBackward>({}), in, out, options})->scratch_bytes();
  };
  CHECK(scratch_bytes_of(1 << 16) <= 8 * scratch_bytes_of(1 << 13));
}

TEST_CASE("gradients of attention with weights that only nearly sum to 1 lose no more than that",
          "[cpu][attention]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const Sizes z{2, 5, 70, 2, 4, 3};
  for (DType dtype : {DType::float32, DType::float64}) {
    std::vector<Array> in = with_results(z, operands(z, dtype), {});
    TensorSpecs specs, out{in[0].spec, in[1].spec, in[2].spec};
    for (const Array& x : in) specs.push_back(x.spec);
    const auto gradients = [&] {
      return run(*make_kernel({op_of<AttentionBackward>({}), specs, out, Options{}}), in, out, 2)
          .outputs;
    };
    const std::vector<Array> exact_gradients = gradients();
    for (size_t i = 1; i < in[4].values.size(); i += 2) in[4].values[i] *= 1.25;
    const std::vector<Array> smaller_scratch_gradients = gradients();
    for (size_t o = 0; o < 3; ++o)
      for (int64_t i = 0; i < exact_gradients[o].spec.shape.size(); ++i)
        CHECK(smaller_scratch_gradients[o][i] * 1.25 == Approx(exact_gradients[o][i]).margin(1e-5));
  }
}
