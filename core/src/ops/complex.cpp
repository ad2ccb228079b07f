#include "ops/complex.h"

namespace crescent {
namespace {

struct ComplexParts {
  Tensor real, imaginary;
};

ComplexParts parts_of(const Tensor& x) {
  const Tensor pairs = ops::view_as_real(x);
  const auto part_at = [&](int64_t i) {
    return ops::squeeze(ops::slice_axis(pairs, -1, i, i + 1), -1);
  };
  return {part_at(0), part_at(1)};
}

Tensor complex_of(const Tensor& real, const Tensor& imaginary) {
  const Tensor parts[] = {real, imaginary};
  return ops::view_as_complex(ops::stack(parts, -1));
}

/// The magnitude; its gradient at 0 is 0.
Tensor magnitude(const ComplexParts& x) {
  const Tensor squared_magnitude = x.real * x.real + x.imaginary * x.imaginary;
  const Tensor is_zero = ops::equal(squared_magnitude, 0.0);
  return ops::where(is_zero, 0.0, ops::sqrt(ops::where(is_zero, 1.0, squared_magnitude)));
}

Tensor product(const ComplexParts& x, const ComplexParts& y) {
  return complex_of(x.real * y.real - x.imaginary * y.imaginary,
                    x.real * y.imaginary + x.imaginary * y.real);
}

Tensor quotient(const ComplexParts& x, const ComplexParts& y) {
  const Tensor squared_magnitude = y.real * y.real + y.imaginary * y.imaginary;
  return complex_of((x.real * y.real + x.imaginary * y.imaginary) / squared_magnitude,
                    (x.imaginary * y.real - x.real * y.imaginary) / squared_magnitude);
}

Tensor exponential(const ComplexParts& x) {
  const Tensor exp_of_real = ops::exp(x.real);
  return complex_of(exp_of_real * ops::cos(x.imaginary), exp_of_real * ops::sin(x.imaginary));
}

}  // namespace

Tensor real_part(const Tensor& x) { return parts_of(x).real; }

Tensor complex_unary(UnaryKind kind, const Tensor& x) {
  const ComplexParts parts = parts_of(x);
  switch (kind) {
    case UnaryKind::negative:
      return complex_of(-parts.real, -parts.imaginary);
    case UnaryKind::abs:
      return magnitude(parts);
    case UnaryKind::square:
      return product(parts, parts);
    case UnaryKind::reciprocal:
      return quotient({ops::ones_like(parts.real), ops::zeros_like(parts.real)}, parts);
    case UnaryKind::exp:
      return exponential(parts);
    case UnaryKind::log:
      return complex_of(ops::log(magnitude(parts)), ops::arctan2(parts.imaginary, parts.real));
    case UnaryKind::isnan:
      return ops::logical_or(ops::isnan(parts.real), ops::isnan(parts.imaginary));
    case UnaryKind::isfinite:
      return ops::logical_and(ops::isfinite(parts.real), ops::isfinite(parts.imaginary));
    default:
      return {};
  }
}

Tensor complex_binary(BinaryKind kind, const Tensor& x, const Tensor& y) {
  const ComplexParts a = parts_of(x), b = parts_of(y);
  const auto equality = [&] {
    return ops::logical_and(ops::equal(a.real, b.real), ops::equal(a.imaginary, b.imaginary));
  };
  switch (kind) {
    case BinaryKind::add:
      return complex_of(a.real + b.real, a.imaginary + b.imaginary);
    case BinaryKind::subtract:
      return complex_of(a.real - b.real, a.imaginary - b.imaginary);
    case BinaryKind::multiply:
      return product(a, b);
    case BinaryKind::divide:
      return quotient(a, b);
    case BinaryKind::equal:
      return equality();
    case BinaryKind::not_equal:
      return ops::logical_not(equality());
    default:
      return {};
  }
}

TensorSpecs Bitcast::infer(std::span<const TensorSpec> in) const {
  const auto& [source_dtype, shape] = in[0];
  const bool drops_imaginary = source_dtype == DType::complex64 && dtype == DType::float32;
  if (drops_imaginary) return {{dtype, shape.concat({2})}};
  if (source_dtype != DType::float32 || dtype != DType::complex64)
    fail(kName, ": expected complex64 as float32 or the other way round, got ", source_dtype,
         " as ", dtype);
  if (shape.rank() == 0 || shape[-1] != 2)
    fail("view_as_complex: expected pairs of numbers along the last axis, got shape ", shape);
  return {{dtype, shape.slice(0, -1)}};
}

Tensors Bitcast::vjp(const Vjp& v) const {
  Bitcast inverse;
  inverse.dtype = v.inputs[0].dtype();
  return {apply1(inverse, {v.gradients[0]})};
}

namespace ops {

Tensor view_as_real(const Tensor& x) {
  if (x.dtype() != DType::complex64)
    fail("view_as_real: expected complex numbers, got ", x.dtype());
  Bitcast op;
  op.dtype = DType::float32;
  return apply1(op, {x});
}

Tensor view_as_complex(const Tensor& x) {
  Bitcast op;
  op.dtype = DType::complex64;
  return apply1(op, {cast(x, DType::float32)});
}

}  // namespace ops
}  // namespace crescent
