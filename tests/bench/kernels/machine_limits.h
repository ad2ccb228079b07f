// What the machine can do at best, measured: the limit beside every figure.
#pragma once

namespace crescent::bench {

/// Fused multiply-adds in registers on so many threads at once, in GFLOP/s.
double fma_peak(int threads);
/// The same of bfloat16 products on AMX tiles; 0 without them.
double bf16_peak(int threads);
/// Two arrays read and one written, larger than caches (STREAM's triad), in GB/s.
double memory_bandwidth(int threads);

/// Cores that this process may use.
int cores();

}  // namespace crescent::bench
