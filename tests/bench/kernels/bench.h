// Micro-benchmarks of kernels: a function is compiled as part of a step, and the device runs it on
// random arrays. Each benchmark reports GFLOP/s or GB/s and its share of the machine's limit; more
// than 100 % of the memory bandwidth means that the data was in caches.
#pragma once
#include <string>
#include <vector>

#include "crescent/ops/ops.h"
#include "crescent/program/program.h"

namespace crescent::bench {

struct Input {
  TensorSpec spec;
  double low = 0, high = 1;  ///< bounds of the uniformly distributed values
};
inline Input floats(const Shape& shape) { return {{DType::float32, shape}}; }
inline Input bfloats(const Shape& shape) { return {{DType::bfloat16, shape}}; }
inline Input integers(const Shape& shape, int64_t limit) {
  return {{DType::int32, shape}, 0, static_cast<double>(limit)};
}

/// The limit of the machine with which a benchmark is compared. Limit::arithmetic is the peak rate
/// for the first input's dtype.
enum class Limit { arithmetic, memory };

void add(const std::string& name, const std::vector<Input>& inputs, const Function::Body& body,
         Limit limit, OptimizeOptions options = {});

/// The number of threads of the device.
int threads();

// Each function adds the benchmarks of one family of kernels.
void add_products();
void add_convolutions();
void add_elementwise();
void add_layer_benchmarks();
void add_overheads();

}  // namespace crescent::bench
