// Functions of complex numbers, computed on their real and imaginary parts.
#pragma once
#include "program/support.h"

namespace crescent {

Tensor real_part(const Tensor& x);
/// Returns the function of complex tensors; an empty Tensor if it is not defined for complex
/// numbers.
Tensor complex_unary(UnaryKind kind, const Tensor& x);
Tensor complex_binary(BinaryKind kind, const Tensor& x, const Tensor& y);

}  // namespace crescent
