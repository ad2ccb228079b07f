// Pooling, normalization, attention and recurrence, forward and backward.
#include "bench.h"
#include "crescent/program/gradient.h"

namespace crescent::bench {
namespace {

using Body = Function::Body;

/// Adds two benchmarks: forward, and forward with the gradients of all inputs.
void add_both(const std::string& name, const std::vector<Input>& inputs, const Body& body,
              Limit limit) {
  add(name + "/forward", inputs, body, limit);
  add(
      name + "/with_gradients", inputs,
      [body](const Tensors& in) {
        GradientTape tape;
        for (const Tensor& x : in) tape.watch(x);
        const Tensor y = body(in).front();
        tape.stop();
        Tensors outputs{y};
        for (const Tensor& gradient : tape.gradient(y, std::span<const Tensor>(in)))
          if (gradient) outputs.push_back(gradient);
        return outputs;
      },
      limit);
}

void add_pooling() {
  for (const Shape& shape : {Shape{128, 24, 24, 64}, Shape{128, 32, 32, 16}}) {
    const std::string size = concat(shape[1], "x", shape[2], "x", shape[3]);
    add_both(
        "pooling/max_" + size, {floats(shape)},
        [](const Tensors& in) {
          return Tensors{ops::max_pool(in[0], {2, 2}, {2, 2}, ops::Padding::valid)};
        },
        Limit::memory);
    add_both(
        "pooling/average_" + size, {floats(shape)},
        [](const Tensors& in) {
          return Tensors{ops::average_pool(in[0], {2, 2}, {2, 2}, ops::Padding::valid)};
        },
        Limit::memory);
  }
}

void add_normalization() {
  for (const Shape& shape : {Shape{128, 32, 32, 16}, Shape{128, 8, 8, 64}}) {
    const Input channels = floats({shape[-1]});
    add_both(
        concat("normalization/batch_", shape[1], "x", shape[2], "x", shape[3]),
        {floats(shape), channels, channels},
        [](const Tensors& in) {
          return Tensors{ops::batch_norm_train(in[0], in[1], in[2], 1e-3).y};
        },
        Limit::memory);
  }
  add_both(
      "normalization/layer_2048x128", {floats({2048, 128}), floats({128}), floats({128})},
      [](const Tensors& in) { return Tensors{ops::layer_norm(in[0], in[1], in[2], 1e-3)}; },
      Limit::memory);
}

void add_attention() {
  const auto add = [](const Shape& shape, bool causal) {
    const Input x = floats(shape);
    add_both(
        concat("attention/", causal ? "causal_" : "", shape[0], "x", shape[1], "x", shape[2], "x",
               shape[3]),
        {x, x, x},
        [causal](const Tensors& in) {
          return Tensors{ops::dot_product_attention(in[0], in[1], in[2], {}, 0.2, causal)};
        },
        Limit::arithmetic);
  };
  for (const Shape& shape : {Shape{32, 64, 4, 32}, Shape{4, 512, 8, 64}}) add(shape, false);
  for (const Shape& shape : {Shape{1, 1024, 8, 64}, Shape{1, 8192, 1, 64}}) add(shape, true);
}

void add_recurrence() {
  constexpr int64_t kSteps = 80, kUnits = 128;
  for (int64_t batch : {1, 32}) {
    const Input x = floats({batch, kSteps, kUnits}), state = floats({batch, kUnits});
    add_both(
        concat("recurrence/lstm_", batch),
        {x, state, state, floats({kUnits, 4 * kUnits}), floats({kUnits, 4 * kUnits}),
         floats({4 * kUnits})},
        [](const Tensors& in) {
          return Tensors{ops::lstm(in[0], in[1], in[2], in[3], in[4], in[5]).h};
        },
        Limit::arithmetic);
    add_both(
        concat("recurrence/gru_", batch),
        {x, state, floats({kUnits, 3 * kUnits}), floats({kUnits, 3 * kUnits}),
         floats({2, 3 * kUnits})},
        [](const Tensors& in) { return Tensors{ops::gru(in[0], in[1], in[2], in[3], in[4]).h}; },
        Limit::arithmetic);
  }
}

}  // namespace

void add_layer_benchmarks() {
  add_pooling();
  add_normalization();
  add_attention();
  add_recurrence();
}

}  // namespace crescent::bench
