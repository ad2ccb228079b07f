// Kernels that are limited by memory bandwidth: elementwise ops and fused chains, reductions, data
// movement, softmax, random numbers.
#include "bench.h"
#include "crescent/layer/training.h"

namespace crescent::bench {
namespace {

using Body = Function::Body;

constexpr int64_t kMillion = 1 << 20;

template <class F>
Body unary_body(F f) {
  return [f](const Tensors& in) { return Tensors{f(in[0])}; };
}

void add_unary() {
  const std::pair<const char*, Tensor (*)(const Tensor&)> kFunctions[] = {
      {"relu", ops::relu},       {"exp", ops::exp}, {"tanh", ops::tanh},
      {"sigmoid", ops::sigmoid}, {"log", ops::log}, {"erf", ops::erf}};
  for (const auto& [name, f] : kFunctions)
    add(concat("elementwise/", name, "_1M"), {floats({kMillion})}, unary_body(f), Limit::memory);
}

void add_chains() {
  auto sum = [](const Tensors& in) { return Tensors{in[0] + in[1]}; };
  add("elementwise/add_16", {floats({16}), floats({16})}, sum, Limit::memory);
  add("elementwise/add_1M", {floats({kMillion}), floats({kMillion})}, sum, Limit::memory);
  add("elementwise/add_16M", {floats({16 * kMillion}), floats({16 * kMillion})}, sum,
      Limit::memory);
  add("elementwise/add_bf16_1M", {bfloats({kMillion}), bfloats({kMillion})}, sum, Limit::memory);
  add("elementwise/bias_10000x32", {floats({10000, 32}), floats({32})}, sum, Limit::memory);
  add(
      "elementwise/bias_relu_128x512", {floats({128, 512}), floats({512})},
      [](const Tensors& in) { return Tensors{ops::relu(in[0] + in[1])}; }, Limit::memory);
  add("elementwise/select_1M", {floats({kMillion})},
      unary_body([](const Tensor& x) { return ops::where(ops::greater(x, 0.3), x, 0.0); }),
      Limit::memory);
  add("elementwise/gelu_1M", {floats({kMillion})},
      unary_body([](const Tensor& x) { return ops::gelu(x, false); }), Limit::memory);
  add("elementwise/cast_to_bf16_1M", {floats({kMillion})},
      unary_body([](const Tensor& x) { return ops::cast(x, DType::bfloat16); }), Limit::memory);
}

/// A whole weight update of an optimizer: reads gradients, changes weights and slots in place.
void add_optimizer(const char* name, const Shape& shape) {
  auto optimizer = make<Optimizer>(name);
  const Variable variable(Tensor::full(shape, 0.1));
  optimizer->build({variable});
  add(
      concat("optimizer/", to_snake_case(name), "_", shape.size()), {floats(shape)},
      [=](const Tensors& in) {
        optimizer->apply(in, {variable});
        return Tensors{};
      },
      Limit::memory);
}

void add_reductions() {
  add("reduction/sum_1M", {floats({kMillion})},
      unary_body([](const Tensor& x) { return ops::sum(x); }), Limit::memory);
  add("reduction/max_1M", {floats({kMillion})},
      unary_body([](const Tensor& x) { return ops::max(x); }), Limit::memory);
  for (const Shape& shape : {Shape{8192, 128}, Shape{32768, 32}, Shape{104857, 10}})
    for (int axis : {0, 1})
      add(concat("reduction/", axis == 0 ? "columns_" : "rows_", shape[0], "x", shape[1]),
          {floats(shape)}, unary_body([axis](const Tensor& x) { return ops::sum(x, {axis}); }),
          Limit::memory);
  add("reduction/argmax_128x10", {floats({128, 10})},
      unary_body([](const Tensor& x) { return ops::argmax(x, -1); }), Limit::memory);
}

void add_moves() {
  add("move/transpose_1024x1024", {floats({1024, 1024})},
      unary_body([](const Tensor& x) { return ops::transpose(x); }), Limit::memory);
  add("move/heads_32x64x4x32", {floats({32, 64, 4, 32})}, unary_body([](const Tensor& x) {
        return ops::transpose(x, {0, 2, 1, 3});
      }),
      Limit::memory);
  add(
      "move/concatenate_2_of_128x4096", {floats({128, 4096}), floats({128, 4096})},
      [](const Tensors& in) { return Tensors{ops::concatenate(in, -1)}; }, Limit::memory);
  add(
      "move/gather_2560_of_20000x128", {floats({20000, 128}), integers({2560}, 20000)},
      [](const Tensors& in) { return Tensors{ops::gather(in[0], in[1])}; }, Limit::memory);
  add(
      "move/scatter_2560_into_20000x128", {integers({2560}, 20000), floats({2560, 128})},
      [](const Tensors& in) {
        ScatterAdd op;
        op.size = 20000;
        return Tensors{apply1(op, {in[0], in[1]})};
      },
      Limit::memory);
}

void add_softmax() {
  for (const Shape& shape : {Shape{128, 10}, Shape{2048, 512}, Shape{8192, 64}})
    add(concat("softmax/", shape[0], "x", shape[1]), {floats(shape)},
        unary_body([](const Tensor& x) { return ops::softmax(x); }), Limit::memory);
  add(
      "softmax/cross_entropy_128x10", {floats({128, 10}), integers({128}, 10)},
      [](const Tensors& in) { return Tensors{ops::sparse_softmax_cross_entropy(in[0], in[1])}; },
      Limit::memory);
}

void add_random() {
  const std::pair<const char*, RandomKind> kKinds[] = {
      {"uniform", RandomKind::uniform},
      {"normal", RandomKind::normal},
      {"truncated_normal", RandomKind::truncated_normal}};
  for (const auto& [name, kind] : kKinds) {
    Random op;
    op.kind = kind, op.shape = {kMillion};
    add(concat("random/", name, "_1M"), {{{DType::int64, {2}}}},
        unary_body([op](const Tensor& s) { return apply1(op, {s}); }), Limit::memory);
  }
}

}  // namespace

void add_elementwise() {
  add_unary();
  add_chains();
  add_optimizer("SGD", {kMillion});
  add_optimizer("Adam", {kMillion});
  add_optimizer("Adam", {512});
  for (const char* name : {"SGD", "RMSprop", "Adam", "AdamW", "Lion"})
    add_optimizer(name, {8 * kMillion});
  add_reductions();
  add_moves();
  add_softmax();
  add_random();
}

}  // namespace crescent::bench
