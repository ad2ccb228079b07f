// OpenBLAS as a late library: the functions of BLAS and LAPACK that kernels call, by their Fortran
// names, and OpenBLAS' own functions. The names are macros. The last arguments of type size_t are
// the lengths of the strings, as Fortran passes them.
#pragma once
#include <cstddef>
#include <type_traits>

#include "libraries/lazy_library.h"

extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*,
            const float*, const int*, const float*, const int*, const float*, float*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*,
            const double*, const int*, const double*, const int*, const double*, double*,
            const int*);
void strsm_(const char*, const char*, const char*, const char*, const int*, const int*,
            const float*, const float*, const int*, float*, const int*, size_t, size_t, size_t,
            size_t);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*,
            const double*, const double*, const int*, double*, const int*, size_t, size_t, size_t,
            size_t);
void sgetrf_(const int*, const int*, float*, const int*, int*, int*);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void dpotrf_(const char*, const int*, double*, const int*, int*, size_t);
void sgesdd_(const char*, const int*, const int*, float*, const int*, float*, float*, const int*,
             float*, const int*, float*, const int*, int*, int*, size_t);
void dgesdd_(const char*, const int*, const int*, double*, const int*, double*, double*, const int*,
             double*, const int*, double*, const int*, int*, int*, size_t);
void ssyevd_(const char*, const char*, const int*, float*, const int*, float*, float*, const int*,
             int*, const int*, int*, size_t, size_t);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*,
             const int*, int*, const int*, int*, size_t, size_t);
void openblas_set_num_threads(int);
char* openblas_get_corename();
char* openblas_get_config();
int openblas_get_parallel();
}

namespace crescent::cpu {

/// The OpenBLAS library. It is told which of its kernels to use when it is loaded, because OpenBLAS
/// does not recognize processors that are newer than itself and would use slow kernels on them.
const LazyLibrary& openblas_library();

/// Returns the function for float if T is float, else the function for double.
template <class T, class F, class D>
constexpr auto for_type(F* float_function, D* double_function) {
  if constexpr (std::is_same_v<T, float>)
    return float_function;
  else
    return double_function;
}

}  // namespace crescent::cpu

#define CRESCENT_OPENBLAS(name) CRESCENT_LAZY_FUNCTION(openblas_library, name)
#define sgemm_ CRESCENT_OPENBLAS(sgemm_)
#define dgemm_ CRESCENT_OPENBLAS(dgemm_)
#define strsm_ CRESCENT_OPENBLAS(strsm_)
#define dtrsm_ CRESCENT_OPENBLAS(dtrsm_)
#define sgetrf_ CRESCENT_OPENBLAS(sgetrf_)
#define dgetrf_ CRESCENT_OPENBLAS(dgetrf_)
#define dpotrf_ CRESCENT_OPENBLAS(dpotrf_)
#define sgesdd_ CRESCENT_OPENBLAS(sgesdd_)
#define dgesdd_ CRESCENT_OPENBLAS(dgesdd_)
#define ssyevd_ CRESCENT_OPENBLAS(ssyevd_)
#define dsyevd_ CRESCENT_OPENBLAS(dsyevd_)
#define openblas_set_num_threads CRESCENT_OPENBLAS(openblas_set_num_threads)
#define openblas_get_corename CRESCENT_OPENBLAS(openblas_get_corename)
#define openblas_get_config CRESCENT_OPENBLAS(openblas_get_config)
#define openblas_get_parallel CRESCENT_OPENBLAS(openblas_get_parallel)
