// Functions of complex numbers, computed on their real and imaginary parts.
#pragma once
#include "program/support.h"

namespace crescent {

Tensor real_part(const Tensor& x);
/// Applies the unary function to a complex tensor; returns an empty Tensor if the function is not
/// defined for complex numbers.
Tensor complex_unary(UnaryKind kind, const Tensor& x);
Tensor complex_binary(BinaryKind kind, const Tensor& x, const Tensor& y);

}  // namespace crescent
