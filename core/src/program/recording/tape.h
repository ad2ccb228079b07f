// Notifications of tapes by apply() and by variables.
#pragma once
#include "crescent/program/gradient.h"

namespace crescent {

/// Whether a tape is recording on this thread.
bool tapes_are_active();
/// Whether a tape that is recording on this thread watches the tensor, or a tensor from which this
/// one was computed.
bool tapes_follow(const Tensor& tensor);
/// Records an op on the tapes of this thread. If the outputs are `abstract`, tapes that were made
/// outside of the current trace do not record the op.
void record_on_tapes(const OpPtr& op, std::span<const Tensor> inputs,
                     std::span<const Tensor> outputs, bool abstract);
void watch_on_tapes(const Variable& variable, const Tensor& value);

}  // namespace crescent
