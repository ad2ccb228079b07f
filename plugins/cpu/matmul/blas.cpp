#include "matmul/blas.h"

#include <dlfcn.h>

#include <cstring>
#include <mutex>

#include "libraries/openblas_functions.h"
#include "matmul/onednn.h"

namespace crescent::cpu {
namespace {

constexpr const char* kParallelModels[] = {"serial", "pthread", "openmp"};

std::string library_of(const void* symbol) {
  Dl_info info{};
  return dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : "";
}

BlasLibrary query_library() {
  openblas_set_num_threads(1);
  std::string path = library_of(reinterpret_cast<void*>(openblas_get_config));
  int model_index = openblas_get_parallel();
  return {path, openblas_get_corename(), openblas_get_config(),
          kParallelModels[model_index < 0 || model_index > 2 ? 0 : model_index]};
}

std::mutex& blas_mutex() {
  static std::mutex mutex;
  return mutex;
}

constexpr char transpose_letter(bool transpose) { return transpose ? 'T' : 'N'; }

// OpenBLAS expects columns in memory and sees row-major matrices as their transposes, so the call
// computes c' = b' a'.
template <class T>
void openblas(const Product<T>& p) {
  const char ta = transpose_letter(p.transpose_a), tb = transpose_letter(p.transpose_b);
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  const int lda = static_cast<int>(p.lda), ldb = static_cast<int>(p.ldb),
            ldc = static_cast<int>(p.ldc);
  const T one = 1;
  const BlasLock lock;
  for_type<T>(sgemm_, dgemm_)(&tb, &ta, &n, &m, &k, &one, p.b, &ldb, p.a, &lda, &p.beta, p.c, &ldc);
}

void onednn_gemm(const Product<float>& p) {
  onednn::SingleThread single_thread;
  const auto status = dnnl_sgemm(transpose_letter(p.transpose_a), transpose_letter(p.transpose_b),
                                 p.m, p.n, p.k, 1, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
  if (status != dnnl_success) onednn::fail_as("sgemm", status);
}

}  // namespace

const BlasLibrary& blas_library() {
  static const BlasLibrary library = query_library();
  return library;
}

BlasLock::BlasLock() : is_serialized_(!std::strcmp(blas_library().parallel, kParallelModels[0])) {
  if (is_serialized_) blas_mutex().lock();
}
BlasLock::~BlasLock() {
  if (is_serialized_) blas_mutex().unlock();
}

template <>
Gemm<float> gemm<float>(const Options& options) {
  return options.onednn && kOnednnMultiplies ? onednn_gemm : openblas<float>;
}

template <>
Gemm<double> gemm<double>(const Options&) {
  return openblas<double>;
}

}  // namespace crescent::cpu
