// What tapes of this thread are told by apply() and by variables.
#pragma once
#include "crescent/program/gradient.h"

namespace crescent {

/// A tape of this thread is recording.
bool tapes_are_active();
/// `abstract`: the outputs are; tapes from outside the program being recorded do not see them.
void record_on_tapes(const OpPtr& op, std::span<const Tensor> inputs,
                     std::span<const Tensor> outputs, bool abstract);
void watch_on_tapes(const Variable& variable, const Tensor& value);

}  // namespace crescent
