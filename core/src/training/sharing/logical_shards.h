// The training step in logical shards: parts of a batch whose number does not depend on the number
// of processes. The model is called on each shard, predictions are concatenated, and gradients,
// moving averages and losses of the shards are summed in a fixed order, so that the results have
// the same bits for any number of processes.
#pragma once
#include "crescent/program/gradient.h"
#include "training/state/training.h"

namespace crescent {

/// Calls the model on every logical shard of the batch; returns its outputs for the whole batch.
/// The losses that layers add and the moving averages become those of the whole batch.
/// `shard_reads` is set to the values of variables that the shards have read.
Tensors call_on_shards(Model& model, const Share& share, const Tensors& x, bool training,
                       ShardReads& shard_reads);
/// Returns the gradients of variables that shards have read in call_on_shards().
Tensors shard_gradients(GradientTape& tape, const Tensor& loss, const Variables& variables,
                        const ShardReads& shard_reads);

}  // namespace crescent
