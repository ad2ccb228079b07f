// One row times a matrix, as in the prediction of a single sample: bound by reading the matrix once. Where that changes
// seldom it is laid out in the order in which it is read.
#include <algorithm>
#include <bit>

#include "blas.h"
#include "matmul.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matmul_row.cpp"
#include <hwy/foreach_target.h>

#include "vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// out (columns) = a (depth) b, rows of b `step` apart. Eight sums at a time hide the time that an addition takes: kV
// vectors of columns by 8 / kV rows. The last vector may be partial.
template <int kV, class D, class T = hn::TFromD<D>>
HWY_INLINE void columns(D d, const T* a, int64_t depth, const T* b, int64_t step, T* out, int64_t rest) {
  constexpr int kU = 8 / kV;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sum[kU][kV];
#pragma GCC unroll 8
  for (int u = 0; u < kU; ++u) {
#pragma GCC unroll 8
    for (int v = 0; v < kV; ++v) sum[u][v] = hn::Zero(d);
  }
  auto add = [&](int u, int64_t q) HWY_ATTR {
    const auto left = hn::Set(d, a[q]);
#pragma GCC unroll 8
    for (int v = 0; v < kV; ++v) {
      const T* at = b + q * step + v * lanes;
      sum[u][v] = hn::MulAdd(left, v == kV - 1 && rest ? load_part(d, at, rest) : hn::LoadU(d, at), sum[u][v]);
    }
  };
  int64_t q = 0;
  for (; q + kU <= depth; q += kU) {
#pragma GCC unroll 8
    for (int u = 0; u < kU; ++u) add(u, q + u);
  }
  for (; q < depth; ++q) add(0, q);
#pragma GCC unroll 8
  for (int v = 0; v < kV; ++v) {
    auto total = sum[0][v];
#pragma GCC unroll 8
    for (int u = 1; u < kU; ++u) total = hn::Add(total, sum[u][v]);
    v == kV - 1 && rest ? store_part(total, d, out + v * lanes, rest) : hn::StoreU(total, d, out + v * lanes);
  }
}

template <class T>
void row_product(const T* a, int64_t depth, const T* b, int64_t step, int64_t count, T* out) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + 8 * lanes <= count; j += 8 * lanes) columns<8>(d, a, depth, b + j, step, out + j, 0);
  for (; j + 2 * lanes <= count; j += 2 * lanes) columns<2>(d, a, depth, b + j, step, out + j, 0);
  for (; j < count; j += lanes) columns<1>(d, a, depth, b + j, step, out + j, j + lanes <= count ? 0 : count - j);
}

void row_float(const float* a, int64_t depth, const float* b, int64_t step, int64_t count, float* out) {
  row_product(a, depth, b, step, count, out);
}
void row_double(const double* a, int64_t depth, const double* b, int64_t step, int64_t count, double* out) {
  row_product(a, depth, b, step, count, out);
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(row_float);
HWY_EXPORT(row_double);

namespace {

template <class T>
void row_product(const T* a, int64_t depth, const T* b, int64_t step, int64_t count, T* out) {
  if constexpr (sizeof(T) == 4) HWY_DYNAMIC_DISPATCH(row_float)(a, depth, b, step, count, out);
  else HWY_DYNAMIC_DISPATCH(row_double)(a, depth, b, step, count, out);
}

/// Blocks of columns, one after the other. A part of the product is some rows of a block.
struct RowCut {
  explicit RowCut(const MatmulPlan& p) : n(p.n), k(p.k), blocks((n + kColumns - 1) / kColumns) {
    const int64_t most = std::max<int64_t>(1, k * std::min(n, kColumns) / kPart);
    // A power of two is the same for every thread of two, four, ...
    if (!p.transpose_b) depths = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
  }
  int64_t first(int64_t depth) const { return k * depth / depths; }
  int64_t width(int64_t block) const { return std::min(kColumns, n - block * kColumns); }

  static constexpr int64_t kColumns = 128, kPart = 32768;            // elements of b: some 2 us
  int64_t n, k, blocks, depths = 1;
};

/// (k,n), or (n,k) where it is transposed, to blocks of columns.
template <class T>
class PackBlocks final : public Kernel {
 public:
  explicit PackBlocks(const MatmulPlan& plan) : cut_(plan), transposed_(plan.transpose_b) {}
  void run(const Arguments& a) override {
    a.pool.parallel(cut_.blocks, [&](int64_t block, int) {
      const int64_t width = cut_.width(block), j = block * RowCut::kColumns;
      const T* from = a.in<T>(0) + (transposed_ ? j * cut_.k : j);
      T* to = a.out<T>(0) + j * cut_.k;
      for (int64_t q = 0; q < cut_.k; ++q, to += width) {
        for (int64_t i = 0; i < width; ++i) to[i] = transposed_ ? from[i * cut_.k + q] : from[q * cut_.n + i];
      }
    });
  }
  std::string name() const override { return "pack"; }

 private:
  RowCut cut_;
  bool transposed_;
};

template <class T>
class RowMatmul final : public Kernel {
 public:
  explicit RowMatmul(const Request& r) : plan_(r), cut_(plan_), dtype_(r.outputs[0].dtype) {}

  Prepared prepare(int input) override {
    if (input != 1) return {};
    auto kernel = std::make_unique<PackBlocks<T>>(plan_);
    is_packed_ = true, plan_.transpose_b = false, cut_ = RowCut(plan_);
    return {std::move(kernel), {dtype_, {plan_.k, plan_.n}}};
  }
  void run(const Arguments& a) override {
    a.pool.parallel(cut_.blocks * cut_.depths, [&](int64_t part, int) { compute(a, part / cut_.depths, part % cut_.depths); });
    if (cut_.depths == 1) return;
    T* out = a.out<T>(0);
    const T* partial = reinterpret_cast<const T*>(a.scratch);
    std::copy_n(partial, plan_.n, out);
    for (int64_t i = 1; i < cut_.depths; ++i) accumulate(out, partial + i * plan_.n, plan_.n);
    finish(out, 1, plan_.n, plan_.n, plan_.bias ? a.in<T>(2) : nullptr, plan_.epilogue);
  }
  std::string name() const override { return is_packed_ ? "highway row, packed" : "highway row"; }
  size_t scratch_bytes() const override { return cut_.depths > 1 ? static_cast<size_t>(cut_.depths * plan_.n) * sizeof(T) : 0; }
  double flops() const override { return plan_.flops(); }

 private:
  void compute(const Arguments& a, int64_t block, int64_t depth) const {
    const int64_t j = block * RowCut::kColumns, width = cut_.width(block), q = cut_.first(depth), rows = cut_.first(depth + 1) - q;
    T* out = (cut_.depths > 1 ? reinterpret_cast<T*>(a.scratch) + depth * plan_.n : a.out<T>(0)) + j;
    const T *x = a.in<T>(0) + q, *b = a.in<T>(1);
    if (plan_.transpose_b) {
      direct_gemm<T>({false, true, 1, width, plan_.k, x, plan_.k, b + j * plan_.k, plan_.k, 0, out, plan_.n});
    } else {
      row_product(x, rows, is_packed_ ? b + j * plan_.k + q * width : b + q * plan_.n + j, is_packed_ ? width : plan_.n, width, out);
    }
    if (cut_.depths == 1) finish(out, 1, width, width, plan_.bias ? a.in<T>(2) + j : nullptr, plan_.epilogue);
  }

  MatmulPlan plan_;
  RowCut cut_;
  DType dtype_;
  bool is_packed_ = false;
};

}  // namespace

std::unique_ptr<Kernel> make_row_matmul(const Request& r) {
  const MatmulPlan plan(r);
  if (plan.count() != 1 || plan.m != 1 || plan.flops() == 0) return nullptr;
  switch (r.outputs[0].dtype) {
    case DType::float32: return std::make_unique<RowMatmul<float>>(r);
    case DType::float64: return std::make_unique<RowMatmul<double>>(r);
    default: return nullptr;
  }
}

}  // namespace crescent::cpu
#endif
