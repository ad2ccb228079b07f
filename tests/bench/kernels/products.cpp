// The matrix products of the benchmark workloads, with all combinations of transposed operands, in
// float32 and bfloat16.
#include "bench.h"

namespace crescent::bench {
namespace {

struct Product {
  const char* name;
  Shape a, b;
  bool transpose_a = false, transpose_b = false;
};

const Product kProducts[] = {
    {"mlp_forward", {128, 784}, {784, 512}},
    {"mlp_hidden", {128, 512}, {512, 512}},
    {"mlp_top", {128, 512}, {512, 10}},
    {"mlp_hidden_dx", {128, 512}, {512, 512}, false, true},
    {"mlp_top_dx", {128, 10}, {512, 10}, false, true},
    {"mlp_dw", {128, 784}, {128, 512}, true, false},
    {"mlp_top_dw", {128, 512}, {128, 10}, true, false},
    {"cnn_forward", {128, 9216}, {9216, 128}},
    {"cnn_dx", {128, 128}, {9216, 128}, false, true},
    {"cnn_dw", {128, 9216}, {128, 128}, true, false},
    {"transformer_forward", {2048, 128}, {128, 512}},
    {"transformer_dx", {2048, 512}, {128, 512}, false, true},
    {"transformer_dw", {2048, 128}, {2048, 512}, true, false},
    {"attention_scores", {128, 64, 32}, {128, 64, 32}, false, true},
    {"attention_context", {128, 64, 64}, {128, 64, 32}},
    {"both_transposed", {512, 512}, {512, 512}, true, true},
    {"square_1024", {1024, 1024}, {1024, 1024}},
    {"stack_of_8x8", {1000, 8, 8}, {1000, 8, 8}},
    {"row_784x512", {1, 784}, {784, 512}},
    {"row_512x512_transposed", {1, 512}, {512, 512}, false, true},
    {"row_9216x128", {1, 9216}, {9216, 128}},
    {"tiny_16x16", {1, 16}, {16, 16}},
};

/// y = relu(x w + b) with constant weights, as in predict.
void add_packed(const char* name, int64_t rows, int64_t depth, int64_t columns) {
  const Variable w(Tensor::full({depth, columns}, 0.01)), b(Tensor::full({columns}, 0.1));
  add(name, {floats({rows, depth})},
      [=](const Tensors& in) { return Tensors{ops::relu(ops::matmul(in[0], w) + b)}; },
      Limit::arithmetic, {.inference = true});
}

}  // namespace

void add_products() {
  for (const Product& p : kProducts) {
    auto body = [=](const Tensors& in) {
      return Tensors{ops::matmul(in[0], in[1], p.transpose_a, p.transpose_b)};
    };
    add(concat("product/", p.name), {floats(p.a), floats(p.b)}, body, Limit::arithmetic);
    add(concat("product_bf16/", p.name), {bfloats(p.a), bfloats(p.b)}, body, Limit::arithmetic);
  }
  add_packed("product/dense_1", 1, 784, 512);
  add_packed("product/dense_256", 256, 784, 512);
}

}  // namespace crescent::bench
