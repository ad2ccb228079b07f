// Complex numbers: their parts, and conversion from real numbers.
#include <numbers>

#include "crescent/ops/arguments.h"
#include "crescent/ops/elementwise.h"

namespace crescent::ops {
namespace {

bool is_complex(const Tensor& x) { return x.dtype() == DType::complex64; }

/// The real parts of x (index 0) or the imaginary parts (index 1).
Tensor component(const Tensor& x, int64_t index) {
  return ops::squeeze(ops::slice_axis(ops::view_as_real(x), -1, index, index + 1), -1);
}

Tensor complex_of(const Tensor& real, const Tensor& imaginary) {
  return ops::view_as_complex(ops::stack(Tensors{real, imaginary}, -1));
}

}  // namespace

Tensor real(const Tensor& x) { return is_complex(x) ? component(x, 0) : x; }
Tensor imag(const Tensor& x) { return is_complex(x) ? component(x, 1) : ops::zeros_like(x); }
Tensor conj(const Tensor& x) {
  return is_complex(x) ? complex_of(component(x, 0), ops::negative(component(x, 1))) : x;
}

Tensor angle(const Tensor& x) {
  if (is_complex(x)) return ops::arctan2(component(x, 1), component(x, 0));
  if (x.dtype() == DType::string) fail("angle takes no strings");
  const Tensor y = floating(x);
  return ops::where(ops::isnan(y), y,
                    ops::where(ops::less(y, 0), number_like(y, std::numbers::pi), 0));
}

Tensor polar(const Tensor& length, const Tensor& angle) {
  auto [r, a] = promoted(length, angle);
  r = floating(r), a = floating(a);
  return complex_of(r * ops::cos(a), r * ops::sin(a));
}

Tensor isreal(const Tensor& x) { return ops::equal(imag(x), 0); }

}  // namespace crescent::ops
