// Half-width floats through float32, small integers through int32: the inputs are widened, a kernel
// of those runs, its outputs are narrowed.
#pragma once
#include "kernel/kernel.h"

namespace crescent::cpu {

/// Null when nothing is half-width, or no row of `rows` serves the request in float32.
std::unique_ptr<Kernel> make_through_float32(const Request& request,
                                             std::span<const KernelRow> rows);

/// The same for int8 and int16 in int32, among all kernels.
std::unique_ptr<Kernel> make_through_int32(const Request& request);

/// As the last row of a family: {"conv", make_converted<convolution_kernels>}.
template <std::span<const KernelRow> (*family)()>
std::unique_ptr<Kernel> make_converted(const Request& request) {
  return make_through_float32(request, family());
}

}  // namespace crescent::cpu
