// Eager execution: runs an op as a program of its own, which is compiled once for each list of
// input specs.
#pragma once
#include "crescent/program/op.h"

namespace crescent {

/// Runs `op` on the device. `input_specs` are the specs of `inputs`, `output_specs` those of the
/// results.
Tensors run_now(const OpPtr& op, std::span<const Tensor> inputs, const TensorSpecs& input_specs,
                const TensorSpecs& output_specs);

}  // namespace crescent
