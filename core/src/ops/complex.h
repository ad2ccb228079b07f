// Functions of complex numbers, computed on their real and imaginary parts.
#pragma once
#include "program/support.h"

namespace crescent {

Tensor real_part(const Tensor& x);
/// The function of a complex tensor; a null tensor if it is not defined for complex numbers.
Tensor complex_unary(UnaryKind kind, const Tensor& x);
Tensor complex_binary(BinaryKind kind, const Tensor& x, const Tensor& y);

}  // namespace crescent
