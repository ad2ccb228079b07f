// The kernel of the op Eig.
#pragma once
#include "kernel/kernel.h"

namespace crescent::cpu {

std::unique_ptr<Kernel> make_eig(const Request& r);

}  // namespace crescent::cpu
