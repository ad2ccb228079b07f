// The kernels of lapack.cpp.
#pragma once
#include "kernel/kernel.h"

namespace crescent::cpu {

std::unique_ptr<Kernel> make_eigh(const Request& r);
std::unique_ptr<Kernel> make_solve(const Request& r);
std::unique_ptr<Kernel> make_cholesky(const Request& r);
std::unique_ptr<Kernel> make_lu(const Request& r);

}  // namespace crescent::cpu
