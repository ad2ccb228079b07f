// Matrix products within a head, computed by the calling thread alone: on packed panels, or on AMX
// tiles for bfloat16.
#pragma once
#include <algorithm>
#include <array>

#include "kernel/half.h"
#include "matmul/amx.h"
#include "matmul/blas.h"

namespace crescent::cpu {

/// The matrix product c (m, n) = op(a) op(b), or c += op(a) op(b) if `accumulates`; op transposes
/// or does nothing. If one operand has half width, the other is rounded to half width as well. If
/// `is_packed`, b is the result of HeadProducts::pack(), and `ldb` is not used.
template <class A, class B>
struct HeadProduct {
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  const A* a = nullptr;
  int64_t lda = 0;
  const B* b = nullptr;
  int64_t ldb = 0;
  bool accumulates = false;
  ComputeType<B>* c = nullptr;
  int64_t ldc = 0;
  bool is_packed = false;
};

/// A product may read a range of packed rows if it begins at a multiple of this number, and ends at
/// a multiple or at the last row.
inline constexpr int64_t kPackedRows = 64;

/// Computes products of matrices of type T. Each thread constructs its own object, which configures
/// the AMX tiles of the thread.
template <class T>
class HeadProducts {
 public:
  static constexpr bool is_available() { return true; }
  static constexpr const char* name() { return "highway packed"; }
  /// The bytes of scratch memory for products whose three dimensions are at most `max_length`, one
  /// of them at most `width`. Products on packed panels need no scratch memory, products on AMX
  /// tiles (below) do.
  static constexpr size_t work_bytes(int64_t, int64_t) { return 0; }
  /// The number of values that pack() writes for `rows` rows of `width` values.
  static constexpr int64_t packed_values(int64_t rows, int64_t width) {
    return panel_columns(rows) * width;
  }
  explicit HeadProducts() = default;
  /// Packs rows that are `ld` elements apart as the operand b of products with `transpose_b`.
  void pack(const T* x, int64_t rows, int64_t width, int64_t ld, T* packed) const {
    Product<T> p{false, true, 0, rows, width};
    p.b = x, p.ldb = ld;
    pack_panels(p, packed);
  }
  void operator()(const HeadProduct<T, T>& p, std::byte* /*work*/) const {
    Product<T> product{p.transpose_a, p.transpose_b, p.m, p.n,   p.k,
                       p.a,           p.lda,         p.b, p.ldb, p.accumulates ? T{1} : T{0},
                       p.c,           p.ldc};
    product.is_packed = p.is_packed;
    packed_gemm<T>(product);
  }
};

template <>
class HeadProducts<BFloat16> {
 public:
  static bool is_available() { return amx::available(); }
  static const char* name() { return amx::name(); }
  static size_t work_bytes(int64_t max_length, int64_t width) {
    const int64_t max_size = std::max(max_length, width);
    return static_cast<size_t>(2 * strip_count(max_size) * amx::strip_values(max_length) +
                               strip_count(max_length) * amx::strip_values(width)) *
               sizeof(uint16_t) +
           amx::kBlockValues * sizeof(float);
  }
  static int64_t packed_values(int64_t rows, int64_t width) {
    return strip_count(rows) * amx::strip_values(width);
  }
  void pack(const BFloat16* x, int64_t rows, int64_t width, int64_t ld, BFloat16* packed) const {
    amx::pack_right(values(x), ld, order(true), rows, width, &packed->bits,
                    amx::strip_values(width));
  }
  template <class A>
  void operator()(const HeadProduct<A, BFloat16>& p, std::byte* work) const {
    float* tile = reinterpret_cast<float*>(work);
    const int64_t strip = amx::strip_values(p.k);
    uint16_t *left = reinterpret_cast<uint16_t*>(tile + amx::kBlockValues),
             *packed_right = left + strip_count(p.m) * strip;
    amx::pack_left(values(p.a), p.lda, order(!p.transpose_a), p.m, p.k, left, strip);
    if (!p.is_packed)
      amx::pack_right(values(p.b), p.ldb, order(p.transpose_b), p.n, p.k, packed_right, strip);
    const uint16_t* right = p.is_packed ? values(p.b) : packed_right;
    auto strip_pair = [&](const uint16_t* first, int64_t block, int64_t lines) {
      return std::array{first + 2 * block * strip,
                        first + std::min(2 * block + 1, strip_count(lines) - 1) * strip};
    };
    for (int64_t j = 0; j < p.n; j += amx::kBlock) {
      const auto b = strip_pair(right, j / amx::kBlock, p.n);
      for (int64_t i = 0; i < p.m; i += amx::kBlock) {
        const auto a = strip_pair(left, i / amx::kBlock, p.m);
        const int64_t rows = std::min(amx::kBlock, p.m - i),
                      columns = std::min(amx::kBlock, p.n - j);
        float* c = p.c + i * p.ldc + j;
        for (int64_t r = 0; p.accumulates && r < rows; ++r)
          std::copy_n(c + r * p.ldc, columns, tile + r * amx::kBlock);
        amx::multiply(amx::Block::square, {{a[0], a[1]}}, {{b[0], b[1]}}, amx::steps(p.k), 1, tile,
                      p.accumulates);
        amx::store(tile, amx::kBlock, rows, columns, nullptr, false, c, p.ldc);
      }
    }
  }

 private:
  static int64_t strip_count(int64_t lines) { return (lines + amx::kLines - 1) / amx::kLines; }
  static amx::LineOrder order(bool is_in_rows) {
    return is_in_rows ? amx::LineOrder::lines_in_rows : amx::LineOrder::lines_in_columns;
  }
  static const uint16_t* values(const BFloat16* x) { return &x->bits; }
  static const float* values(const float* x) { return x; }

  amx::Tiles tiles_;
};

}  // namespace crescent::cpu
