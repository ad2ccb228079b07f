// The kernels of linear algebra that call LAPACK.
#pragma once
#include <cmath>
#include <limits>

#include "kernel/kernel.h"

namespace crescent::cpu {

/// The number of elements of scratch memory that LAPACK returned as a number of type T, which may
/// have been rounded down.
template <class T>
int work_size(T size) {
  return static_cast<int>(std::nextafter(size, std::numeric_limits<T>::max()));
}

std::unique_ptr<Kernel> make_eigh(const Request& r);
std::unique_ptr<Kernel> make_solve(const Request& r);
std::unique_ptr<Kernel> make_triangular_solve(const Request& r);
std::unique_ptr<Kernel> make_cholesky(const Request& r);
std::unique_ptr<Kernel> make_lu(const Request& r);

}  // namespace crescent::cpu
