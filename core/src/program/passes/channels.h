// Products and convolutions with what follows them per channel of the last axis.
#pragma once
#include "program/passes/rewriting.h"

namespace crescent::passes {

/// One number per channel of `result`: its last axis, of which it has all elements, and nothing else.
inline bool is_per_channel(Rewriting& r, int value, const TensorSpec& result) {
  const TensorSpec spec = r.spec(value);
  if (spec.dtype != result.dtype || !spec.shape.is_known() || spec.shape.rank() == 0 || !result.shape.is_known()) return false;
  return spec.shape.rank() <= result.shape.rank() && spec.shape[-1] == result.shape[-1] &&
         spec.shape.size() == result.shape[-1];
}

/// The value as (channels,).
inline int as_channels(Rewriting& r, int value) { return r.reshaped(value, {r.shape(value)[-1]}); }

/// A product or convolution of which nobody else sees the result, with nothing done to it yet but a bias.
template <class T>
const Instruction* bare(Rewriting& r, int value) {
  auto* made = r.made_by<T>(value);
  return made && op_of<T>(*made).epilogue == Epilogue::none && r.read_once(value) ? made : nullptr;
}

}  // namespace crescent::passes
