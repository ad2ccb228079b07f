// Fourier transforms along the last axis, for floating tensors of any width.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Real and imaginary parts of the sums over k of x_k exp(sign 2 pi i j k / n), where x = re + i
/// im.
Tensors fourier_of(const Tensor& re, const Tensor& im, int sign);
/// The first n / 2 + 1 coefficients for real x and sign -1; the others are their conjugates.
Tensors fourier_of_real(const Tensor& x);
/// The inverse, for rows of even length n: (..., n / 2 + 1) -> (..., n).
Tensor real_of_fourier(const Tensor& re, const Tensor& im);

}  // namespace crescent
