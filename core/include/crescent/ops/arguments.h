// How the functions of ops prepare their arguments: common dtypes, nonnegative axes, numbers as
// tensors. Authors of functions can use the same helpers.
#pragma once
#include <utility>

#include "crescent/ops/ops.h"

namespace crescent::ops {

/// Casts integers and booleans to floatx(); returns other tensors unchanged.
inline Tensor floating(const Tensor& x) {
  const bool is_whole = is_integer(x.dtype()) || x.dtype() == DType::boolean;
  return is_whole ? cast(x, floatx()) : x;
}
/// Casts int64 to float64, other integers and booleans to float32, as some functions of Keras do;
/// returns other tensors unchanged.
inline Tensor wide_floating(const Tensor& x) {
  return x.dtype() == DType::int64 ? cast(x, DType::float64) : floating(x);
}
/// Computes f(x) for x cast to a floating dtype. For half-width floats, f gets float32, because
/// squares and counts overflow float16, and its result is cast back.
template <class F>
Tensor in_wide(const Tensor& input, const F& f) {
  const Tensor x = floating(input);
  return cast(f(cast(x, promote(x.dtype(), DType::float32))), x.dtype());
}
/// A scalar of the tensor's dtype.
inline Tensor number_like(const Tensor& x, double number) {
  return Tensor::scalar(number, x.dtype());
}
/// Casts booleans and integers of fewer than 32 bits to int32.
inline Tensor at_least_int32(const Tensor& x) {
  const bool is_small = is_integer(x.dtype()) && size_of(x.dtype()) < 4;
  return is_small || x.dtype() == DType::boolean ? cast(x, DType::int32) : x;
}
/// The operand as a tensor. A number becomes a scalar: an integer int32, or int64 if it does not
/// fit; another number float32.
CRESCENT_API Tensor tensor_of(const Operand& x);
/// Converts both operands to tensors of their common dtype.
CRESCENT_API std::pair<Tensor, Tensor> promoted(const Operand& a, const Operand& b);
/// Casts all tensors to their common dtype.
CRESCENT_API Tensors promoted(std::span<const Tensor> tensors);
/// Returns one number per axis, for `count` axes; a single given number is used for all of them.
CRESCENT_API std::vector<int64_t> for_each_axis(const char* what,
                                                const std::vector<int64_t>& values, size_t count);
/// The axis as a nonnegative number.
inline int axis_of(const Tensor& x, int64_t axis) { return x.shape().axis(static_cast<int>(axis)); }
/// Returns the given axes as nonnegative numbers, or all axes if none are given.
CRESCENT_API std::vector<int> axes_of(const Tensor& x, const Axes& axes);
/// Returns x and the axis; without an axis, returns x flattened and 0, the index of its only axis.
CRESCENT_API std::pair<Tensor, int> flat_without(const Tensor& x, std::optional<int64_t> axis);
/// A tensor of this rank with 0, 1, ..., count - 1 along `axis`; its other dimensions are 1.
CRESCENT_API Tensor positions(int64_t count, int axis, int rank, DType dtype = DType::int32);
/// Returns `num`, the number of elements that a caller asks for; fails if it is negative or too
/// large for memory.
CRESCENT_API int64_t checked_count(const char* name, int64_t num);

}  // namespace crescent::ops
