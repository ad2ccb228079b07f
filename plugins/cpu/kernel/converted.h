// Kernels that widen half-width floats to float32 or small integers to int32, run a kernel of the
// wider dtype and narrow its outputs.
#pragma once
#include "kernel/kernel.h"

namespace crescent::cpu {

/// Computes a request with half-width operands by a float32 kernel. Returns null if no operand is
/// half-width, or if no factory in `entries` makes a float32 kernel for the request.
std::unique_ptr<Kernel> make_through_float32(const Request& request,
                                             std::span<const KernelEntry> entries);

/// Computes a request with int8 or int16 operands by an int32 kernel; null if there is none.
std::unique_ptr<Kernel> make_through_int32(const Request& request);

/// The factory that a family of kernels lists last in its table: {"conv",
/// make_converted<convolution_kernels>}.
template <std::span<const KernelEntry> (*family)()>
std::unique_ptr<Kernel> make_converted(const Request& request) {
  return make_through_float32(request, family());
}

}  // namespace crescent::cpu
