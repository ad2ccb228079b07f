// The product of a row and a matrix, as in the prediction of a single sample, or of a matrix and a
// column. Reading the matrix once takes most of the time; a matrix that seldom changes is packed in
// the order in which it is read. In mixed precision it is read as bfloat16, and sums are float32.
#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

#include "kernel/half.h"
#include "kernel/loops.h"
#include "kernel/typed.h"
#include "matmul/blas.h"
#include "matmul/matmul.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matmul/matmul_row.cpp"
#include <hwy/foreach_target.h>

#include "kernel/vector-inl.h"

#ifndef CRESCENT_CPU_MATMUL_ROW_ONCE
#define CRESCENT_CPU_MATMUL_ROW_ONCE
namespace crescent::cpu {

/// A float32 value in memory that is rounded to bfloat16 when it is loaded.
struct RoundedFloat {
  float value;
};

}  // namespace crescent::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> rounded(D d, hn::Vec<D> x) {
  HWY_ALIGN BFloat16 half[hn::MaxLanes(d)];
  store(x, d, half);
  return load(d, half);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const RoundedFloat* from) {
  return rounded(d, hn::LoadU(d, &from->value));
}
template <class D>
HWY_INLINE hn::Vec<D> load_part(D d, const RoundedFloat* from, int64_t count) {
  return rounded(d, load_part(d, &from->value, count));
}

namespace {

// Computes out (columns) = a (depth) b, where the rows of b are `step` apart. Eight independent
// sums, for kV vectors of columns and 8 / kV rows, hide the latency of additions. The last vector
// may be partial.
template <int kV, class D, class B, class T = hn::TFromD<D>>
HWY_INLINE void multiply_columns(D d, const T* a, int64_t depth, const B* b, int64_t step, T* out,
                                 int64_t tail) {
  constexpr int kUnrolledRows = 8 / kV;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sum[kUnrolledRows][kV];
#pragma GCC unroll 8
  for (int u = 0; u < kUnrolledRows; ++u) {
#pragma GCC unroll 8
    for (int v = 0; v < kV; ++v) sum[u][v] = hn::Zero(d);
  }
  auto add = [&](int u, int64_t q) HWY_ATTR {
    const auto left = hn::Set(d, a[q]);
#pragma GCC unroll 8
    for (int v = 0; v < kV; ++v) {
      const B* at = b + q * step + v * lanes;
      sum[u][v] =
          hn::MulAdd(left, v == kV - 1 && tail ? load_part(d, at, tail) : load(d, at), sum[u][v]);
    }
  };
  int64_t q = 0;
  for (; q + kUnrolledRows <= depth; q += kUnrolledRows) {
#pragma GCC unroll 8
    for (int u = 0; u < kUnrolledRows; ++u) add(u, q + u);
  }
  for (; q < depth; ++q) add(0, q);
#pragma GCC unroll 8
  for (int v = 0; v < kV; ++v) {
    auto total = sum[0][v];
#pragma GCC unroll 8
    for (int u = 1; u < kUnrolledRows; ++u) total = hn::Add(total, sum[u][v]);
    v == kV - 1 && tail ? store_part(total, d, out + v * lanes, tail)
                        : hn::StoreU(total, d, out + v * lanes);
  }
}

template <class T, class B>
void multiply_row(const T* a, int64_t depth, const B* b, int64_t step, int64_t count, T* out) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + 8 * lanes <= count; j += 8 * lanes)
    multiply_columns<8>(d, a, depth, b + j, step, out + j, 0);
  for (; j + 2 * lanes <= count; j += 2 * lanes)
    multiply_columns<2>(d, a, depth, b + j, step, out + j, 0);
  for (; j < count; j += lanes)
    multiply_columns<1>(d, a, depth, b + j, step, out + j, j + lanes <= count ? 0 : count - j);
}

void multiply_row_float(const float* a, int64_t depth, const float* b, int64_t step, int64_t count,
                        float* out) {
  multiply_row(a, depth, b, step, count, out);
}
void multiply_row_double(const double* a, int64_t depth, const double* b, int64_t step,
                         int64_t count, double* out) {
  multiply_row(a, depth, b, step, count, out);
}
void multiply_row_half(const float* a, int64_t depth, const BFloat16* b, int64_t step,
                       int64_t count, float* out) {
  multiply_row(a, depth, b, step, count, out);
}
void multiply_row_rounded(const float* a, int64_t depth, const RoundedFloat* b, int64_t step,
                          int64_t count, float* out) {
  multiply_row(a, depth, b, step, count, out);
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(multiply_row_float);
HWY_EXPORT(multiply_row_double);
HWY_EXPORT(multiply_row_half);
HWY_EXPORT(multiply_row_rounded);

namespace {

template <class T, class B>
void multiply_row(const T* a, int64_t depth, const B* b, int64_t step, int64_t count, T* out) {
  if constexpr (std::is_same_v<B, BFloat16>)
    HWY_DYNAMIC_DISPATCH(multiply_row_half)(a, depth, b, step, count, out);
  else if constexpr (std::is_same_v<B, RoundedFloat>)
    HWY_DYNAMIC_DISPATCH(multiply_row_rounded)(a, depth, b, step, count, out);
  else if constexpr (sizeof(T) == 4)
    HWY_DYNAMIC_DISPATCH(multiply_row_float)(a, depth, b, step, count, out);
  else
    HWY_DYNAMIC_DISPATCH(multiply_row_double)(a, depth, b, step, count, out);
}

/// The division of the matrix into blocks of columns, and of each block into ranges of rows; each
/// range is a part of the work.
struct RowCut {
  explicit RowCut(const MatmulPlan& p) : n(p.n), k(p.k), blocks((n + kColumns - 1) / kColumns) {
    const int64_t max_parts = std::max<int64_t>(1, k * std::min(n, kColumns) / kPartElements);
    // A transposed matrix with fewer columns than this consists in memory of few long rows, which
    // are split along k; one with more columns is not split along k.
    constexpr int64_t kMinColumns = 16;
    // A power of two splits evenly among 2, 4, ... threads.
    if (!p.transpose_b || n < kMinColumns)
      k_parts = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(max_parts)));
  }
  int64_t first_k(int64_t part) const { return k * part / k_parts; }
  int64_t width(int64_t block) const { return std::min(kColumns, n - block * kColumns); }

  // columns per block, and elements of b per part, which take some 2 us
  static constexpr int64_t kColumns = 128, kPartElements = 32768;
  int64_t n, k, blocks, k_parts = 1;
};

/// Multiplies range `k_part` of the row x by the rows of b (k,n) in the same range, for the columns
/// of one block. `is_packed` tells whether b is packed into blocks.
template <class T, class B>
void multiply_block(const RowCut& cut, const T* x, const B* b, bool is_packed, int64_t block,
                    int64_t k_part, T* out) {
  const int64_t j = block * RowCut::kColumns, width = cut.width(block);
  const int64_t q = cut.first_k(k_part), rows = cut.first_k(k_part + 1) - q;
  multiply_row(x + q, rows, is_packed ? b + j * cut.k + q * width : b + q * cut.n + j,
               is_packed ? width : cut.n, width, out);
}

std::string conversion_name(const MatmulPlan& p) {
  return concat("row blocks ", p.k, " ", p.n, p.transpose_b ? " transposed" : "");
}

/// Packs a (k,n) matrix, or a transposed (n,k) one, into blocks of columns.
template <class T>
class PackBlocks final : public Kernel {
 public:
  explicit PackBlocks(const MatmulPlan& plan) : cut_(plan), is_transposed_(plan.transpose_b) {}
  void run(const Arguments& a) const override {
    a.threads.parallel(cut_.blocks, [&](int64_t block, int) {
      const int64_t width = cut_.width(block), j = block * RowCut::kColumns;
      const T* from = a.in<T>(0) + (is_transposed_ ? j * cut_.k : j);
      T* to = a.out<T>(0) + j * cut_.k;
      for (int64_t q = 0; q < cut_.k; ++q, to += width) {
        for (int64_t i = 0; i < width; ++i)
          to[i] = is_transposed_ ? from[i * cut_.k + q] : from[q * cut_.n + i];
      }
    });
  }
  std::string name() const override { return "pack"; }

 private:
  RowCut cut_;
  bool is_transposed_;
};

/// Converts a product with a column to a product with a row: the transposed column times the
/// transposed matrix.
MatmulPlan as_row(MatmulPlan plan) {
  if (plan.m != 1) {
    std::swap(plan.m, plan.n);
    plan.transpose_b = !plan.transpose_a, plan.transpose_a = false;
  } else if (plan.n == 1) {
    plan.transpose_b = true;
  }
  return plan;
}

template <class T>
class RowMatmul final : public Kernel {
 public:
  explicit RowMatmul(const Request& r)
      : plan_(as_row(MatmulPlan(r))),
        cut_(plan_),
        dtype_(r.outputs[0].dtype),
        matrix_input_(MatmulPlan(r).m == 1 ? 1 : 0) {}

  InputConversion prepare(int input) override {
    if (input != 1 || matrix_input_ != 1 || plan_.n == 1) return {};
    auto kernel = std::make_unique<PackBlocks<T>>(plan_);
    std::string conversion = conversion_name(plan_);
    is_packed_ = true, plan_.transpose_b = false, cut_ = RowCut(plan_);
    return {std::move(kernel), {dtype_, {plan_.k, plan_.n}}, std::move(conversion)};
  }
  void run(const Arguments& a) const override {
    a.threads.parallel(cut_.blocks * cut_.k_parts, [&](int64_t part, int) {
      compute(a, part / cut_.k_parts, part % cut_.k_parts);
    });
    if (cut_.k_parts == 1) return;
    T* out = a.out<T>(0);
    const T* partial = reinterpret_cast<const T*>(a.scratch);
    std::copy_n(partial, plan_.n, out);
    for (int64_t i = 1; i < cut_.k_parts; ++i) accumulate(out, partial + i * plan_.n, plan_.n);
    finish_columns(a, 0, plan_.n);
  }
  std::string name() const override { return is_packed_ ? "highway row, packed" : "highway row"; }
  size_t scratch_bytes() const override {
    return cut_.k_parts > 1 ? cut_.k_parts * plan_.n * sizeof(T) : 0;
  }
  double flops() const override { return plan_.flops(); }

 private:
  void compute(const Arguments& a, int64_t block, int64_t k_part) const {
    const int64_t j = block * RowCut::kColumns, width = cut_.width(block);
    T* out =
        (cut_.k_parts > 1 ? reinterpret_cast<T*>(a.scratch) + k_part * plan_.n : a.out<T>(0)) + j;
    const T *x = a.in<T>(1 - matrix_input_), *b = a.in<T>(matrix_input_);
    if (plan_.transpose_b) {
      const int64_t q = cut_.first_k(k_part), count = cut_.first_k(k_part + 1) - q;
      direct_gemm<T>({false, true, 1, width, count, x + q, plan_.k, b + j * plan_.k + q, plan_.k, 0,
                      out, plan_.n});
    } else {
      multiply_block(cut_, x, b, is_packed_, block, k_part, out);
    }
    if (cut_.k_parts == 1) finish_columns(a, j, width);
  }
  void finish_columns(const Arguments& a, int64_t j, int64_t width) const {
    T* out = a.out<T>(0) + j;
    if (plan_.combine != Combine::none)
      combine(plan_.combine, a.in<T>(plan_.combined_index()) + j, plan_.n, 1, width, out, plan_.n);
    finish(out, 1, width, width, plan_.has_bias ? a.in<T>(2) + j : nullptr, plan_.activation);
  }

  MatmulPlan plan_;
  RowCut cut_;
  DType dtype_;
  int matrix_input_;  ///< index of the input that is the matrix
  bool is_packed_ = false;
};

/// Packs a (k,n) matrix of float32 or bfloat16 into blocks of columns of bfloat16.
class PackHalfBlocks final : public Kernel {
 public:
  PackHalfBlocks(const MatmulPlan& plan, DType from)
      : cut_(plan), from_dtype_(from), convert_(cast_loop(from, DType::bfloat16)) {}
  void run(const Arguments& a) const override {
    a.threads.parallel(cut_.blocks, [&](int64_t block, int) {
      const int64_t width = cut_.width(block), j = block * RowCut::kColumns;
      const std::byte* from = a.inputs[0] + static_cast<size_t>(j) * size_of(from_dtype_);
      auto* to = a.out<BFloat16>(0) + j * cut_.k;
      for (int64_t q = 0; q < cut_.k;
           ++q, to += width, from += static_cast<size_t>(cut_.n) * size_of(from_dtype_)) {
        convert_(from, to, width);
      }
    });
  }
  std::string name() const override { return "pack"; }

 private:
  RowCut cut_;
  DType from_dtype_;
  UnaryLoop convert_;
};

/// A row times a matrix in bfloat16, or in float32 that is rounded to bfloat16.
class HalfRowMatmul final : public Kernel {
 public:
  explicit HalfRowMatmul(const Request& r)
      : plan_(r),
        cut_(plan_),
        a_dtype_(r.inputs[0].dtype),
        b_dtype_(r.inputs[1].dtype),
        c_dtype_(r.outputs[0].dtype) {}

  InputConversion prepare(int input) override {
    if (input != 1) return {};
    auto kernel = std::make_unique<PackHalfBlocks>(plan_, b_dtype_);
    is_packed_ = true, b_dtype_ = DType::bfloat16;
    return {std::move(kernel), {b_dtype_, {plan_.k, plan_.n}}, conversion_name(plan_)};
  }
  void run(const Arguments& a) const override {
    auto* x = reinterpret_cast<float*>(a.scratch);
    float *bias = x + plan_.k, *sums = bias + plan_.n;
    read_row(a_dtype_, a.inputs[0], plan_.k, x, reinterpret_cast<BFloat16*>(sums));
    a.threads.parallel(cut_.blocks * cut_.k_parts, [&](int64_t part, int) {
      const int64_t block = part / cut_.k_parts, k_part = part % cut_.k_parts;
      float* out = sums + k_part * plan_.n + block * RowCut::kColumns;
      if (b_dtype_ == DType::bfloat16)
        multiply_block(cut_, x, a.in<BFloat16>(1), is_packed_, block, k_part, out);
      else
        multiply_block(cut_, x, a.in<RoundedFloat>(1), is_packed_, block, k_part, out);
    });
    for (int64_t i = 1; i < cut_.k_parts; ++i) accumulate(sums, sums + i * plan_.n, plan_.n);
    if (plan_.has_bias)
      cast_loop(DType::bfloat16, DType::float32)(a.inputs[2], bias, static_cast<size_t>(plan_.n));
    if (plan_.combine != Combine::none)
      combine(plan_.combine, a.in<BFloat16>(plan_.combined_index()), plan_.n, 1, plan_.n, sums,
              plan_.n);
    finish(sums, 1, plan_.n, plan_.n, plan_.has_bias ? bias : nullptr, plan_.activation);
    cast_loop(DType::float32, c_dtype_)(sums, a.outputs[0], static_cast<size_t>(plan_.n));
  }
  std::string name() const override { return is_packed_ ? "highway row, packed" : "highway row"; }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(plan_.k + plan_.n + std::max(cut_.k_parts * plan_.n, plan_.k)) *
           sizeof(float);
  }
  double flops() const override { return plan_.flops(); }

 private:
  static void read_row(DType dtype, const std::byte* from, int64_t count, float* to,
                       BFloat16* half) {
    const size_t n = count;
    if (dtype == DType::float32)
      cast_loop(dtype, DType::bfloat16)(from, half, n), from = reinterpret_cast<std::byte*>(half);
    cast_loop(DType::bfloat16, DType::float32)(from, to, n);
  }

  MatmulPlan plan_;
  RowCut cut_;
  DType a_dtype_, b_dtype_, c_dtype_;
  bool is_packed_ = false;
};

}  // namespace

std::unique_ptr<Kernel> make_row_matmul(const Request& r) {
  const MatmulPlan plan(r);
  const bool is_column = plan.n == 1 && plan.m != 1 && !plan.has_bias;
  if (plan.count() != 1 || (plan.m != 1 && !is_column) || plan.flops() == 0) return nullptr;
  const bool is_half = r.inputs[0].dtype == DType::bfloat16 || PostOps(r.op).mixed != Mixed::no;
  if (is_half) return plan.transpose_b || is_column ? nullptr : std::make_unique<HalfRowMatmul>(r);
  return make_typed<RowMatmul>(r, r.outputs[0].dtype);
}

}  // namespace crescent::cpu
#endif
