// The families of operations, each a file: rows, and above them what the rows call.
#pragma once
#include "crescent/operation.h"

namespace crescent::operations {

using ops::Operand;

void add_activations(Registry& registry);
void add_alignments(Registry& registry);
void add_arithmetic(Registry& registry);
void add_boxes(Registry& registry);
void add_box_pairs(Registry& registry);
void add_comparisons(Registry& registry);
void add_complex(Registry& registry);
void add_convolutions(Registry& registry);
void add_creation(Registry& registry);
void add_eigen(Registry& registry);
void add_fourier(Registry& registry);
void add_images(Registry& registry);
void add_indexing(Registry& registry);
void add_linear_systems(Registry& registry);
void add_networks(Registry& registry);
void add_own(Registry& registry);
void add_products(Registry& registry);
void add_rearranging(Registry& registry);
void add_reductions(Registry& registry);
void add_sample_images(Registry& registry);
void add_sampling(Registry& registry);
void add_segments(Registry& registry);
void add_shapes(Registry& registry);
void add_sorting(Registry& registry);
void add_special(Registry& registry);
void add_spectra(Registry& registry);

// ---- what they share

/// How many numbers a caller asks for, which must not be below 0 or beyond all memory.
int64_t checked_count(const char* name, int64_t num);
/// The modified Bessel function of the first kind, x >= 0; infinite where that exceeds a double.
double bessel_i(double order, double x);
/// Integers and booleans as float32.
inline Tensor floating(const Tensor& x) {
  const bool whole = is_integer(x.dtype()) || x.dtype() == DType::boolean;
  return whole ? ops::cast(x, DType::float32) : x;
}
/// The same, but int64 as float64, as some of Keras' functions have it.
inline Tensor wide_floating(const Tensor& x) {
  return x.dtype() == DType::int64 ? ops::cast(x, DType::float64) : floating(x);
}
/// A number of the tensor's dtype.
inline Tensor number_like(const Tensor& x, double number) {
  return Tensor::scalar(number, x.dtype());
}
/// Booleans and what is shorter than int32 as int32.
inline Tensor at_least_int32(const Tensor& x) {
  const bool small = is_integer(x.dtype()) && size_of(x.dtype()) < 4;
  return small || x.dtype() == DType::boolean ? ops::cast(x, DType::int32) : x;
}
/// A number as a tensor of its own: float32, whole ones int32 or int64.
Tensor tensor_of(const Operand& x);
/// Both as tensors of the common dtype.
std::pair<Tensor, Tensor> promoted(const Operand& a, const Operand& b);
/// All as tensors of the common dtype.
Tensors promoted(std::span<const Tensor> tensors);
/// One number for each of `count` axes, where a single one counts for all.
std::vector<int64_t> for_each_axis(const char* what, const std::vector<int64_t>& given,
                                   size_t count);
/// A data_format, channels_last where it is not given.
using Format = std::optional<std::string>;
bool channels_first(const Format& format);
/// Axis counted from 0.
inline int axis_of(const Tensor& x, int64_t axis) { return x.shape().axis(static_cast<int>(axis)); }
/// All axes where none are given, else those, counted from 0.
std::vector<int> axes_of(const Tensor& x, const std::vector<int>& axes);
/// The tensor with one axis flattened out of all when there is no axis, and that axis.
std::pair<Tensor, int> flat_without(const Tensor& x, std::optional<int64_t> axis);
/// 0, 1, ... along an axis of a shape of ones otherwise.
Tensor positions(int64_t count, int axis, int rank, DType dtype = DType::int32);

/// Of what is sorted, the middle or the mean of the two there.
Tensor median(const Tensor& x, const std::vector<int>& axes, bool keepdims);
/// Places of what is not zero, a tensor an axis.
Tensors nonzero(const Tensor& x);
/// The norm of one axis, or of matrices of two; no axes: all. The order is a number, 'fro', 'nuc'
/// or null.
Tensor norm_over(const Tensor& x, const Value& order, const std::vector<int>& axes, bool keepdims);
/// The x with a x = b.
Tensor solve(const Tensor& a, const Tensor& b);
/// The k-th diagonal of two axes, as the last axis.
Tensor diagonal(const Tensor& x, int64_t k, int axis1, int axis2);

}  // namespace crescent::operations
