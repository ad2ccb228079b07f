// Measures the peak performance of the machine, with which benchmark results are compared.
#pragma once

namespace crescent::bench {

/// Fused multiply-adds in registers on this number of threads at once, in GFLOP/s.
double fma_peak(int threads);
/// bfloat16 products on AMX tiles, in GFLOP/s; 0 without AMX.
double bf16_peak(int threads);
/// The memory bandwidth of STREAM's triad (two arrays read and one written, larger than the
/// caches), in GB/s.
double memory_bandwidth(int threads);

/// The number of cores that this process may use.
int cores();

}  // namespace crescent::bench
