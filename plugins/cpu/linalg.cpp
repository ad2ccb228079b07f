// QR and singular values by LAPACK. A row-major matrix is its transpose to Fortran, so QR is done as LQ of the transpose
// and the two sides of the singular value decomposition change places: nothing is transposed.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "blas.h"
#include "converted.h"

extern "C" {
void sgelqf_(const int*, const int*, float*, const int*, float*, float*, const int*, int*);
void dgelqf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void sorglq_(const int*, const int*, const int*, float*, const int*, const float*, float*, const int*, int*);
void dorglq_(const int*, const int*, const int*, double*, const int*, const double*, double*, const int*, int*);
void sgesdd_(const char*, const int*, const int*, float*, const int*, float*, float*, const int*, float*, const int*,
             float*, const int*, int*, int*, size_t);
void dgesdd_(const char*, const int*, const int*, double*, const int*, double*, double*, const int*, double*,
             const int*, double*, const int*, int*, int*, size_t);
}

namespace crescent::cpu {
namespace {

template <class T>
constexpr auto gelqf = [] {
  if constexpr (std::is_same_v<T, float>) return sgelqf_;
  else return dgelqf_;
}();
template <class T>
constexpr auto orglq = [] {
  if constexpr (std::is_same_v<T, float>) return sorglq_;
  else return dorglq_;
}();
template <class T>
constexpr auto gesdd = [] {
  if constexpr (std::is_same_v<T, float>) return sgesdd_;
  else return dgesdd_;
}();

/// A matrix (m,n) as Fortran sees it, and the room its factorisation needs.
template <class T>
class Factorisation : public Kernel {
 public:
  explicit Factorisation(const Request& r)
      : m_(static_cast<int>(r.inputs[0].shape[0])), n_(static_cast<int>(r.inputs[0].shape[1])), k_(std::min(m_, n_)) {}
  std::string name() const override { return "openblas lapack"; }

 protected:
  size_t size() const { return static_cast<size_t>(m_) * static_cast<size_t>(n_); }
  T* copy_input(const Arguments& a) const {
    std::copy_n(a.in<T>(0), size(), reinterpret_cast<T*>(a.scratch));
    return reinterpret_cast<T*>(a.scratch);
  }
  static void fill_nan(T* values, size_t count) { std::fill_n(values, count, std::numeric_limits<T>::quiet_NaN()); }

  int m_, n_, k_;
};

template <class T>
class QrKernel final : public Factorisation<T> {
 public:
  explicit QrKernel(const Request& r) : Factorisation<T>(r) {
    T wanted[2] = {}, nothing = 0;
    const int ask = -1, lda = std::max(n_, 1);
    int info = 0;
    if (k_ == 0) return;
    const BlasTurn turn;
    gelqf<T>(&n_, &m_, &nothing, &lda, &nothing, &wanted[0], &ask, &info);
    orglq<T>(&k_, &m_, &k_, &nothing, &lda, &nothing, &wanted[1], &ask, &info);
    work_ = static_cast<int>(std::max(wanted[0], wanted[1]));
  }
  size_t scratch_bytes() const override { return (this->size() + k_ + work_) * sizeof(T); }

  void run(const Arguments& a) override {
    if (k_ == 0) return;
    const BlasTurn turn;
    T* matrix = this->copy_input(a);
    T *tau = matrix + this->size(), *work = tau + k_;
    int info = 0;
    gelqf<T>(&n_, &m_, matrix, &n_, tau, work, &work_, &info);
    T* r = a.out<T>(1);
    for (int i = 0; i < k_; ++i) {
      for (int j = 0; j < n_; ++j) r[i * n_ + j] = j < i ? T{0} : matrix[static_cast<size_t>(i) * n_ + j];
    }
    orglq<T>(&k_, &m_, &k_, matrix, &n_, tau, work, &work_, &info);
    for (int i = 0; i < m_; ++i) std::copy_n(matrix + static_cast<size_t>(i) * n_, k_, a.out<T>(0) + static_cast<size_t>(i) * k_);
  }

 private:
  using Factorisation<T>::m_, Factorisation<T>::n_, Factorisation<T>::k_;
  int work_ = 0;
};

template <class T>
class SvdKernel final : public Factorisation<T> {
 public:
  explicit SvdKernel(const Request& r) : Factorisation<T>(r) {
    T wanted = 0, nothing = 0;
    const int ask = -1;
    int info = 0, integer = 0;
    if (k_ == 0) return;
    const BlasTurn turn;
    gesdd<T>("S", &n_, &m_, &nothing, &n_, &nothing, &nothing, &n_, &nothing, &k_, &wanted, &ask, &integer, &info, 1);
    work_ = static_cast<int>(wanted);
  }
  size_t scratch_bytes() const override { return (this->size() + work_) * sizeof(T) + 8 * k_ * sizeof(int) + 64; }

  void run(const Arguments& a) override {
    if (k_ == 0) return;
    const BlasTurn turn;
    T* matrix = this->copy_input(a);
    T *work = matrix + this->size(), *u = a.out<T>(0), *s = a.out<T>(1), *vt = a.out<T>(2);
    int* integers = reinterpret_cast<int*>(work + work_);
    int info = 0;
    gesdd<T>("S", &n_, &m_, matrix, &n_, s, vt, &n_, u, &k_, work, &work_, integers, &info, 1);
    if (info == 0) return;                          // else: values that are not numbers, or no convergence
    this->fill_nan(u, static_cast<size_t>(m_) * k_), this->fill_nan(s, k_), this->fill_nan(vt, static_cast<size_t>(k_) * n_);
  }

 private:
  using Factorisation<T>::m_, Factorisation<T>::n_, Factorisation<T>::k_;
  int work_ = 0;
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Request& r) {
  const Shape& shape = r.inputs[0].shape;
  if (shape.rank() != 2 || !fits_blas(shape[0]) || !fits_blas(shape[1])) return nullptr;
  switch (r.inputs[0].dtype) {
    case DType::float32: return std::make_unique<K<float>>(r);
    case DType::float64: return std::make_unique<K<double>>(r);
    default: return nullptr;
  }
}

}  // namespace

std::span<const KernelRow> linalg_kernels() {
  static constexpr KernelRow kRows[] = {{"qr", make<QrKernel>},
                                        {"qr", make_converted<linalg_kernels>},
                                        {"svd", make<SvdKernel>},
                                        {"svd", make_converted<linalg_kernels>}};
  return kRows;
}

}  // namespace crescent::cpu
