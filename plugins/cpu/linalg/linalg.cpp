// Singular value decompositions by LAPACK, of single matrices and of batches. LAPACK sees a
// row-major matrix as its transpose, so the kernels exchange u and v instead of transposing
// matrices.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernel/converted.h"
#include "kernel/typed.h"
#include "libraries/openblas_functions.h"
#include "linalg/eig.h"
#include "linalg/lapack.h"
#include "linalg/qr.h"
#include "matmul/blas.h"

namespace crescent::cpu {
namespace {

template <class T, class... A>
void gesdd(A... arguments) {
  for_type<T>(sgesdd_, dgesdd_)(arguments...);
}

template <class T>
class SvdKernel final : public Kernel {
 public:
  explicit SvdKernel(const Request& r)
      : m_(static_cast<int>(r.inputs[0].shape[-2])),
        n_(static_cast<int>(r.inputs[0].shape[-1])),
        k_(std::min(m_, n_)),
        matrix_count_(r.inputs[0].shape.slice(0, r.inputs[0].shape.rank() - 2).size()) {
    T best_size = 0, unused = 0;
    const int query_size = -1;
    int info = 0, integer_scratch = 0;
    if (k_ == 0) return;
    const BlasLock lock;
    gesdd<T>("S", &n_, &m_, &unused, &n_, &unused, &unused, &n_, &unused, &k_, &best_size,
             &query_size, &integer_scratch, &info, 1);
    work_size_ = work_size(best_size);
  }
  std::string name() const override { return "openblas lapack"; }
  size_t scratch_bytes() const override {
    return (size() + work_size_) * sizeof(T) + 8 * k_ * sizeof(int) + 64;
  }

  void run(const Arguments& a) const override {
    if (k_ == 0) return;
    const BlasLock lock;
    for (int64_t i = 0; i < matrix_count_; ++i) run_one(a, i);
  }

 private:
  void run_one(const Arguments& a, int64_t i) const {
    T* matrix = reinterpret_cast<T*>(a.scratch);
    const T* from = a.in<T>(0) + static_cast<size_t>(i) * size();
    std::copy_n(from, size(), matrix);
    T *work = matrix + size(), *u = a.out<T>(0) + i * m_ * k_, *s = a.out<T>(1) + i * k_,
      *vt = a.out<T>(2) + i * k_ * n_;
    int* integers = reinterpret_cast<int*>(work + work_size_);
    int info = 0;
    gesdd<T>("S", &n_, &m_, matrix, &n_, s, vt, &n_, u, &k_, work, &work_size_, integers, &info, 1);
    if (info == 0) return;  // otherwise the matrix contains NaN, or the iteration did not converge
    for (auto [values, count] : {std::pair(u, int64_t{m_} * k_), std::pair(s, int64_t{k_}),
                                 std::pair(vt, int64_t{k_} * n_)})
      std::fill_n(values, count, std::numeric_limits<T>::quiet_NaN());
  }
  size_t size() const { return static_cast<size_t>(m_) * static_cast<size_t>(n_); }

  int m_, n_, k_, work_size_ = 0;
  int64_t matrix_count_;
};

std::unique_ptr<Kernel> make_svd(const Request& r) {
  const Shape& shape = r.inputs[0].shape;
  if (shape.rank() < 2 || !fits_blas(shape[-2]) || !fits_blas(shape[-1])) return nullptr;
  return make_typed<SvdKernel>(r, r.inputs[0].dtype);
}

/// Returns null for batches of small matrices, which the plugin of the op decomposes eight at a
/// time.
std::unique_ptr<Kernel> make_batched_svd(const Request& r) {
  constexpr int64_t kMaxSmallRows = 32, kMinBatch = 4;
  const Shape& shape = r.inputs[0].shape;
  const bool is_large_batch = shape.slice(0, shape.rank() - 2).size() >= kMinBatch;
  return is_large_batch && std::max(shape[-2], shape[-1]) <= kMaxSmallRows ? nullptr : make_svd(r);
}

}  // namespace

std::span<const KernelEntry> linalg_kernels() {
  static constexpr KernelEntry kEntries[] = {{"qr", make_qr},
                                             {"qr", make_converted<linalg_kernels>},
                                             {"svd", make_svd},
                                             {"svd", make_converted<linalg_kernels>},
                                             {"svd_batch", make_batched_svd},
                                             {"eig", make_eig},
                                             {"eigh", make_eigh},
                                             {"solve", make_solve},
                                             {"tri_solve", make_triangular_solve},
                                             {"cholesky", make_cholesky},
                                             {"lu_factor", make_lu}};
  return kEntries;
}

}  // namespace crescent::cpu
