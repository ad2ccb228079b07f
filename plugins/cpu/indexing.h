// Kernels that read or write where integers say. Indices out of range are clamped to the nearest (one_hot: no element).
#pragma once
#include "kernel.h"

namespace crescent::cpu {

std::unique_ptr<Kernel> make_gather(const Request& request);
std::unique_ptr<Kernel> make_take_along(const Request& request);
std::unique_ptr<Kernel> make_scatter_add(const Request& request);
std::unique_ptr<Kernel> make_converted_scatter_add(const Request& request);
std::unique_ptr<Kernel> make_one_hot(const Request& request);

}  // namespace crescent::cpu
