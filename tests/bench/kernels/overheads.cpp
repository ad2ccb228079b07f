// Fixed costs: a parallel region of the thread pool, a compiled call and an eager op, each with no
// work to do. The reported figure is the time.
#include <benchmark/benchmark.h>

#include "bench.h"
#include "threads/pool.h"

namespace crescent::bench {
namespace {

void measure_parallel_region(benchmark::State& state) {
  cpu::Pool pool(threads());
  for (auto _ : state)
    pool.parallel(pool.threads(), [](int64_t part, int) { benchmark::DoNotOptimize(part); });
}

void measure_compiled_call(benchmark::State& state) {
  const Function f([](const Tensors& in) { return Tensors{in[0] + 1.0}; });
  const Tensors inputs{Tensor::full({1}, 1)};
  Tensors outputs;
  for (auto _ : state) f.call(inputs, outputs);
}

void measure_instructions(benchmark::State& state) {
  constexpr int kInstructions = 100;
  const Function f([](const Tensors& in) {
    Tensor y = in[0];
    for (int i = 0; i < kInstructions; ++i) y = ops::matmul(y, in[0]);
    return Tensors{y};
  });
  const Tensors inputs{Tensor::full({1, 1}, 1)};
  Tensors outputs;
  for (auto _ : state) f.call(inputs, outputs);
}

void measure_eager_op(benchmark::State& state) {
  const Tensor x = Tensor::full({1}, 1);
  for (auto _ : state) benchmark::DoNotOptimize(x + x);
}

}  // namespace

void add_overheads() {
  const std::pair<const char*, void (*)(benchmark::State&)> kBenchmarks[] = {
      {"region", measure_parallel_region},
      {"compiled_call", measure_compiled_call},
      {"100_instructions", measure_instructions},
      {"eager_op", measure_eager_op}};
  for (const auto& [name, f] : kBenchmarks)
    benchmark::RegisterBenchmark(concat("overhead/", name).c_str(), f)->UseRealTime();
}

}  // namespace crescent::bench
