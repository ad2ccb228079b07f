// Kernels of the ops for logical shards, which are the parts of a batch that processes compute
// (shard_ops.h), and for variables of which each process stores a part (division.h).
#pragma once
#include "kernel/kernel.h"

namespace crescent::cpu {

std::unique_ptr<Kernel> make_all_gather(const Request& r);
std::unique_ptr<Kernel> make_shard_slice(const Request& r);
std::unique_ptr<Kernel> make_shard_concat(const Request& r);
/// Returns null for dtypes without a kernel; make_converted() then casts the values to a wider
/// dtype.
std::unique_ptr<Kernel> make_shard_reduce(const Request& r);

}  // namespace crescent::cpu
