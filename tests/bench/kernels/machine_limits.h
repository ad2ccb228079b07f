// The measured limits of the machine, with which benchmarks are compared.
#pragma once

namespace crescent::bench {

/// The rate of fused multiply-adds in registers on this many threads at once, in GFLOP/s.
double fma_peak(int threads);
/// The rate of bfloat16 products on AMX tiles in GFLOP/s; 0 without AMX.
double bf16_peak(int threads);
/// The memory bandwidth of STREAM's triad (two arrays read and one written, larger than the
/// caches), in GB/s.
double memory_bandwidth(int threads);

/// The number of cores that this process may use.
int cores();

}  // namespace crescent::bench
