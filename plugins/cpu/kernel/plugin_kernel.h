// Kernels that other plugins have registered (crescent/device/cpu_kernel.h).
#pragma once
#include "kernel/kernel.h"

namespace crescent::cpu {

/// The kernel that a plugin registered for the op's name; null if there is none or it does not
/// support the request.
std::unique_ptr<Kernel> make_plugin_kernel(const Request& request);

}  // namespace crescent::cpu
