// Functions of complex numbers, in terms of their real and imaginary parts.
#pragma once
#include "program/support.h"

namespace crescent {

Tensor real_part(const Tensor& x);
/// No tensor where the function is not one of complex numbers.
Tensor complex_unary(UnaryKind kind, const Tensor& x);
Tensor complex_binary(BinaryKind kind, const Tensor& x, const Tensor& y);

}  // namespace crescent
