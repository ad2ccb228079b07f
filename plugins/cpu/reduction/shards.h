// Kernels of the ops of logical shards (shard_ops.h) and of divided variables (division.h).
#pragma once
#include "kernel/kernel.h"

namespace crescent::cpu {

std::unique_ptr<Kernel> make_all_gather(const Request& r);
std::unique_ptr<Kernel> make_shard_slice(const Request& r);
std::unique_ptr<Kernel> make_shard_concat(const Request& r);
/// Null for dtypes without a kernel, whose values make_converted() casts to a wider dtype.
std::unique_ptr<Kernel> make_shard_reduce(const Request& r);

}  // namespace crescent::cpu
