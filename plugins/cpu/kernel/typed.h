// Factories of kernels that are templates over their floating-point type.
#pragma once
#include <memory>

#include "kernel/half.h"
#include "kernel/kernel.h"

namespace crescent::cpu {

/// Makes a kernel K<float> or K<double>; returns null for other dtypes.
template <template <class> class K>
std::unique_ptr<Kernel> make_typed(const Request& r, DType dtype) {
  switch (dtype) {
    case DType::float32:
      return std::make_unique<K<float>>(r);
    case DType::float64:
      return std::make_unique<K<double>>(r);
    default:
      return nullptr;
  }
}
/// Makes a kernel K<float>, K<double> or K<BFloat16>, which reads and writes bfloat16 directly;
/// returns null for other dtypes.
template <template <class> class K>
std::unique_ptr<Kernel> make_typed_or_half(const Request& r, DType dtype) {
  if (dtype == DType::bfloat16) return std::make_unique<K<BFloat16>>(r);
  return make_typed<K>(r, dtype);
}

}  // namespace crescent::cpu
