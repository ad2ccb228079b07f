// Rounding to 8 bits, and convolutions of integers of 8 bits.
#include "crescent/device/quantized_op_types.h"
#include "crescent/ops/ops.h"
#include "ops/windows.h"

namespace crescent {

size_t AbsMax::hash() const {
  size_t seed = detail::hash_field(low);
  detail::mix(seed, detail::hash_field(high));
  detail::mix(seed, detail::hash_field(epsilon));
  return seed;
}

Quantized AbsMax::operator()(const Tensor& x, const std::vector<int>& axes) const {
  const Tensor scale = static_cast<double>(high) / (ops::max(ops::abs(x), axes, true) + epsilon);
  const Tensor rounded_values =
      ops::clip(ops::round(x * scale), static_cast<double>(low), static_cast<double>(high));
  return {ops::cast(rounded_values, DType::int8), scale};
}

std::string to_text(const AbsMax& range) {
  return concat(range.low, "..", range.high, " + ", range.epsilon);
}

TensorSpecs Int8Conv::infer(std::span<const TensorSpec> in) const {
  const TensorSpec &x = in[0], &kernel = in[1], &scale = in[2];
  const bool is_valid = kernel.shape.rank() > 1 && scale == TensorSpec{x.dtype, {kernel.shape[-1]}};
  if (!is_floating(x.dtype) || kernel.dtype != DType::int8 || spec.groups != 1 || !is_valid)
    fail(kName, ": expected floats (batch, spatial..., in), int8 (spatial..., in, out), floats ",
         "(out) and 1 group, got ", x, ", ", kernel, ", ", scale, " and ", spec.groups);
  Conv convolution;
  convolution.spec = spec;
  const TensorSpec float_specs[] = {x, {x.dtype, kernel.shape}};
  return convolution.infer(float_specs);
}

/// Computes the sums in float64, in which they are exact.
Tensors Int8Conv::decompose(std::span<const Tensor> in) const {
  const Tensor &x = in[0], &kernel = in[1], &scale = in[2];
  std::vector<int> axes;
  for (int axis = 1; axis < x.rank(); ++axis) axes.push_back(axis);
  const Quantized quantized_x = range(x, axes);
  Conv convolution;
  convolution.spec = spec;
  const Tensor sums = apply1(convolution, {ops::cast(quantized_x.values, DType::float64),
                                           ops::cast(kernel, DType::float64)});
  return {ops::cast(sums, x.dtype()) * (1.0 / (quantized_x.scale * scale))};
}

Tensors Int8Conv::vjp(const Vjp& v) const {
  const Tensor &x = v.inputs[0], &kernel = v.inputs[1], &scale = v.inputs[2];
  Tensors gradients(3);
  if (!v.wanted[0]) return gradients;
  ConvBackwardData op;
  op.spec = spec, op.input = x.shape();
  gradients[0] = apply1(op, {v.gradients[0] / scale, ops::cast(kernel, x.dtype())});
  return gradients;
}

Tensor int8_conv(const Tensor& x, const Tensor& kernel, const Tensor& scale, const AbsMax& range,
                 const std::vector<int64_t>& strides, ops::Padding padding,
                 const std::vector<int64_t>& dilation) {
  expect_rank_at_least(Int8Conv::kName, x.shape(), 3);
  if (kernel.rank() != x.rank())
    fail(Int8Conv::kName, ": shapes ", x.shape(), " and ", kernel.shape(),
         " do not fit: expected (batch, spatial..., in) and (spatial..., in, out)");
  Int8Conv op;
  op.spec = conv_spec(x.shape(), kernel.shape(), strides, padding, dilation);
  op.range = range;
  const DType dtype = size_of(x.dtype()) < size_of(DType::float32) ? DType::float32 : x.dtype();
  return ops::cast(apply1(op, {ops::cast(x, dtype), kernel, ops::cast(scale, dtype)}), x.dtype());
}

}  // namespace crescent
