// Helpers for values that are rounded to half-width floats or widened again.
#pragma once
#include "compile/passes/rewriting/rules.h"

namespace crescent::passes {

inline int as_dtype(Rewriting& r, int value, DType dtype) {
  if (r.dtype(value) == dtype) return value;
  Cast op;
  op.dtype = dtype;
  return r.add(op, {value});
}

/// If this value is a float32 value that was rounded to bfloat16 (and possibly reshaped), returns
/// the float32 value in the shape of this one; else the value itself.
inline int unrounded(Rewriting& r, int value) {
  auto* reshape = r.producer_as<Reshape>(value);
  auto* cast = r.producer_as<Cast>(reshape ? reshape->inputs[0] : value);
  if (!cast || r.dtype(value) != DType::bfloat16 || r.dtype(cast->inputs[0]) != DType::float32)
    return value;
  return r.reshaped(cast->inputs[0], r.shape(value));
}

/// If this value is a bfloat16 value that was cast to float32, and only one instruction reads it,
/// returns the bfloat16 value; else the value itself.
inline int before_widening(Rewriting& r, int value) {
  auto* cast = r.producer_as<Cast>(value);
  const bool is_widening =
      cast && r.dtype(value) == DType::float32 && r.dtype(cast->inputs[0]) == DType::bfloat16;
  return is_widening && r.read_once(value) ? cast->inputs[0] : value;
}

}  // namespace crescent::passes
