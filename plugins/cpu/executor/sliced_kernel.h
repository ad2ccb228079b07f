#pragma once
#include "kernel/kernel.h"
#include "tiling/sliced.h"

namespace crescent::cpu {

std::unique_ptr<Kernel> make_sliced(const Sliced& op, const Request& request);

}  // namespace crescent::cpu
