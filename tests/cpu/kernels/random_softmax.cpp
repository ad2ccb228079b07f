#include <algorithm>
#include <numbers>

#include "crescent/ops/random.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

Array state(int64_t seed, int64_t counter) {
  Array s = zeros({2}, DType::int64);
  s.values = {static_cast<double>(seed), static_cast<double>(counter)};
  return s;
}

Random random_op(RandomKind kind, const Shape& shape, DType dtype, double a = 0, double b = 1) {
  Random op;
  op.kind = kind, op.shape = shape, op.dtype = dtype, op.a = a, op.b = b;
  return op;
}

Outcome draw_numbers(const Random& op, int64_t seed, int64_t counter, int threads) {
  TensorSpecs in{{DType::int64, {2}}}, out{{op.dtype, op.shape}};
  auto kernel = make_kernel({op, in, out, Options{}});
  REQUIRE(kernel);
  return run(*kernel, {state(seed, counter)}, out, threads);
}

uint32_t random_word(int64_t seed, int64_t counter, int64_t i) {
  return philox(static_cast<uint64_t>(seed), static_cast<uint64_t>(counter),
                static_cast<uint64_t>(i / 4))
      .word[i % 4];
}

struct Moments {
  double mean, deviation;
};
Moments moments_of(const Array& x) {
  double sum = 0, squares = 0;
  for (double v : x.values) sum += v, squares += v * v;
  const double n = static_cast<double>(x.values.size());
  return {sum / n, std::sqrt(squares / n - sum / n * (sum / n))};
}

}  // namespace

TEST_CASE("uniform numbers are the words of Philox, for any number of threads") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const Random op = random_op(RandomKind::uniform, {30001}, DType::float32);
  const Outcome outcome = draw_numbers(op, 1234567890123, 7, 1);
  for (int64_t i : {0, 1, 5, 1023, 1024, 8192, 20000, 30000}) {
    CHECK(outcome.outputs[0][i] ==
          static_cast<double>(random_word(1234567890123, 7, i) >> 8) * 0x1p-24);
  }
  for (int threads : {2, 3})
    CHECK(draw_numbers(op, 1234567890123, 7, threads).bits == outcome.bits);
  CHECK(draw_numbers(op, 1234567890123, 8, 1).bits != outcome.bits);
  const Outcome float64_outcome =
      draw_numbers(random_op(RandomKind::uniform, {5000}, DType::float64, -2, 3), -5, 1, 2);
  const uint64_t bits = (uint64_t{random_word(-5, 1, 6)} << 32 | random_word(-5, 1, 7)) >> 11;
  CHECK(float64_outcome.outputs[0][3] ==
        Approx(-2 + 5 * static_cast<double>(bits) * 0x1p-53).epsilon(1e-14));
}

TEST_CASE("every number of a long draw is that of its own word") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const int64_t count = 300001;  // more than 65,536 blocks of four numbers
  const Array
      uniform =
          draw_numbers(random_op(RandomKind::uniform, {count}, DType::float32), 9, 1, 3).outputs[0],
      bits = draw_numbers(random_op(RandomKind::bits, {count}, DType::int32), 9, 1, 3).outputs[0];
  int64_t wrong_count = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t expected = random_word(9, 1, i);
    wrong_count += uniform[i] != static_cast<double>(expected >> 8) * 0x1p-24 ||
                   static_cast<uint32_t>(static_cast<int32_t>(bits[i])) != expected;
  }
  CHECK(wrong_count == 0);
}

TEST_CASE("every float64 of a long draw is that of its own two words") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const int64_t count = 20001;
  const Array u =
      draw_numbers(random_op(RandomKind::uniform, {count}, DType::float64), 9, 1, 3).outputs[0];
  int64_t wrong_count = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits =
        (uint64_t{random_word(9, 1, 2 * i)} << 32 | random_word(9, 1, 2 * i + 1)) >> 11;
    wrong_count += u[i] != static_cast<double>(bits) * 0x1p-53;
  }
  CHECK(wrong_count == 0);
}

TEST_CASE("normal numbers of a long draw are pairs of the uniform ones") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (DType dtype : {DType::float32, DType::float64}) {
    for (int64_t count : {1, 2, 15, 513, 1024, 1027, 20001}) {
      const Array
          u = draw_numbers(random_op(RandomKind::uniform, {count + 1}, dtype), 9, 1, 3).outputs[0],
          x = draw_numbers(random_op(RandomKind::normal, {count}, dtype), 9, 1, 3).outputs[0];
      double largest_difference = 0;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t first = i / 2 * 2;
        const double radius = std::sqrt(-2 * std::log(1 - u[first])),
                     angle = 2 * std::numbers::pi * u[first + 1];
        const double want = radius * (i == first ? std::cos(angle) : std::sin(angle));
        largest_difference = std::max(largest_difference, std::abs(x[i] - want));
      }
      CAPTURE(count);
      CHECK(largest_difference < (dtype == DType::float32 ? 1e-5 : 1e-13));
    }
  }
}

TEST_CASE("bits are the words") {
  const Outcome got = draw_numbers(random_op(RandomKind::bits, {2000}, DType::int32), 3, 4, 2);
  CHECK(static_cast<uint32_t>(static_cast<int32_t>(got.outputs[0][1999])) ==
        random_word(3, 4, 1999));
}

TEST_CASE("distributions have their moments and bounds") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (DType dtype : {DType::float32, DType::float64}) {
    const Array u =
        draw_numbers(random_op(RandomKind::uniform, {200000}, dtype, -1, 3), 1, 2, 2).outputs[0];
    CHECK(moments_of(u).mean == Approx(1).margin(0.02));
    CHECK(moments_of(u).deviation == Approx(4 / std::sqrt(12)).margin(0.02));
    CHECK(*std::max_element(u.values.begin(), u.values.end()) < 3);
    CHECK(*std::min_element(u.values.begin(), u.values.end()) >= -1);
    const Outcome normal =
        draw_numbers(random_op(RandomKind::normal, {200001}, dtype, 2, 0.5), 1, 3, 1);
    CHECK(moments_of(normal.outputs[0]).mean == Approx(2).margin(0.01));
    CHECK(moments_of(normal.outputs[0]).deviation == Approx(0.5).margin(0.01));
    CHECK(draw_numbers(random_op(RandomKind::normal, {200001}, dtype, 2, 0.5), 1, 3, 3).bits ==
          normal.bits);
    const Array t =
        draw_numbers(random_op(RandomKind::truncated_normal, {200000}, dtype, 1, 0.1), 1, 4, 2)
            .outputs[0];
    CHECK(moments_of(t).mean == Approx(1).margin(0.001));
    CHECK(moments_of(t).deviation == Approx(0.0879626).margin(0.001));
    for (double v : t.values)
      if (!(std::abs(v - 1) <= 0.2000001)) FAIL("out of bounds: " << v);
  }
  CHECK(
      moments_of(
          draw_numbers(random_op(RandomKind::normal, {50000}, DType::bfloat16), 1, 2, 2).outputs[0])
          .deviation == Approx(1).margin(0.02));
}

TEST_CASE("softmax along any axis") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    const std::pair<Shape, int> cases[] = {{{5, 10}, -1},  {{3, 7, 4}, 1},  {{3, 70, 129}, 1},
                                           {{200, 33}, 0}, {{64, 1000}, 1}, {{4, 1}, 1},
                                           {{0, 3}, 1}};
    for (const auto& [shape, axis] : cases) {
      for (bool is_log : {false, true}) {
        Array x = random(shape, dtype, 1, -20, 20), want = zeros(shape, dtype);
        const int axis_index = shape.axis(axis);
        int64_t inner_size = 1;
        for (int i = axis_index + 1; i < shape.rank(); ++i) inner_size *= shape[i];
        const int64_t n = shape[axis_index], lines = shape.size() / n;
        for (int64_t line = 0; line < lines; ++line) {
          const int64_t base = line / inner_size * n * inner_size + line % inner_size;
          double largest = -1e300, sum = 0;
          for (int64_t i = 0; i < n; ++i) largest = std::max(largest, x[base + i * inner_size]);
          for (int64_t i = 0; i < n; ++i) sum += std::exp(x[base + i * inner_size] - largest);
          for (int64_t i = 0; i < n; ++i) {
            const double z = x[base + i * inner_size] - largest - std::log(sum);
            want.values[static_cast<size_t>(base + i * inner_size)] = is_log ? z : std::exp(z);
          }
        }
        Softmax op;
        op.axis = axis, op.log = is_log;
        CAPTURE(to_text(shape), axis);
        CHECK(check(softmax_kernels, op, {x}, {want}) >= 2);
      }
    }
  }
}

TEST_CASE("softmax cross entropy, sparse and dense, forward and backward") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (DType dtype : {DType::float32, DType::float64}) {
    for (int64_t n : {1, 10, 100}) {
      Array z = random({50, n}, dtype, 1, -5, 5),
            labels = random({50}, DType::int32, 2, 0, static_cast<double>(n) - 0.01);
      Array one_hot_weights = random({50, n}, dtype, 3, 0, 1), upstream = random({50}, dtype, 4);
      Array sparse_loss = zeros({50}, dtype), dense_loss = sparse_loss,
            sparse_dz = zeros({50, n}, dtype), dense_dz = sparse_dz;
      for (int64_t r = 0; r < 50; ++r) {
        double sum = 0, targets = 0;
        for (int64_t i = 0; i < n; ++i) {
          sum += std::exp(z[r * n + i]);
          targets += one_hot_weights[r * n + i];
        }
        const int64_t label = static_cast<int64_t>(labels[r]);
        const size_t row = static_cast<size_t>(r);
        sparse_loss.values[row] = std::log(sum) - z[r * n + label];
        for (int64_t i = 0; i < n; ++i) {
          const size_t element_index = static_cast<size_t>(r * n + i);
          const double p = std::exp(z.values[element_index]) / sum;
          dense_loss.values[row] +=
              one_hot_weights.values[element_index] * (std::log(sum) - z.values[element_index]);
          sparse_dz.values[element_index] = (p - (i == label)) * upstream[r];
          dense_dz.values[element_index] =
              (p * targets - one_hot_weights.values[element_index]) * upstream[r];
        }
      }
      SoftmaxCrossEntropy forward;
      SoftmaxCrossEntropyBackward backward;
      CHECK(check(softmax_kernels, forward, {z, labels}, {sparse_loss}) == 2);
      CHECK(check(softmax_kernels, backward, {z, labels, upstream}, {sparse_dz}) == 2);
      forward.sparse = backward.sparse = false;
      CHECK(check(softmax_kernels, forward, {z, one_hot_weights}, {dense_loss}) == 2);
      CHECK(check(softmax_kernels, backward, {z, one_hot_weights, upstream}, {dense_dz}) == 2);
    }
  }
}

TEST_CASE("what large logits share is no part of what is left of them") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    // One logit is larger by 1 than the others, whose magnitude is the largest at which a
    // difference of 1 is exact.
    const double large_logit = dtype == DType::bfloat16  ? 255
                               : dtype == DType::float32 ? 0x1p23
                                                         : 0x1p50;
    const int64_t n = 4;
    const double log_sum = std::log(std::exp(1) + static_cast<double>(n - 1));
    for (double top_logit : {large_logit, -large_logit}) {
      Array z{{dtype, {2, n}}, std::vector<double>(2 * n, top_logit - 1)};
      z.values[1] = z.values[static_cast<size_t>(n) + 2] = top_logit;
      Array labels = zeros({2}, DType::int32), one_hot_weights = zeros({2, n}, dtype);
      labels.values = {1, 0};
      one_hot_weights.values[1] = one_hot_weights.values[static_cast<size_t>(n)] = 1;
      Array logs{z.spec, std::vector<double>(2 * n, -log_sum)};
      logs.values[1] = logs.values[static_cast<size_t>(n) + 2] = 1 - log_sum;
      const Array loss{{dtype, {2}}, {log_sum - 1, log_sum}};
      CAPTURE(top_logit);
      Softmax logarithm;
      logarithm.log = true;
      CHECK(check(softmax_kernels, logarithm, {z}, {logs}) >= 2);
      SoftmaxCrossEntropy forward;
      CHECK(check(softmax_kernels, forward, {z, labels}, {loss}) >= 1);
      forward.sparse = false;
      CHECK(check(softmax_kernels, forward, {z, one_hot_weights}, {loss}) >= 1);
    }
  }
}

TEST_CASE("cross entropy of a label that is none of the classes is no number") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const int64_t n = 3;  // every row except the last is followed directly by another row in memory
  Array z = random({5, n}, DType::float32, 1), labels = zeros({5}, DType::int64),
        up = random({5}, DType::float32, 2);
  labels.values = {-1, 3, 2, 4, 3};
  const TensorSpecs forward_inputs{z.spec, labels.spec},
      backward_inputs{z.spec, labels.spec, up.spec};
  const TensorSpecs numbers{up.spec}, rows{z.spec};
  const auto forward = make_kernel({SoftmaxCrossEntropy{}, forward_inputs, numbers, Options{}}),
             backward =
                 make_kernel({SoftmaxCrossEntropyBackward{}, backward_inputs, rows, Options{}});
  const Array loss = run(*forward, {z, labels}, numbers, 1).outputs[0],
              dz = run(*backward, {z, labels, up}, rows, 1).outputs[0];
  for (int64_t row = 0; row < 5; ++row) {
    const bool is_class = row == 2;
    CHECK(std::isnan(loss[row]) != is_class);
    for (int64_t i = 0; i < n; ++i) CHECK(std::isnan(dz[row * n + i]) != is_class);
  }
}
