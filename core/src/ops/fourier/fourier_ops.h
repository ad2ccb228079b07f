// Fourier transforms of the last axis, of floats of any width.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Real and imaginary parts of sum x_k exp(sign 2 pi i j k / n), of those of x.
Tensors fourier_of(const Tensor& re, const Tensor& im, int sign);
/// The first n / 2 + 1 of them for real x and the sign -1; the others are their conjugates.
Tensors fourier_of_real(const Tensor& x);
/// The other way round, for rows of an even number of elements: (..., n / 2 + 1) -> (..., n).
Tensor real_of_fourier(const Tensor& re, const Tensor& im);

}  // namespace crescent
