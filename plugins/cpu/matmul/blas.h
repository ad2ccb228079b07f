// Products of matrices on the calling thread alone: parallelism is the pool's, so the same operands
// give the same bits.
#pragma once
#include <cstdint>
#include <string>

#include "kernel/kernel.h"

namespace crescent::cpu {

/// c (m,n) = op(a) op(b) + beta c, row-major; op(a) is (m,k), op(b) is (k,n). beta 0 overwrites c
/// whatever is in it.
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
  // For packed_gemm() alone:
  bool is_packed = false;   ///< b is what pack_panels() wrote
  const T* bias = nullptr;  ///< n elements that are added to each row
  Combine combine = Combine::none;
  const T* other = nullptr;  ///< what c is combined with, as far apart as c
  bool relu = false;         ///< c = relu(sum)
  T* column_sums = nullptr;  ///< = the sum of the rows of b
  const T *next_a = nullptr,
          *next_b =
              nullptr;  ///< of a product of this kind that will probably follow: fetched ahead
};

template <class T>
using Gemm = void (*)(const Product<T>& p);

/// oneDNN's own product of matrices is fast on x86 only.
#ifdef __x86_64__
inline constexpr bool kOnednnMultiplies = true;
#else
inline constexpr bool kOnednnMultiplies = false;
#endif

/// The library that multiplies: oneDNN for float32 unless it is switched off, OpenBLAS for the
/// rest.
template <class T>
Gemm<T> gemm(const Options& options);
template <>
Gemm<float> gemm<float>(const Options& options);
template <>
Gemm<double> gemm<double>(const Options& options);

/// Own loops, for products too small for a library and for those of few columns. Only for beta 0.
template <class T>
void direct_gemm(const Product<T>& p);
template <>
void direct_gemm<float>(const Product<float>& p);
template <>
void direct_gemm<double>(const Product<double>& p);

/// Own product on packed panels, as fast as the libraries' and faster where one side is small. beta
/// is 0 or 1.
template <class T>
void packed_gemm(const Product<T>& p);
template <>
void packed_gemm<float>(const Product<float>& p);
template <>
void packed_gemm<double>(const Product<double>& p);

/// The b of a product as packed_gemm() reads it: k panel_columns(n) elements.
template <class T>
void pack_panels(const Product<T>& p, T* packed);
template <>
void pack_panels<float>(const Product<float>& p, float* packed);
template <>
void pack_panels<double>(const Product<double>& p, double* packed);
inline int64_t panel_columns(int64_t n) { return (n + 15) / 16 * 16; }

/// The name of that library, for profiles.
template <class T>
const char* gemm_name(const Options& options) {
  return sizeof(T) == 4 && options.onednn && kOnednnMultiplies ? "onednn gemm" : "openblas gemm";
}

/// Dimensions and strides go to Fortran as 32-bit integers.
inline bool fits_blas(int64_t dim) { return dim >= 0 && dim < INT32_MAX; }

/// The OpenBLAS that answered; set to one thread when first asked for.
struct BlasLibrary {
  std::string path;      ///< of the shared library
  std::string core;      ///< kernels it chose: "SkylakeX"
  std::string build;     ///< its own words: version and parallel model
  const char* parallel;  ///< "serial", "pthread", "openmp"
  bool genuine;          ///< false: another library (the slow reference BLAS) answers for sgemm
};
const BlasLibrary& blas_library();

/// Held during every call of OpenBLAS. Its serial build hands out work memory without a lock, so
/// that calls of two threads at a time spoil each other's results now and then (0.3.21: one in
/// thousands): there, one call at a time.
class BlasTurn {
 public:
  BlasTurn();
  ~BlasTurn();
  BlasTurn(const BlasTurn&) = delete;
  BlasTurn& operator=(const BlasTurn&) = delete;

 private:
  bool alone_;
};

}  // namespace crescent::cpu
