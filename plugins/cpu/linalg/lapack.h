// The kernels of lapack.cpp.
#pragma once
#include <type_traits>

#include "kernel/kernel.h"

namespace crescent::cpu {

/// Returns the function for float if T is float, else the function for double.
template <class T, class F, class D>
constexpr auto for_type(F* float_function, D* double_function) {
  if constexpr (std::is_same_v<T, float>)
    return float_function;
  else
    return double_function;
}

std::unique_ptr<Kernel> make_eigh(const Request& r);
std::unique_ptr<Kernel> make_solve(const Request& r);
std::unique_ptr<Kernel> make_cholesky(const Request& r);
std::unique_ptr<Kernel> make_lu(const Request& r);

}  // namespace crescent::cpu
