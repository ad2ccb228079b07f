// Random convolutional and recurrent networks: compiled training steps and predictions are compared
// with eager ones.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "crescent/program/gradient.h"
#include "crescent/program/program.h"
#include "distance.h"

using namespace crescent;
using ops::Padding;

namespace {

/// Draws layers and creates their variables at first use; two networks with the same seed have
/// equal values.
class Network {
 public:
  explicit Network(uint64_t seed) : seed_(seed), generator_(static_cast<int64_t>(seed)) {}

  Tensor operator()(const Tensor& x, bool training) {
    next_choice_ = next_weight_ = 0;
    Tensor y = x;
    for (int i = 0; i < 5; ++i) y = layer(y, training);
    y = choose_below(2) ? ops::mean(y, {1, 2}) : ops::flatten(y);
    return ops::matmul(y, weight({y.dim(-1), 3})) + weight({3});
  }

  Tensor train(const Tensor& x, const Tensor& labels) {
    GradientTape tape;
    const Tensor loss = ops::mean(ops::sparse_softmax_cross_entropy((*this)(x, true), labels));
    const Tensors g = tape.gradient(loss, weights_);
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (g[i]) weights_[i].assign_sub(g[i] * 0.05);
    }
    return loss;
  }
  const Variables& weights() const { return weights_; }

 private:
  size_t choose_below(size_t n) { return philox(seed_, 1, next_choice_++).word[0] % n; }

  const Variable& weight(const Shape& shape) {
    NoTrace no_trace;
    if (next_weight_ == weights_.size())
      weights_.emplace_back(generator_.uniform(shape, -0.5, 0.5));
    return weights_[next_weight_++];
  }

  Tensor activated(const Tensor& x) {
    switch (choose_below(5)) {
      case 0:
        return ops::tanh(x);
      case 1:
        return ops::sigmoid(x);
      case 2:
        return ops::silu(x);
      case 3:
        return x;
      default:
        return ops::relu(x);
    }
  }

  Tensor normalized(const Tensor& x, bool training) {
    const Shape channels{x.dim(-1)};
    const Tensor gamma = weight(channels).value() + 1.0, beta = weight(channels);
    const Tensor mean = weight(channels), variance = ops::square(weight(channels));
    if (training) return ops::batch_norm_train(x, gamma, beta, 1e-3).y;
    return (x - mean) * (gamma * ops::rsqrt(variance + 1e-3)) + beta;
  }

  Tensor layer(const Tensor& x, bool training) {
    const int64_t channels = x.dim(-1);
    const Padding padding =
        choose_below(2) && x.dim(1) > 3 && x.dim(2) > 3 ? Padding::valid : Padding::same;
    switch (choose_below(7)) {
      case 0:
        return ops::max_pool(x, {2}, {static_cast<int64_t>(1 + choose_below(2))}, Padding::same);
      case 1:
        return ops::average_pool(x, {2}, {1}, Padding::same);
      case 2:
        return normalized(x, training);
      case 3:
        return activated(
            x + activated(ops::conv(x, weight({3, 3, channels, channels}), {1}, Padding::same)));
      case 4: {
        const Tensor parts[] = {
            x,
            activated(ops::conv(x, weight({1, 1, channels, 2}), {1}, Padding::same) + weight({2}))};
        return ops::concatenate(parts, -1);
      }
      case 5:
        return activated(ops::conv(x, weight({3, 3, 1, channels}), {1}, padding, {1}, channels) +
                         weight({channels}));
      default: {
        const Tensor y = ops::conv(x, weight({3, 3, channels, 4}),
                                   {static_cast<int64_t>(1 + choose_below(2))}, padding);
        return activated(choose_below(2) ? normalized(y, training) : y + weight({4}));
      }
    }
  }

  uint64_t seed_, next_choice_ = 0;
  size_t next_weight_ = 0;
  SeedGenerator generator_;
  Variables weights_;
};

double distance(const Tensor& a, const Tensor& b) {
  REQUIRE(a.spec() == b.spec());
  const auto x = a.to_vector(), y = b.to_vector();
  return farthest(x, y) / magnitude(y, 1);
}

uint64_t seed_count() {
  const char* count = std::getenv("CRESCENT_FUZZ");
  return count ? std::strtoull(count, nullptr, 10) : 25;
}

}  // namespace

TEST_CASE("random convolutional networks train and predict the same compiled and eager") {
  for (uint64_t seed = 1; seed <= seed_count(); ++seed) {
    INFO("seed " << seed);
    Network compiled(seed), eager(seed);
    const SeedGenerator generator(static_cast<int64_t>(seed) + 1000);
    const Tensor x = generator.normal({4, 6, 6, 3}),
                 labels = Tensor::from(std::vector<int32_t>{0, 1, 2, 1}, {4});
    const Function step([&](const Tensors& in) { return Tensors{compiled.train(in[0], in[1])}; });
    OptimizeOptions options;
    options.inference = true;
    const Function predict([&](const Tensors& in) { return Tensors{compiled(in[0], false)}; },
                           options);
    for (int i = 0; i < 2; ++i) {
      CHECK(distance(step({x, labels})[0], eager.train(x, labels)) <= 2e-4);
      CHECK(distance(predict({x})[0], eager(x, false)) <= 2e-4);
    }
    REQUIRE(compiled.weights().size() == eager.weights().size());
    for (size_t w = 0; w < eager.weights().size(); ++w) {
      CHECK(distance(compiled.weights()[w].value(), eager.weights()[w].value()) <= 2e-4);
    }
  }
}

TEST_CASE("random recurrent bodies give the same compiled and eager, with gradients") {
  for (uint64_t seed = 1; seed <= seed_count(); ++seed) {
    INFO("seed " << seed);
    const SeedGenerator generator(static_cast<int64_t>(seed));
    const Tensors inputs{generator.normal({2, 3}), generator.normal({5, 2, 3}),
                         generator.normal({3, 3}), generator.normal({3})};
    auto run = [&](const Tensors& in) {
      uint64_t next_choice = 0;
      auto choose_below = [&](size_t n) { return philox(seed, 2, next_choice++).word[0] % n; };
      GradientTape tape;
      for (const Tensor& t : in) tape.watch(t);
      auto scanned = ops::scan(
          [&](const Tensors& state, const Tensors& step) -> ops::ScanResult {
            Tensor h = state[0];
            const Tensor &x = step[0], &w = in[2], &b = in[3];
            for (int i = 0; i < 4; ++i) {
              switch (choose_below(6)) {
                case 0:
                  h = ops::tanh(ops::matmul(h, w) + b);
                  break;
                case 1:
                  h = h * ops::sigmoid(x) + x * 0.5;
                  break;
                case 2:
                  h = ops::where(ops::greater(x, 0.0), h, state[0]);
                  break;
                case 3:
                  h = ops::tanh(h + ops::matmul(x, ops::transpose(w)));
                  break;
                case 4:
                  h = h * ops::softmax(b);
                  break;
                default:
                  h = h - ops::mean(h, {1}, true);
                  break;
              }
            }
            return {{h}, {choose_below(2) ? h * 2.0 : x * h}};
          },
          {in[0]}, {in[1]}, choose_below(2) == 1);
      const Tensor loss =
          ops::sum(ops::square(scanned.states[0])) + ops::sum(ops::sin(scanned.outputs[0]));
      Tensors results{loss, scanned.states[0], scanned.outputs[0]};
      for (const Tensor& g : tape.gradient(loss, in)) results.push_back(g ? g : ops::zeros({}));
      return results;
    };
    const Tensors got = Function(run)(inputs), expected = run(inputs);
    for (size_t i = 0; i < got.size(); ++i) CHECK(distance(got[i], expected[i]) <= 1e-4);
  }
}
