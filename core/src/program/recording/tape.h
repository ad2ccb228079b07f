// Functions by which apply() and variables notify the gradient tapes of the thread.
#pragma once
#include "crescent/program/gradient.h"
#include "program/recording/interleaved.h"

namespace crescent {

/// Whether a tape is recording on this thread.
bool tapes_are_active();
/// Whether a tape that is recording on this thread watches `tensor`, or a tensor from which
/// `tensor` was computed.
bool tapes_follow(const Tensor& tensor);
/// Records an op on the tapes of this thread. If the outputs are abstract, tapes that were made
/// outside of the current trace do not record the op.
void record_on_tapes(const OpPtr& op, std::span<const Tensor> inputs,
                     std::span<const Tensor> outputs, bool are_outputs_abstract);
void watch_on_tapes(const Variable& variable, const Tensor& value);
/// The values of the variable that were read while the tape recorded.
Tensors values_read(const GradientTape& tape, const Variable& variable);

// The following functions serve computations that are recorded shard by shard (lockstep.h).
/// The number of entries of the innermost tape; 0 if no tape is recording.
size_t tape_length();
void add_to_tape(const OpPtr& op, std::span<const Tensor> inputs, std::span<const Tensor> outputs);
/// Orders the entries of the innermost tape (interleaved.h).
void interleave_tape(const std::vector<ShardCuts>& shards);
/// Makes the tapes that watch `from` watch `to` too.
void follow_on_tapes(const Tensor& from, const Tensor& to);

}  // namespace crescent
