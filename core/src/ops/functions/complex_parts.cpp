// Complex numbers: their parts, and conversion from real numbers.
#include <numbers>

#include "crescent/ops/arguments.h"
#include "crescent/ops/elementwise.h"

namespace crescent::ops {
namespace {

bool is_complex(const Tensor& x) { return x.dtype() == DType::complex64; }

/// The real parts of x (which = 0) or the imaginary parts (which = 1).
Tensor part(const Tensor& x, int64_t which) {
  return ops::squeeze(ops::slice_axis(ops::view_as_real(x), -1, which, which + 1), -1);
}

Tensor complex_of(const Tensor& real, const Tensor& imaginary) {
  return ops::view_as_complex(ops::stack(Tensors{real, imaginary}, -1));
}

}  // namespace

Tensor real(const Tensor& x) { return is_complex(x) ? part(x, 0) : x; }
Tensor imag(const Tensor& x) { return is_complex(x) ? part(x, 1) : ops::zeros_like(x); }
Tensor conj(const Tensor& x) {
  return is_complex(x) ? complex_of(part(x, 0), ops::negative(part(x, 1))) : x;
}

Tensor angle(const Tensor& x) {
  if (is_complex(x)) return ops::arctan2(part(x, 1), part(x, 0));
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
