// The sum over logical shards.
#pragma once
#include "crescent/program/shard_ops.h"

namespace crescent {

/// The sum over the logical shards; `shard_values` has a tensor for each shard.
inline Tensor shard_sum(std::span<const Tensor> shard_values) {
  ShardReduce sum;
  sum.kind = ReduceKind::sum;
  return crescent::apply(std::make_shared<const ShardReduce>(sum), shard_values).front();
}

}  // namespace crescent
