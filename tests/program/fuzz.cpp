// Random programs: compiled with all passes they must give the results, gradients and variables of
// eager execution.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "crescent/program/gradient.h"
#include "distance.h"
#include "picky_device.h"

using namespace crescent;

namespace {

class RandomChoices {
 public:
  explicit RandomChoices(uint64_t seed) : seed_(seed) {}
  size_t below(size_t n) { return philox(seed_, 0, next_index_++).word[0] % n; }

 private:
  uint64_t seed_, next_index_ = 0;
};

/// Maps values to a range where functions are smooth and finite.
Tensor bounded(const Tensor& x) { return ops::tanh(x); }

const Shape kShapes[] = {{3, 4}, {4}, {3, 1}, {}, {3, 4}, {2, 3, 4}};

Tensor as_matrix(const Tensor& x) {
  return ops::broadcast_to(x.rank() > 2 ? ops::sum(x, {0}) : x, {3, 4});
}

/// A new value, computed from random existing ones.
Tensor random_value_from(RandomChoices& random, const Tensors& values) {
  const Tensor &a = values[random.below(values.size())], &b = values[random.below(values.size())];
  switch (random.below(30)) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return bounded(a * b);
    case 3:
      return a / (ops::square(b) + 1.0);
    case 4:
      return ops::maximum(a, b);
    case 5:
      return ops::minimum(a, 0.3);
    case 6:
      return ops::where(ops::greater(a, b), a, b * 0.5);
    case 7:
      return ops::sigmoid(a);
    case 8:
      return ops::relu(a);
    case 9:
      return ops::exp(-ops::square(a));
    case 10:
      return a * 1.0;
    case 11:
      return a + 0.0;
    case 12:
      return -(-a);
    case 13:
      return ops::power(a, 2);
    case 14:
      return ops::reshape(ops::reshape(as_matrix(a), {12}), {4, 3});
    case 15:
      return ops::transpose(ops::transpose(as_matrix(a)));
    case 16:
      return bounded(ops::matmul(as_matrix(a), ops::transpose(as_matrix(b))));
    case 17:
      return bounded(ops::matmul(ops::transpose(as_matrix(a)), as_matrix(b)) +
                     ops::sum(as_matrix(b), {0}));
    case 18:
      return ops::softmax(as_matrix(a));
    case 19:
      return bounded(ops::log(ops::softmax(as_matrix(a))));
    case 20:
      return ops::mean(a);
    case 21:
      return ops::sum(as_matrix(a), {1}, true) * 0.25;
    case 22:
      return ops::max(as_matrix(a), {0});
    case 23:
      return ops::cast(ops::cast(a, DType::float64), DType::float32);
    case 24:
      return ops::cast(ops::less(a, b), DType::float32);
    case 25:
      return ops::slice_axis(as_matrix(a), 1, 0, 4);
    case 26:
      return ops::flip(ops::flip(as_matrix(a), {0}), {0});
    case 27: {
      const Tensor parts[] = {as_matrix(a), as_matrix(b)};
      return ops::slice_axis(ops::concatenate(parts, 0), 0, 1, 4);
    }
    case 28:
      return ops::stop_gradient(a) * b;
    default:
      return ops::layer_norm(as_matrix(a), ops::sum(as_matrix(b), {0}),
                             ops::mean(as_matrix(a), {0}), 1e-3) *
             0.3;
  }
}

bool can_broadcast_with(const Tensors& values, const Tensor& y) {
  try {
    for (const Tensor& x : values) broadcast_shapes(x.shape(), y.shape(), "");
    return y.rank() <= 3;
  } catch (const Error&) {
    return false;
  }
}

/// Two results, and the gradients of one of them; updates two variables.
Tensors run(uint64_t seed, const Tensors& inputs, const Variable& v, const Variable& w) {
  RandomChoices random(seed);
  GradientTape tape;
  for (const Tensor& x : inputs) tape.watch(x);
  Tensors values = inputs;
  values.push_back(v.value()), values.push_back(w.value());
  values.push_back(Tensor::full({4}, 0.7)), values.push_back(Tensor(1.0));
  for (int i = 0; i < 24; ++i) {
    Tensor y = random_value_from(random, values);
    if (can_broadcast_with(values, y)) values.push_back(y);
    if (i == 12)
      v.assign(
          ops::broadcast_to(ops::mean(values[random.below(values.size())]) + v.value(), {3, 4}) *
          0.5);
    if (i == 16) values.push_back(v.value());
  }
  const Tensor last_value = values.back(), other_value = values[random.below(values.size())];
  w.assign(ops::mean(last_value) + w.value() * 0.9);
  const Tensor loss = ops::sum(ops::square(last_value)) + ops::mean(other_value);
  Tensors results{last_value, other_value, loss};
  for (const Tensor& g : tape.gradient(loss, inputs)) results.push_back(g ? g : ops::zeros({}));
  return results;
}

Tensors draw_inputs(uint64_t seed) {
  const SeedGenerator generator(static_cast<int64_t>(seed));
  Tensors inputs;
  for (const Shape& shape : kShapes) inputs.push_back(generator.uniform(shape, -1, 1));
  return inputs;
}

void expect_near(const Tensor& got, const Tensor& expected) {
  REQUIRE(got.spec() == expected.spec());
  const auto x = got.to_vector(), y = expected.to_vector();
  CHECK(farthest(x, y) <= 5e-5 * magnitude(y, 1));
}

uint64_t seed_count() {
  const char* count = std::getenv("CRESCENT_FUZZ");
  return count ? std::strtoull(count, nullptr, 10) : 60;
}

/// A device that supports a random subset of ops and features.
PickyDevice draw_device(uint64_t seed) {
  RandomChoices random(seed + 1000);
  const size_t salt = random.below(1 << 16), unsupported_share = random.below(5);
  auto random_bool = [&] { return random.below(2) == 1; };
  const Capabilities capabilities{random_bool(), random_bool(), random_bool(), random_bool(),
                                  random_bool()};
  return PickyDevice(
      [=](const Op& op) { return (op.hash() ^ salt) * 2654435761u % 4 < unsupported_share; },
      capabilities);
}

}  // namespace

TEST_CASE("random programs compute the same lowered for any device") {
  for (uint64_t seed = 1; seed <= seed_count(); ++seed) {
    INFO("seed " << seed);
    const PickyDevice picky_device = draw_device(seed);
    const Variable v(Tensor::full({3, 4}, 0.2)), w(Tensor(0.1));
    const Tensors inputs = draw_inputs(seed);
    TensorSpecs specs;
    for (const Tensor& x : inputs) specs.push_back(x.spec());
    const Program traced = trace([&](const Tensors& in) { return run(seed, in, v, w); }, specs);
    auto results_of = [&](const Program& program) {
      Tensors variables, outputs;
      for (const auto& b : program.variables) variables.push_back(b.variable.value().clone());
      for (int value : program.outputs)
        outputs.emplace_back(program.values[static_cast<size_t>(value)]);
      compile(program)->run(inputs, variables, outputs);
      outputs.insert(outputs.end(), variables.begin(), variables.end());
      return outputs;
    };
    const Tensors got =
                      results_of(lower(optimize(traced, {.device = &picky_device}), picky_device)),
                  expected = results_of(optimize(traced));
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) expect_near(got[i], expected[i]);
  }
}

TEST_CASE("random programs compute the same compiled and eager") {
  for (uint64_t seed = 1; seed <= seed_count(); ++seed) {
    INFO("seed " << seed);
    const Variable v1(Tensor::full({3, 4}, 0.2)), w1(Tensor(0.1)), v2(Tensor::full({3, 4}, 0.2)),
        w2(Tensor(0.1));
    const Function compiled([&](const Tensors& inputs) { return run(seed, inputs, v1, w1); });
    for (int step = 0; step < 2; ++step) {
      const Tensors inputs = draw_inputs(seed * 10 + static_cast<uint64_t>(step));
      const Tensors got = compiled(inputs), expected = run(seed, inputs, v2, w2);
      REQUIRE(got.size() == expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        INFO("result " << i << " of step " << step);
        expect_near(got[i], expected[i]);
      }
      expect_near(v1.value(), v2.value());
      expect_near(w1.value(), w2.value());
    }
  }
}
