// The sum over logical shards.
#pragma once
#include "crescent/program/shard_ops.h"

namespace crescent {

/// The sum of a value over the logical shards, of which `of_shards` has one tensor each.
inline Tensor shard_sum(std::span<const Tensor> of_shards) {
  ShardReduce sum;
  sum.kind = ReduceKind::sum;
  return crescent::apply(std::make_shared<const ShardReduce>(sum), of_shards).front();
}

}  // namespace crescent
