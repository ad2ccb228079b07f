// Rematerialization (gradient checkpointing): the backward pass computes values of the forward pass
// again, so that these values need no memory in between.
#pragma once
#include "crescent/program/program.h"

namespace crescent {

/// An op that returns its input, a value of the forward pass from which the backward pass computes
/// other values again. Optimization passes do not know this op, so they do not merge the values
/// that are computed again with the original values. Lowering removes the op.
struct Rematerialized final : OpOf<Rematerialized> {
  static constexpr const char* kName = "rematerialized";
  std::tuple<> fields() const { return {}; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  Tensors vjp(const Vjp& v) const override { return {v.gradients[0]}; }
  Tensors decompose(std::span<const Tensor> in) const override { return {in[0]}; }
  bool supports_dtype(DType) const override { return true; }
};

/// A program with the same results in which instructions from the index `backward` on compute most
/// values of earlier instructions again instead of reading them. The forward pass is cut into
/// segments: the values that pass from one segment to another are kept, the values within a segment
/// are computed again from these when the backward pass reaches the segment, and the last segment
/// is kept as a whole. The cuts are those for which the estimated peak of the memory is smallest;
/// for a chain of n equal layers it is that of about 2 sqrt(n) layers (Chen et al. 2016, "Training
/// deep nets with sublinear memory cost"). Instructions with effects are not repeated. A program
/// that would not need less memory is returned unchanged.
CRESCENT_API Program rematerialized(Program program, size_t backward);

/// As above, but with cuts in front of the instructions with these ascending indices.
CRESCENT_API Program rematerialized(Program program, size_t backward, std::vector<size_t> cuts);

}  // namespace crescent
