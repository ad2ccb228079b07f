// Timings of the own loops, for people: test_cpu "[.bench]".
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "crescent/ops.h"
#include "crescent/program.h"
#include "device.h"

using namespace crescent;

namespace {

void time_program(const char* name, const std::function<Tensors(const Tensors&)>& f, const TensorSpecs& specs, double bytes) {
  cpu::CpuDevice device;
  device.set_threads(2);
  Program program = optimize(trace(f, specs));
  auto executable = device.compile(program);
  Tensors inputs, outputs, none;
  for (const TensorSpec& spec : specs) inputs.push_back(Tensor::full(spec.shape, 0.5, spec.dtype));
  for (int value : program.outputs) outputs.emplace_back(program.values[static_cast<size_t>(value)]);
  double best = 1e9, best_work = 1e9;
  for (int round = 0; round < 60; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t work = std::clock();
    for (int i = 0; i < 5; ++i) executable->run(inputs, none, outputs);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 5);
    best_work = std::min(best_work, static_cast<double>(std::clock() - work) / CLOCKS_PER_SEC / 5);
  }
  std::printf("%-28s %9.2f us %8.2f GB/s  %9.2f us of processors, %zu instructions\n", name, best * 1e6, bytes / best * 1e-9,
              best_work * 1e6, program.code.size());
}

TensorSpec floats(const Shape& shape) { return {DType::float32, shape}; }

}  // namespace

TEST_CASE("timings of the own loops", "[.bench]") {
  const double million = 1 << 20;
  auto adam = [](const Tensors& in) {
    const Tensor &p = in[0], &m = in[1], &v = in[2], &g = in[3], &t = in[4];
    Tensor rate = 0.001 * ops::sqrt(1.0 - ops::power(0.999, t)) / (1.0 - ops::power(0.9, t));
    Tensor m2 = m + (g - m) * 0.1, v2 = v + (ops::square(g) - v) * 0.001;
    return Tensors{p - m2 * rate / (ops::sqrt(v2) + 1e-7), m2, v2};
  };
  const TensorSpec wide = floats({670000});
  time_program("adam 670k", adam, {wide, wide, wide, wide, floats({})}, 670000.0 * 28);
  time_program("add 16", [](const Tensors& in) { return Tensors{in[0] + in[1]}; }, {floats({16}), floats({16})}, 192);
  time_program("add 1M", [](const Tensors& in) { return Tensors{in[0] + in[1]}; }, {floats({1 << 20}), floats({1 << 20})}, 12 * million);
  time_program("bias relu 128x512", [](const Tensors& in) { return Tensors{ops::relu(in[0] + in[1])}; }, {floats({128, 512}), floats({512})}, 8.0 * 128 * 512);
  time_program("bias 10000x32", [](const Tensors& in) { return Tensors{in[0] + in[1]}; }, {floats({10000, 32}), floats({32})}, 8.0 * 10000 * 32);
  time_program("exp 1M", [](const Tensors& in) { return Tensors{ops::exp(in[0])}; }, {floats({1 << 20})}, 8 * million);
  time_program("tanh 1M", [](const Tensors& in) { return Tensors{ops::tanh(in[0])}; }, {floats({1 << 20})}, 8 * million);
  time_program("sigmoid 1M", [](const Tensors& in) { return Tensors{ops::sigmoid(in[0])}; }, {floats({1 << 20})}, 8 * million);
  time_program("log 1M", [](const Tensors& in) { return Tensors{ops::log(in[0])}; }, {floats({1 << 20})}, 8 * million);
  time_program("erf 1M", [](const Tensors& in) { return Tensors{ops::erf(in[0])}; }, {floats({1 << 20})}, 8 * million);
  time_program("greater+where 1M", [](const Tensors& in) { return Tensors{ops::where(ops::greater(in[0], 0.3), in[0], 0.0)}; }, {floats({1 << 20})}, 8 * million);
  time_program("sum 1M", [](const Tensors& in) { return Tensors{ops::sum(in[0])}; }, {floats({1 << 20})}, 4 * million);
  time_program("sum rows 8192x128", [](const Tensors& in) { return Tensors{ops::sum(in[0], {1})}; }, {floats({8192, 128})}, 4 * million);
  time_program("sum columns 8192x128", [](const Tensors& in) { return Tensors{ops::sum(in[0], {0})}; }, {floats({8192, 128})}, 4 * million);
  time_program("sum columns 32768x32", [](const Tensors& in) { return Tensors{ops::sum(in[0], {0})}; }, {floats({32768, 32})}, 4 * million);
  time_program("sum rows 104857x10", [](const Tensors& in) { return Tensors{ops::sum(in[0], {1})}; }, {floats({104857, 10})}, 4 * million);
  time_program("max 1M", [](const Tensors& in) { return Tensors{ops::max(in[0])}; }, {floats({1 << 20})}, 4 * million);
  time_program("softmax 128x10", [](const Tensors& in) { return Tensors{ops::softmax(in[0])}; }, {floats({128, 10})}, 8.0 * 1280);
  time_program("softmax 2048x512", [](const Tensors& in) { return Tensors{ops::softmax(in[0])}; }, {floats({2048, 512})}, 8 * million);
  time_program("argmax 128x10", [](const Tensors& in) { return Tensors{ops::argmax(in[0])}; }, {floats({128, 10})}, 4.0 * 1280);
  time_program("transpose 1024x1024", [](const Tensors& in) { return Tensors{ops::transpose(in[0])}; }, {floats({1024, 1024})}, 8 * million);
  time_program("heads 32x128x8x32", [](const Tensors& in) { return Tensors{ops::transpose(in[0], {0, 2, 1, 3})}; }, {floats({32, 128, 8, 32})}, 8 * million);
  time_program("concat 2 x 128x4096", [](const Tensors& in) { return Tensors{ops::concatenate(in)}; }, {floats({128, 4096}), floats({128, 4096})}, 8 * million);
  time_program("gather 2560 of 20000x128", [](const Tensors& in) { return Tensors{ops::take(in[0], in[1])}; },
               {floats({20000, 128}), {DType::int32, {2560}}}, 8.0 * 2560 * 128);
  for (RandomKind kind : {RandomKind::uniform, RandomKind::normal, RandomKind::truncated_normal}) {
    auto draw = [kind](const Tensors& in) {
      Random op;
      op.kind = kind, op.shape = {1 << 20};
      return Tensors{apply1(op, {in[0]})};
    };
    time_program(kind == RandomKind::uniform ? "uniform 1M" : kind == RandomKind::normal ? "normal 1M" : "truncated 1M", draw, {{DType::int64, {2}}}, 4 * million);
  }
}
