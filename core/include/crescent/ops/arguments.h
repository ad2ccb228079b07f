// What the functions of ops do with their arguments first: common dtypes, axes counted from 0,
// numbers as tensors. Authors of functions use the same.
#pragma once
#include <utility>

#include "crescent/ops/ops.h"

namespace crescent::ops {

/// Integers and booleans as float32.
inline Tensor floating(const Tensor& x) {
  const bool whole = is_integer(x.dtype()) || x.dtype() == DType::boolean;
  return whole ? cast(x, DType::float32) : x;
}
/// The same, but int64 as float64, as some of Keras' functions have it.
inline Tensor wide_floating(const Tensor& x) {
  return x.dtype() == DType::int64 ? cast(x, DType::float64) : floating(x);
}
/// f(x) of floats; of half-width ones in float32, as squares and counts of them leave float16.
template <class F>
Tensor in_wide(const Tensor& given, const F& f) {
  const Tensor x = floating(given);
  return cast(f(cast(x, promote(x.dtype(), DType::float32))), x.dtype());
}
/// A number of the tensor's dtype.
inline Tensor number_like(const Tensor& x, double number) {
  return Tensor::scalar(number, x.dtype());
}
/// Booleans and what is shorter than int32 as int32.
inline Tensor at_least_int32(const Tensor& x) {
  const bool small = is_integer(x.dtype()) && size_of(x.dtype()) < 4;
  return small || x.dtype() == DType::boolean ? cast(x, DType::int32) : x;
}
/// A number as a tensor of its own: float32, whole ones int32 or int64.
CRESCENT_API Tensor tensor_of(const Operand& x);
/// Both as tensors of the common dtype.
CRESCENT_API std::pair<Tensor, Tensor> promoted(const Operand& a, const Operand& b);
/// All as tensors of the common dtype.
CRESCENT_API Tensors promoted(std::span<const Tensor> tensors);
/// One number for each of `count` axes, where a single one counts for all.
CRESCENT_API std::vector<int64_t> for_each_axis(const char* what, const std::vector<int64_t>& given,
                                                size_t count);
/// Axis counted from 0.
inline int axis_of(const Tensor& x, int64_t axis) { return x.shape().axis(static_cast<int>(axis)); }
/// All axes where none are given, else those, counted from 0.
CRESCENT_API std::vector<int> axes_of(const Tensor& x, const Axes& axes);
/// The tensor with one axis flattened out of all when there is no axis, and that axis.
CRESCENT_API std::pair<Tensor, int> flat_without(const Tensor& x, std::optional<int64_t> axis);
/// 0, 1, ... along an axis of a shape of ones otherwise.
CRESCENT_API Tensor positions(int64_t count, int axis, int rank, DType dtype = DType::int32);
/// How many numbers a caller asks for, which must not be below 0 or beyond all memory.
CRESCENT_API int64_t checked_count(const char* name, int64_t num);

}  // namespace crescent::ops
