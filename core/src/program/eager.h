// Eager execution: runs a program of a single op, which is compiled once per specs.
#pragma once
#include "crescent/program/op.h"

namespace crescent {

/// Runs `op` on the device. `in` are the specs of `inputs`, `out` those of the results.
Tensors run_now(const OpPtr& op, std::span<const Tensor> inputs, const TensorSpecs& in,
                const TensorSpecs& out);

}  // namespace crescent
