// Matrix products on the calling thread alone. Kernels divide a product among threads by shapes
// only, so that equal operands give identical results.
#pragma once
#include <cstdint>
#include <string>

#include "kernel/kernel.h"

namespace crescent::cpu {

/// The arguments of c (m,n) = op(a) op(b) + beta c, all row-major; op(a) is (m,k), op(b) is (k,n).
/// With beta 0, c is overwritten without being read.
template <class T>
struct Product {
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  int64_t lda = 0;
  const T* b = nullptr;
  int64_t ldb = 0;
  T beta = 0;
  T* c = nullptr;
  int64_t ldc = 0;
  // The following fields are only used by packed_gemm().
  bool is_packed = false;   ///< whether b is the output of pack_panels()
  const T* bias = nullptr;  ///< n elements that are added to each row
  Combine combine = Combine::none;
  const T* other = nullptr;  ///< the array with which c is combined; its rows are `ldc` apart
  bool relu = false;         ///< whether c is the relu of the sum
  T* column_sums = nullptr;  ///< if not null, receives the sums of the columns of b
  /// The operands of the product that the thread computes next, which are prefetched; that product
  /// must have the same sizes as this one.
  const T *next_a = nullptr, *next_b = nullptr;
};

template <class T>
using Gemm = void (*)(const Product<T>& p);

/// oneDNN's matrix product is fast on x86 only.
#ifdef __x86_64__
inline constexpr bool kOnednnMultiplies = true;
#else
inline constexpr bool kOnednnMultiplies = false;
#endif

/// The matrix product of a library: of oneDNN for float32 unless oneDNN is turned off, else of
/// OpenBLAS.
template <class T>
Gemm<T> gemm(const Options& options);
template <>
Gemm<float> gemm<float>(const Options& options);
template <>
Gemm<double> gemm<double>(const Options& options);

/// Crescent's own loops for products that are too small for a library or have few columns; beta
/// must be 0.
template <class T>
void direct_gemm(const Product<T>& p);
template <>
void direct_gemm<float>(const Product<float>& p);
template <>
void direct_gemm<double>(const Product<double>& p);

/// Crescent's own matrix product on packed panels, as fast as the libraries and faster if one
/// dimension is small. beta must be 0 or 1.
template <class T>
void packed_gemm(const Product<T>& p);
template <>
void packed_gemm<float>(const Product<float>& p);
template <>
void packed_gemm<double>(const Product<double>& p);

/// Packs the b of a product into k * panel_columns(n) elements, in the order in which packed_gemm()
/// reads it.
template <class T>
void pack_panels(const Product<T>& p, T* packed);
template <>
void pack_panels<float>(const Product<float>& p, float* packed);
template <>
void pack_panels<double>(const Product<double>& p, double* packed);
inline int64_t panel_columns(int64_t n) { return (n + 15) / 16 * 16; }

/// The name of the library that gemm() uses, for profiles.
template <class T>
const char* gemm_name(const Options& options) {
  return sizeof(T) == 4 && options.onednn && kOnednnMultiplies ? "onednn gemm" : "openblas gemm";
}

/// True when a dimension or stride fits the 32-bit integers of Fortran.
inline bool fits_blas(int64_t dim) { return dim >= 0 && dim < INT32_MAX; }

/// Facts about the loaded OpenBLAS library, which the first call restricts to one thread.
struct BlasLibrary {
  std::string path;  ///< the path of the shared library
  std::string core;  ///< chosen kernels: "SkylakeX"
  /// The text with which the library describes its version and parallel model.
  std::string build;
  const char* parallel;  ///< "serial", "pthread", "openmp"
};
const BlasLibrary& blas_library();

/// A lock that every call of OpenBLAS holds. Its serial build hands out work memory without a lock,
/// so that concurrent calls corrupt each other's results (0.3.21: one in thousands); with that
/// build the lock admits one call at a time.
class BlasLock {
 public:
  BlasLock();
  ~BlasLock();
  BlasLock(const BlasLock&) = delete;
  BlasLock& operator=(const BlasLock&) = delete;

 private:
  bool is_serialized_;
};

}  // namespace crescent::cpu
