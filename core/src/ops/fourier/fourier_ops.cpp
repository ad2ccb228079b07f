#include "ops/fourier/fourier_ops.h"

#include "ops/functions/array_ops.h"

namespace crescent {

// ---- complex numbers

TensorSpecs Fourier::infer(std::span<const TensorSpec> in) const { return {in[0], in[0]}; }
Tensors Fourier::vjp(const Vjp& v) const {
  const auto gradient_or_zero = [&](size_t i) {
    return v.gradients[i] ? v.gradients[i] : ops::zeros_like(v.inputs[0]);
  };
  return fourier_of(gradient_or_zero(0), gradient_or_zero(1), -sign);
}

// ---- real numbers

namespace {

/// How often each element of the half transform occurs in the full transform of n real numbers:
/// once or twice.
Tensor occurrence_counts(double n, DType dtype) {
  std::vector<float> counts(static_cast<size_t>(n) / 2 + 1, 2.0f);
  counts.front() = counts.back() = 1;
  return ops::cast(Tensor::from(counts, {static_cast<int64_t>(counts.size())}), dtype);
}

}  // namespace

TensorSpecs RealFourier::infer(std::span<const TensorSpec> in) const {
  Shape half_shape = in[0].shape;
  half_shape.set(-1, half_shape[-1] / 2 + 1);
  return {{in[0].dtype, half_shape}, {in[0].dtype, half_shape}};
}
Tensors RealFourier::vjp(const Vjp& v) const {
  const auto gradient_share = [&](size_t i) {
    const Tensor upstream = v.gradients[i] ? v.gradients[i] : ops::zeros_like(v.outputs[0]);
    const auto n = static_cast<double>(v.inputs[0].dim(-1));
    return ops::divide(upstream * n, occurrence_counts(n, upstream.dtype()));
  };
  return {real_of_fourier(gradient_share(0), gradient_share(1))};
}

TensorSpecs RealOfFourier::infer(std::span<const TensorSpec> in) const {
  Shape result_shape = in[0].shape;
  result_shape.set(-1, result_shape[-1] < 0 ? -1 : 2 * (result_shape[-1] - 1));
  return {{in[0].dtype, result_shape}};
}
Tensors RealOfFourier::vjp(const Vjp& v) const {
  const auto n = static_cast<double>(v.outputs[0].dim(-1));
  Tensors gradient_parts = fourier_of_real(v.gradients[0]);
  for (Tensor& gradient_part : gradient_parts)
    gradient_part = gradient_part * (occurrence_counts(n, gradient_part.dtype()) / n);
  return gradient_parts;
}

// ---- transforms of floats of any width

Tensors fourier_of(const Tensor& re, const Tensor& im, int sign) {
  Fourier op;
  op.sign = sign;
  const Tensors result = apply(op, {without_halves(re), without_halves(im)});
  return {ops::cast(result[0], re.dtype()), ops::cast(result[1], re.dtype())};
}

Tensors fourier_of_real(const Tensor& x) {
  const int64_t n = x.dim(-1);
  if (n > 0 && n % 2 == 0) {
    const Tensors result = apply(RealFourier(), {without_halves(x)});
    return {ops::cast(result[0], x.dtype()), ops::cast(result[1], x.dtype())};
  }
  const Tensors whole_spectrum = fourier_of(x, ops::zeros_like(x), -1);
  return {ops::slice_axis(whole_spectrum[0], -1, 0, n / 2 + 1),
          ops::slice_axis(whole_spectrum[1], -1, 0, n / 2 + 1)};
}

Tensor real_of_fourier(const Tensor& re, const Tensor& im) {
  return ops::cast(apply1(RealOfFourier(), {without_halves(re), without_halves(im)}), re.dtype());
}

}  // namespace crescent
