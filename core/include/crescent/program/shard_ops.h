// The ops of logical shards. With op determinism a batch is divided into logical shards, which are
// ranges of its rows. Every process compiles the same program for all shards and runs only the
// instructions of its own shards (distribution.h), so that results have the same bits for any
// number of processes.
#pragma once
#include "crescent/program/op_types.h"

namespace crescent {

// clang-format off
/// (x) -> rows [first, first + count) of x, which are the logical shard `shard`. All values that
/// are computed from the result, up to a ShardConcat or ShardReduce, belong to this shard.
CRESCENT_OP(ShardSlice, "shard_slice")
  int64_t shard = 0, first = 0, count = 0;
  CRESCENT_FIELDS(shard, first, count)
  CRESCENT_TAKES_ALL
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (rows of shard 0, rows of shard 1, ...) -> the rows of all shards, in every process.
CRESCENT_OP(ShardConcat, "shard_concat")
  CRESCENT_FIELDS()
  CRESCENT_TAKES_ALL
  Effect effect() const override { return Effect::ordered; }
  Tensors decompose(std::span<const Tensor>) const override;
  Tensors vjp(const Vjp&) const override;
};
/// (x of shard 0, x of shard 1, ...) -> their sum, maximum or minimum, in every process. The result
/// for the shards [a, b) combines the results for the first and the second half of these shards, so
/// that the order of additions does not depend on which process has computed which shard.
CRESCENT_OP(ShardReduce, "shard_reduce")
  ReduceKind kind{};
  CRESCENT_FIELDS(kind)
  std::string label() const override;
  Effect effect() const override { return Effect::ordered; }
  Tensors decompose(std::span<const Tensor>) const override;
  Tensors vjp(const Vjp&) const override;
};
// clang-format on

class Program;
/// For each value of the program, the logical shard that it belongs to; -1 if every process
/// computes the value. Fails if an instruction reads values of several shards, or if an instruction
/// that reads values of a shard has the effect `ordered`, like an exchange of data between
/// processes.
CRESCENT_API std::vector<int> shards_of_values(const Program& program);

}  // namespace crescent
