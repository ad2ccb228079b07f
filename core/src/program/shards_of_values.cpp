// Finds the logical shard to which each value of a program belongs.
#include <algorithm>

#include "crescent/program/program.h"
#include "crescent/program/shard_ops.h"

namespace crescent {
namespace {

bool joins_shards(const Op& op) {
  return op.name() == ShardConcat::kName || op.name() == ShardReduce::kName;
}

/// The logical shard to which inputs of the instruction belong; -1 if no input belongs to a shard.
int input_shard(const Program::Instruction& instruction, const std::vector<int>& shards) {
  int shard = -1;
  for (int value : instruction.inputs) {
    const int other_shard = shards[static_cast<size_t>(value)];
    if (shard >= 0 && other_shard >= 0 && shard != other_shard)
      fail(instruction.op->text(), " reads values of the logical shards ", shard, " and ",
           other_shard);
    shard = std::max(shard, other_shard);
  }
  if (shard >= 0 && instruction.op->effect() == Effect::ordered)
    fail(instruction.op->label(),
         " cannot be computed for a logical shard of a batch, as op determinism asks for: it "
         "exchanges data, or has another effect, within a loop");
  return shard;
}

}  // namespace

std::vector<int> shards_of_values(const Program& program) {
  std::vector<int> shards(program.values.size(), -1);
  for (const Program::Instruction& instruction : program.code) {
    if (joins_shards(*instruction.op)) continue;
    const auto* slice = dynamic_cast<const ShardSlice*>(instruction.op.get());
    const int shard = slice ? static_cast<int>(slice->shard) : input_shard(instruction, shards);
    for (int value : instruction.outputs) shards[static_cast<size_t>(value)] = shard;
  }
  return shards;
}

}  // namespace crescent
