// The training step in logical shards, which has the same bits for any number of processes: the
// model is called on each shard, predictions are concatenated, and gradients, moving averages and
// losses of the shards are summed in a fixed order.
#pragma once
#include "crescent/program/gradient.h"
#include "training/state/training.h"

namespace crescent {

/// Calls the model on every logical shard of the batch; returns its outputs for the whole batch.
/// The losses that layers add become those of the whole batch, and so do moving averages.
Tensors call_on_shards(Model& model, const Share& share, const Tensors& x, bool training,
                       ShardReads& reads);
/// The gradients of variables that shards have read in call_on_shards().
Tensors shard_gradients(GradientTape& tape, const Tensor& loss, const Variables& variables,
                        const ShardReads& reads);

}  // namespace crescent
