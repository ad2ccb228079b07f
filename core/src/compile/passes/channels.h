// Per-channel operands of products and convolutions (channels are the last axis).
#pragma once
#include "compile/passes/rewriting/rules.h"

namespace crescent::passes {

/// Whether the value has one number per channel of `result`: it must have the shape of the last
/// `channel_axes` axes of `result`.
inline bool is_per_channel(Rewriting& r, int value, const TensorSpec& result,
                           int channel_axes = 1) {
  const TensorSpec spec = r.spec(value);
  const int rank = spec.shape.rank();
  if (spec.dtype != result.dtype || rank < channel_axes || rank > result.shape.rank() ||
      !result.shape.is_known())
    return false;
  const Shape channel_shape = result.shape.slice(-channel_axes, result.shape.rank());
  return spec.shape.slice(-channel_axes, rank) == channel_shape &&
         spec.shape.size() == channel_shape.size();
}

/// Reshapes the value to (channels,).
inline int as_channels(Rewriting& r, int value) {
  return r.reshaped(value, {r.shape(value).size()});
}

}  // namespace crescent::passes
