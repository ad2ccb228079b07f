// Functions of one number that no formula of others gives.
#pragma once
#include "../shared/shared.h"

namespace crescent::operations {

/// The modified Bessel function of the first kind, x >= 0; infinite where that exceeds a double.
double bessel_i(double order, double x);
/// The inverse of erf. x: floats of any shape.
Tensor inverse_erf(const Tensor& x);
/// 1 - erf(x), as accurate where that is next to nothing. x: floats of any shape.
Tensor complement_of_erf(const Tensor& x);
/// The modified Bessel function of order 0. x: floats of any shape.
Tensor bessel_i0(const Tensor& x);

}  // namespace crescent::operations
