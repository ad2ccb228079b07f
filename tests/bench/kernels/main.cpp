// bench_kernels [--threads=N] [OPTIONS OF GOOGLE BENCHMARK]: --benchmark_filter=REGEX,
// --benchmark_min_time=SECONDS, ...
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "bench.h"
#include "crescent/ops/random.h"
#include "machine_limits.h"

namespace crescent::bench {
namespace {

Tensor random_array(const Input& input) {
  const Tensor uniform = SeedGenerator(1).uniform(input.spec.shape, input.low, input.high);
  return ops::cast(uniform, input.spec.dtype);
}

/// The limit in GFLOP/s or GB/s, measured at the first call. Kernels with "bf16x3" in their name
/// compute a float32 product as six bfloat16 products on AMX tiles.
double limit_of(Limit limit, DType dtype, const std::string& kernel) {
  static const double memory = memory_bandwidth(threads()), fma = fma_peak(threads()),
                      bf16 = bf16_peak(threads());
  if (limit == Limit::memory) return memory;
  if (kernel.find("bf16x3") != kernel.npos) return bf16 / 6;
  return dtype == DType::bfloat16 && bf16 > 0 ? bf16 : fma;
}

/// Profiles one run: how much it computes and moves, how its work is divided, and which kernel
/// takes most of the time.
ProfileEntry profile_of(const Function& f, const Tensors& inputs) {
  constexpr double kRuns = 5;
  const auto executable = f.executable(inputs);
  executable->profile(true);
  for (int run = 0; run < kRuns; ++run) f(inputs);
  executable->profile(false);
  ProfileEntry total;
  for (const ProfileEntry& row : executable->rows()) {
    if (row.seconds >= total.seconds) {
      total.kernel = row.kernel, total.seconds = row.seconds;
      total.parts = row.parts, total.largest_part = row.largest_part;
    }
    total.flops += row.flops / kRuns;
    total.bytes += row.bytes / kRuns;
    for (size_t c = 0; c < kProfiledCores.size(); ++c) total.seconds_on[c] += row.seconds_on[c];
  }
  return total;
}

/// Reports upper bounds of the speedup on several cores, which follow from how the work is divided
/// into parts.
void report_speedups(benchmark::State& state, const ProfileEntry& row) {
  state.counters["parts"] = static_cast<double>(row.parts);
  state.counters["largest_%"] = 100 * row.largest_part;
  for (size_t c = 1; c < kProfiledCores.size(); ++c)
    state.counters[concat("x", kProfiledCores[c])] = row.seconds_on[0] / row.seconds_on[c];
}

void measure(benchmark::State& state, const std::vector<Input>& specs, const Function& f,
             Limit limit) {
  Tensors inputs, outputs;
  for (const Input& input : specs) inputs.push_back(random_array(input));
  f(inputs);
  const ProfileEntry row = profile_of(f, inputs);
  const auto begin = std::chrono::steady_clock::now();
  for (auto _ : state) f.call(inputs, outputs);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double rate = (limit == Limit::memory ? row.bytes : row.flops) *
                      static_cast<double>(state.iterations()) / seconds / 1e9;
  state.counters[limit == Limit::memory ? "GB/s" : "GFLOP/s"] = rate;
  state.counters["of_limit_%"] = 100 * rate / limit_of(limit, inputs.front().dtype(), row.kernel);
  report_speedups(state, row);
  state.SetLabel(row.kernel);
}

}  // namespace

int threads() { return static_cast<int>(device().information().at("threads").as_int()); }

void add(const std::string& name, const std::vector<Input>& inputs, const Function::Body& body,
         Limit limit, OptimizeOptions options) {
  const Function f(body, options);
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) { measure(state, inputs, f, limit); })
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace crescent::bench

int main(int argc, char** argv) {
  using namespace crescent;
  constexpr std::string_view kThreads = "--threads=";
  char** end = std::remove_if(argv + 1, argv + argc, [&](const char* argument) {
    if (!std::string_view(argument).starts_with(kThreads)) return false;
    set_device("cpu", {{"threads", std::atoi(argument + kThreads.size())}});
    return true;
  });
  argc = static_cast<int>(end - argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::add_products();
  bench::add_convolutions();
  bench::add_elementwise();
  bench::add_layer_benchmarks();
  bench::add_overheads();
  benchmark::RunSpecifiedBenchmarks();
}
