// The kernel of Qr for a single matrix.
#pragma once
#include "kernel/kernel.h"

namespace crescent::cpu {

std::unique_ptr<Kernel> make_qr(const Request& r);

}  // namespace crescent::cpu
