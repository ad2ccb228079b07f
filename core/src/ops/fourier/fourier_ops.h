// Fourier transforms of the last axis, for floating dtypes of any width.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// The Fourier transform of x = re + i im, as its real and imaginary parts: its element j is the
/// sum over k of x_k exp(sign 2 pi i j k / n).
Tensors fourier_of(const Tensor& re, const Tensor& im, int sign);
/// The first n / 2 + 1 elements of the forward transform of a real x; the others are their
/// conjugates.
Tensors fourier_of_real(const Tensor& x);
/// The inverse of fourier_of_real for an even n: (..., n / 2 + 1) -> (..., n).
Tensor real_of_fourier(const Tensor& re, const Tensor& im);

}  // namespace crescent
