#include "machine_limits.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "machine_limits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace crescent::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The number of independent chains of multiply-adds: enough to keep two arithmetic units with a
/// latency of four cycles busy, and few enough to fit in registers.
constexpr int kChains = 12;

/// Runs chains of multiply-adds; returns the number of floating-point operations done.
double multiply_add(int64_t rounds, float* result) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999f), term = hn::Set(d, 0.001f);
  hn::Vec<decltype(d)> sums[kChains];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (int64_t i = 0; i < rounds; ++i)
    for (auto& sum : sums) sum = hn::MulAdd(sum, factor, term);
  auto total = sums[0];
  for (int c = 1; c < kChains; ++c) total = hn::Add(total, sums[c]);
  *result = hn::GetLane(total);
  return 2.0 * kChains * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

/// a = b + 0.5 c on arrays larger than the caches.
void triad(float* HWY_RESTRICT a, const float* HWY_RESTRICT b, const float* HWY_RESTRICT c,
           size_t count) {
  const hn::ScalableTag<float> d;
  const auto half = hn::Set(d, 0.5f);
  for (size_t i = 0; i < count; i += hn::Lanes(d))
    hn::Stream(hn::MulAdd(hn::Load(d, c + i), half, hn::Load(d, b + i)), d, a + i);
}

}  // namespace crescent::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace crescent::bench {
HWY_EXPORT(multiply_add);
HWY_EXPORT(triad);
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRepetitions = 20;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Lets all threads call `run_work` at once, several times; returns the best rate. The rate is the
/// work of all threads, divided by the seconds of the slowest thread.
double best_rate(int threads, const std::function<double(int thread)>& run_work) {
  double best = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    std::vector<double> amounts(static_cast<size_t>(threads)), seconds(amounts);
    std::atomic<int> threads_to_start = threads;
    auto run = [&](int thread) {
      --threads_to_start;
      while (threads_to_start > 0) std::this_thread::yield();
      const auto begin = Clock::now();
      amounts[static_cast<size_t>(thread)] = run_work(thread);
      seconds[static_cast<size_t>(thread)] = seconds_since(begin);
    };
    std::vector<std::jthread> other_threads;
    for (int thread = 1; thread < threads; ++thread) other_threads.emplace_back(run, thread);
    run(0);
    other_threads.clear();
    double total = 0;
    for (double amount : amounts) total += amount;
    best = std::max(best, total / *std::max_element(seconds.begin(), seconds.end()));
  }
  return best;
}

// ---- AMX
#if defined(__x86_64__)
constexpr int kTileRows = 16, kTileRowBytes = 64;

bool has_amx() {
  constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;
  constexpr long kRequestPermission = 0x1023,
                 kTileData = 18;  // code for arch_prctl: Linux permits AMX tiles only on request
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & kAmxBf16) || !(d & kAmxTile)) return false;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// The operand of ldtilecfg: all eight tiles at full size.
struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
  constexpr TileShapes() {
    for (int tile = 0; tile < 8; ++tile) row_bytes[tile] = kTileRowBytes, rows[tile] = kTileRows;
  }
};

/// Multiplies two by two tiles into four sums and returns the number of floating-point operations.
__attribute__((target("amx-tile,amx-bf16"))) double multiply_tiles(int64_t rounds) {
  static constexpr TileShapes
      kShapes;  // static, because GCC 12 does not see that these instructions read memory
  static constexpr uint8_t kZeros[kTileRows * kTileRowBytes] = {};
  _tile_loadconfig(&kShapes);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, kZeros, kTileRowBytes);
  _tile_loadd(5, kZeros, kTileRowBytes);
  _tile_loadd(6, kZeros, kTileRowBytes);
  _tile_loadd(7, kZeros, kTileRowBytes);
  for (int64_t i = 0; i < rounds; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return 4 * 2.0 * kTileRows * (kTileRowBytes / 4) * (kTileRowBytes / 2) *
         static_cast<double>(rounds);
}
#else
bool has_amx() { return false; }
double multiply_tiles(int64_t) { return 0; }
#endif

}  // namespace

int cores() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

double fma_peak(int threads) {
  constexpr int64_t kRounds = 5'000'000;  // rounds that take about 10 ms
  return best_rate(threads,
                   [](int) {
                     volatile float result;
                     float value;
                     const double flops = HWY_DYNAMIC_DISPATCH(multiply_add)(kRounds, &value);
                     result = value;
                     static_cast<void>(result);
                     return flops;
                   }) /
         1e9;
}

double bf16_peak(int threads) {
  constexpr int64_t kRounds = 500'000;
  return has_amx() ? best_rate(threads, [](int) { return multiply_tiles(kRounds); }) / 1e9 : 0;
}

double memory_bandwidth(int threads) {
  constexpr size_t kCount = size_t{1} << 25, kAlignment = 64;  // floats per array: 128 MiB
  const size_t part_size = kCount / static_cast<size_t>(threads) / kAlignment * kAlignment;
  struct FreeArray {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t{kAlignment}); }
  };
  std::unique_ptr<float[], FreeArray> arrays[3];
  for (auto& array : arrays) {
    array.reset(new (std::align_val_t{kAlignment}) float[kCount]);
    std::fill_n(array.get(), kCount, 1.0f);
  }
  return best_rate(threads,
                   [&](int thread) {
                     const size_t begin = static_cast<size_t>(thread) * part_size;
                     HWY_DYNAMIC_DISPATCH(triad)
                     (arrays[0].get() + begin, arrays[1].get() + begin, arrays[2].get() + begin,
                      part_size);
                     return 3.0 * sizeof(float) * static_cast<double>(part_size);
                   }) /
         1e9;
}

}  // namespace crescent::bench
#endif
