// Matrix products that are too small to be divided or packed, with bias and activation.
#include <algorithm>

#include "kernel/typed.h"
#include "matmul/blas.h"
#include "matmul/matmul.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matmul/matmul_direct.cpp"
#include <hwy/foreach_target.h>

#include "kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Element (i,q) of op(a) is at offset i * row_stride_a + q * column_stride_a.
template <class T>
HWY_INLINE int64_t row_stride_a(const Product<T>& p) {
  return p.transpose_a ? 1 : p.lda;
}
template <class T>
HWY_INLINE int64_t column_stride_a(const Product<T>& p) {
  return p.transpose_a ? p.lda : 1;
}

// The number of terms that are added one by one to a partial sum; adding partial sums then loses
// fewer digits than one long sum.
constexpr int64_t kMaxTerms = 256;

// Computes kRows rows from i on and kVectors vectors of columns from j on of c, with all sums in
// registers, one stretch of the depth after the other; the last vector may be partial.
template <int kRows, int kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_depth_range(D d, const Product<T>& p, const T* a, const T* b,
                                     int64_t depth, int64_t tail,
                                     hn::Vec<D> (&sum)[kRows][kVectors]) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t row = row_stride_a(p), step = column_stride_a(p), ldb = p.ldb;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  for (int64_t q = 0; q < depth; ++q, a += step, b += ldb) {
    hn::Vec<D> right[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      right[v] = tail ? load_part(d, b, tail) : hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const auto left = hn::Set(d, a[r * row]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
  }
}

template <int kRows, int kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_block(D d, const Product<T>& p, int64_t i, int64_t j, int64_t tail = 0) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* a = p.a + i * row_stride_a(p);
  const T* b = p.b + j;
  hn::Vec<D> sum[kRows][kVectors], range_sum[kRows][kVectors];
  multiply_depth_range(d, p, a, b, std::min(p.k, kMaxTerms), tail, sum);
  for (int64_t q = kMaxTerms; q < p.k; q += kMaxTerms) {
    multiply_depth_range(d, p, a + q * column_stride_a(p), b + q * p.ldb,
                         std::min(p.k - q, kMaxTerms), tail, range_sum);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Add(sum[r][v], range_sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    T* c = p.c + (i + r) * p.ldc + j;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      tail ? store_part(sum[r][v], d, c, tail) : hn::StoreU(sum[r][v], d, c + v * lanes);
  }
}

template <int kRows, class D, class T>
HWY_INLINE void multiply_rows(D d, const Product<T>& p, int64_t i) {
  // the fewer rows there are, the more columns are computed at a time
  constexpr int kManyVectors = 8 / kRows > 4 ? 8 : 8 / kRows;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + kManyVectors * lanes <= p.n; j += kManyVectors * lanes)
    multiply_block<kRows, kManyVectors>(d, p, i, j);
  for (; j + lanes <= p.n; j += lanes) multiply_block<kRows, 1>(d, p, i, j);
  if (j < p.n) multiply_block<kRows, 1>(d, p, i, j, p.n - j);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE T dot(D d, const T* a, const T* b, int64_t count) {
  auto sum = hn::Zero(d);
  for_vectors(d, count, [&](auto load, auto) HWY_ATTR { sum = hn::MulAdd(load(a), load(b), sum); });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <class T>
void multiply_transposed(const Product<T>& p) {
  const hn::ScalableTag<T> d;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j)
      p.c[i * p.ldc + j] = dot(d, p.a + i * p.lda, p.b + j * p.ldb, p.k);
  }
}

template <class T>
void multiply_both_transposed(const Product<T>& p) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      T sum = 0;
      for (int64_t q = 0; q < p.k; ++q) sum += p.a[i + q * p.lda] * p.b[j * p.ldb + q];
      p.c[i * p.ldc + j] = sum;
    }
  }
}

template <class T>
void multiply(const Product<T>& p) {
  if (p.transpose_b) return p.transpose_a ? multiply_both_transposed(p) : multiply_transposed(p);
  const hn::ScalableTag<T> d;
  int64_t i = 0;
  if (p.n <= static_cast<int64_t>(hn::Lanes(d))) {
    for (; i + 8 <= p.m; i += 8) multiply_rows<8>(d, p, i);
  }
  for (; i + 4 <= p.m; i += 4) multiply_rows<4>(d, p, i);
  if (i + 2 <= p.m) multiply_rows<2>(d, p, i), i += 2;
  if (i < p.m) multiply_rows<1>(d, p, i);
}

void multiply_float(const Product<float>& p) { multiply(p); }
void multiply_double(const Product<double>& p) { multiply(p); }

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(multiply_float);
HWY_EXPORT(multiply_double);

template <>
void direct_gemm<float>(const Product<float>& p) {
  HWY_DYNAMIC_DISPATCH(multiply_float)(p);
}
template <>
void direct_gemm<double>(const Product<double>& p) {
  HWY_DYNAMIC_DISPATCH(multiply_double)(p);
}

namespace {

/// Products with fewer operations are computed in one call, without threads.
constexpr double kMaxDirectFlops = 60e3;

template <class T>
class SmallMatmul final : public Kernel {
 public:
  explicit SmallMatmul(const Request& r) : plan_(r) {}

  void run(const Arguments& a) const override {
    for (int64_t i = 0; i < plan_.count(); ++i) {
      T* c = a.out<T>(0) + i * plan_.m * plan_.n;
      direct_gemm<T>({plan_.transpose_a, plan_.transpose_b, plan_.m, plan_.n, plan_.k,
                      a.in<T>(0) + plan_.a[i], plan_.lda(), a.in<T>(1) + plan_.b[i], plan_.ldb(), 0,
                      c, plan_.n});
      if (plan_.combine != Combine::none) {
        combine(plan_.combine, a.in<T>(plan_.combined_index()) + i * plan_.m * plan_.n, plan_.n,
                plan_.m, plan_.n, c, plan_.n);
      }
      finish(c, plan_.m, plan_.n, plan_.n, plan_.has_bias ? a.in<T>(2) : nullptr, plan_.activation);
    }
  }
  std::string name() const override { return "highway"; }
  double flops() const override { return plan_.flops(); }

 private:
  MatmulPlan plan_;
};

}  // namespace

std::unique_ptr<Kernel> make_direct_matmul(const Request& r) {
  const MatmulPlan plan(r);
  if (plan.flops() > kMaxDirectFlops && plan.k != 0) return nullptr;
  return make_typed<SmallMatmul>(r, r.outputs[0].dtype);
}

}  // namespace crescent::cpu
#endif
