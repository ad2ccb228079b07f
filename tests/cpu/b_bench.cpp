// Timings of single kernels, printed: test_cpu "[.bench]". Best of many runs.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "b_support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

int thread_count() {
  const char* text = std::getenv("CRESCENT_BENCH_THREADS");
  return text ? std::atoi(text) : 2;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void bench(const char* label, const TensorSpecs& in, const TensorSpecs& out, Kernel& kernel) {
  std::vector<Memory> memory;
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  for (const auto& spec : in) {
    memory.emplace_back(static_cast<size_t>(spec.shape.size()) * size_of(spec.dtype));
    const Array values = random(spec.shape, spec.dtype, 1, 0.1, 0.5);
    for (size_t i = 0; i < values.values.size(); ++i) {
      write(spec.dtype, values.values[i], memory.back().start + i * size_of(spec.dtype));
    }
    inputs.push_back(memory.back().start);
  }
  for (const auto& spec : out) {
    memory.emplace_back(static_cast<size_t>(spec.shape.size()) * size_of(spec.dtype));
    outputs.push_back(memory.back().start);
  }
  Memory scratch(kernel.scratch_bytes());
  cpu::Pool pool(thread_count());
  double best = 1;
  for (const double end = seconds() + 0.15; seconds() < end;) {
    const double start = seconds();
    kernel.run({inputs.data(), outputs.data(), scratch.start, pool});
    best = std::min(best, seconds() - start);
  }
  std::printf("%-34s %9.1f us %7.1f GFLOP/s  %s\n", label, best * 1e6, kernel.flops() / best * 1e-9,
              kernel.name().c_str());
}

/// The first two kernels that take the op with oneDNN, and the first without.
void bench(const char* label, Family family, const Op& op, const TensorSpecs& in, const TensorSpecs& out) {
  for (const bool onednn : {true, false}) {
    Options options;
    options.onednn = onednn;
    int left = onednn ? 2 : 1;
    for (const auto& row : family()) {
      if (op.name() != row.op || left == 0) continue;
      if (auto kernel = row.make({op, in, out, options})) bench(label, in, out, *kernel), --left;
    }
  }
}

TensorSpec f32(const Shape& shape) { return {DType::float32, shape}; }

void bench_matmul(const char* label, const Shape& a, const Shape& b, const Shape& c, bool ta, bool tb) {
  Matmul op;
  op.transpose_a = ta, op.transpose_b = tb;
  bench(label, matmul_kernels, op, {f32(a), f32(b)}, {f32(c)});
}

void bench_convolution(const char* label, const Shape& x, const Shape& kernel, int64_t stride, int64_t pad) {
  ConvSpec spec;
  spec.strides = {stride, stride}, spec.dilation = {1, 1}, spec.pad_before = {pad, pad}, spec.pad_after = {pad, pad};
  auto size = [&](int i) { return (x[i] + 2 * pad - kernel[i - 1]) / stride + 1; };
  const Shape y = {x[0], size(1), size(2), kernel[3]};
  std::printf("%s\n", label);
  Conv forward;
  forward.spec = spec, forward.bias = true, forward.epilogue = Epilogue::relu;
  bench("  forward", convolution_kernels, forward, {f32(x), f32(kernel), f32({kernel[3]})}, {f32(y)});
  ConvBackwardData data;
  data.spec = spec, data.input = x;
  bench("  backward data", convolution_kernels, data, {f32(y), f32(kernel)}, {f32(x)});
  ConvBackwardKernel gradient;
  gradient.spec = spec, gradient.kernel = kernel;
  bench("  backward kernel", convolution_kernels, gradient, {f32(x), f32(y)}, {f32(kernel)});
}

}  // namespace

TEST_CASE("time of products", "[.bench][matmul]") {
  bench_matmul("mlp 128x784x512", {128, 784}, {784, 512}, {128, 512}, false, false);
  bench_matmul("mlp 128x512x512", {128, 512}, {512, 512}, {128, 512}, false, false);
  bench_matmul("mlp 128x512x10", {128, 512}, {512, 10}, {128, 10}, false, false);
  bench_matmul("mlp dx 128x512x512'", {128, 512}, {512, 512}, {128, 512}, false, true);
  bench_matmul("mlp dx 128x10x512'", {128, 10}, {512, 10}, {128, 512}, false, true);
  bench_matmul("mlp dW 784'x128x512", {128, 784}, {128, 512}, {784, 512}, true, false);
  bench_matmul("mlp dW 512'x128x10", {128, 512}, {128, 10}, {512, 10}, true, false);
  bench_matmul("cnn 128x9216x128", {128, 9216}, {9216, 128}, {128, 128}, false, false);
  bench_matmul("cnn dx 128x128x9216'", {128, 128}, {9216, 128}, {128, 9216}, false, true);
  bench_matmul("cnn dW 9216'x128x128", {128, 9216}, {128, 128}, {9216, 128}, true, false);
  bench_matmul("transformer 2048x128x384", {2048, 128}, {128, 384}, {2048, 384}, false, false);
  bench_matmul("transformer dW 128'x2048x512", {2048, 128}, {2048, 512}, {128, 512}, true, false);
  bench_matmul("attention 128 of 64x32x64'", {128, 64, 32}, {128, 64, 32}, {128, 64, 64}, false, true);
  bench_matmul("attention 128 of 64x64x32", {128, 64, 64}, {128, 64, 32}, {128, 64, 32}, false, false);
  bench_matmul("1000 of 8x8x8", {1000, 8, 8}, {1000, 8, 8}, {1000, 8, 8}, false, false);
  bench_matmul("row 1x784x512", {1, 784}, {784, 512}, {1, 512}, false, false);
  bench_matmul("row 1x512x512'", {1, 512}, {512, 512}, {1, 512}, false, true);
  bench_matmul("row 1x9216x128", {1, 9216}, {9216, 128}, {1, 128}, false, false);
  bench_matmul("tiny 1x16x16", {1, 16}, {16, 16}, {1, 16}, false, false);
  bench_matmul("tiny 32x16x16", {32, 16}, {16, 16}, {32, 16}, false, false);
}

TEST_CASE("time of convolutions", "[.bench][conv]") {
  bench_convolution("cnn 128 of 28x28x1 -> 32", {128, 28, 28, 1}, {3, 3, 1, 32}, 1, 0);
  bench_convolution("cnn 128 of 26x26x32 -> 64", {128, 26, 26, 32}, {3, 3, 32, 64}, 1, 0);
  bench_convolution("resnet 128 of 32x32x3 -> 16", {128, 32, 32, 3}, {3, 3, 3, 16}, 1, 1);
  bench_convolution("resnet 128 of 32x32x16 -> 16", {128, 32, 32, 16}, {3, 3, 16, 16}, 1, 1);
  bench_convolution("resnet 128 of 32x32x16 -> 32 / 2", {128, 32, 32, 16}, {3, 3, 16, 32}, 2, 1);
  bench_convolution("resnet 128 of 16x16x32 -> 32", {128, 16, 16, 32}, {3, 3, 32, 32}, 1, 1);
  bench_convolution("resnet 128 of 8x8x64 -> 64", {128, 8, 8, 64}, {3, 3, 64, 64}, 1, 1);
  bench_convolution("resnet 128 of 32x32x16 -> 32 1x1 / 2", {128, 32, 32, 16}, {1, 1, 16, 32}, 2, 0);
  bench_convolution("one of 26x26x32 -> 64", {1, 26, 26, 32}, {3, 3, 32, 64}, 1, 0);
}

TEST_CASE("time of pooling and normalization", "[.bench][pool]") {
  crescent::Pool pool;
  pool.window = {2, 2}, pool.spec.strides = {2, 2}, pool.spec.dilation = {1, 1};
  pool.spec.pad_before = pool.spec.pad_after = {0, 0};
  PoolBackward backward;
  backward.window = pool.window, backward.spec = pool.spec, backward.input = {128, 24, 24, 64};
  const TensorSpec x = f32({128, 24, 24, 64}), y = f32({128, 12, 12, 64}), c = f32({64}), rows = f32({32, 64});
  bench("max pool 2x2 128 of 24x24x64", pooling_kernels, pool, {x}, {y});
  bench("  gradient", pooling_kernels, backward, {x, y}, {x});
  bench("batch norm 128 of 24x24x64", normalization_kernels, BatchNormTrain{}, {x, c, c}, {x, c, c});
  bench("  gradient", normalization_kernels, BatchNormBackward{}, {x, c, c, c, x}, {x, c, c});
  const TensorSpec s = f32({32, 64, 128}), d = f32({128});
  bench("layer norm 2048 of 128", normalization_kernels, LayerNorm{}, {s, d, d}, {s, rows, rows});
  bench("  gradient", normalization_kernels, LayerNormBackward{}, {s, d, rows, rows, s}, {s, d, d});
}

TEST_CASE("time of LSTM and GRU", "[.bench][recurrent]") {
  const TensorSpec x = f32({32, 80, 128}), h = f32({32, 128}), g4 = f32({32, 80, 512}), w4 = f32({128, 512});
  const TensorSpec w3 = f32({128, 384}), b3 = f32({2, 384}), b4 = f32({512});
  bench("lstm 32 of 80x128 -> 128", recurrent_kernels, Lstm{}, {x, h, h, w4, w4, b4}, {x, h, h, g4, x});
  bench("  gradient", recurrent_kernels, LstmBackward{}, {x, h, h, w4, w4, x, g4, x, x, h, h}, {x, h, h, w4, w4, b4});
  bench("gru 32 of 80x128 -> 128", recurrent_kernels, Gru{}, {x, h, w3, w3, b3}, {x, h, g4});
  bench("  gradient", recurrent_kernels, GruBackward{}, {x, h, w3, w3, b3, x, g4, x, h}, {x, h, w3, w3, b3});
}
