// Kernels that convert: they widen half-width floats to float32 or small integers to int32, run a
// kernel of the wide dtype and narrow its outputs.
#pragma once
#include "kernel/kernel.h"

namespace crescent::cpu {

/// Null if no operand is half-width, or if no factory in `rows` has a float32 kernel for the
/// request.
std::unique_ptr<Kernel> make_through_float32(const Request& request,
                                             std::span<const KernelRow> rows);

/// Runs int8 and int16 operands through an int32 kernel of any family; null when there is none.
std::unique_ptr<Kernel> make_through_int32(const Request& request);

/// The factory for the last row of a family: {"conv", make_converted<convolution_kernels>}.
template <std::span<const KernelRow> (*family)()>
std::unique_ptr<Kernel> make_converted(const Request& request) {
  return make_through_float32(request, family());
}

}  // namespace crescent::cpu
