// bench_limits [THREADS]: prints the limits of the machine as "name value unit", for this many
// threads (by default all cores) and for one.
#include <cstdio>
#include <cstdlib>

#include "machine_limits.h"

using namespace crescent::bench;

namespace {

void print(const char* name, double value, const char* unit) {
  if (value > 0) std::printf("%-32s %14.3f %s\n", name, value, unit);
}

}  // namespace

int main(int argc, char** argv) {
  const int argument = argc > 1 ? std::atoi(argv[1]) : 0,
            threads = argument > 0 ? argument : cores();
  print("fma_peak", fma_peak(threads), "GFLOP/s");
  print("fma_peak_1", fma_peak(1), "GFLOP/s");
  print("bf16_peak", bf16_peak(threads), "GFLOP/s");
  print("bf16_peak_1", bf16_peak(1), "GFLOP/s");
  print("memory_bandwidth", memory_bandwidth(threads), "GB/s");
}
