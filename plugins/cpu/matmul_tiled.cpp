// Products by a library, on fixed tiles of the result: which tiles there are depends on the shape alone, so the bits do
// not depend on the number of threads. Long sums over few tiles (weight gradients) are split into fixed partial sums.
#include <algorithm>

#include "blas.h"
#include "matmul.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kTile = 128;           ///< rows and columns of a tile at most
constexpr int64_t kEnough = 16;          ///< tiles are made smaller until there are so many
constexpr int64_t kLeastDepth = 512;
constexpr double kLeastFlops = 400e3;    ///< a tile: some microseconds

int64_t pieces(int64_t whole, int64_t piece) { return (whole + piece - 1) / piece; }
int64_t rounded(int64_t n, int64_t step) { return pieces(n, step) * step; }

/// How one product is cut: rows x columns x depth.
struct Cut {
  int64_t rows, columns, depth;
  int64_t row_tiles, column_tiles, sums;

  Cut(const MatmulPlan& p) {
    // Few rows are as fast as many, unless b is transposed: it is turned around once a tile. Few columns never are.
    const int64_t least_rows = p.transpose_b ? 64 : 16;
    rows = std::min(p.m, kTile), columns = std::min(p.n, kTile), depth = p.k;
    auto parts = [&] { return p.count() * pieces(p.m, rows) * pieces(p.n, columns) * pieces(p.k, depth); };
    auto worth = [&] {
      return parts() < kEnough && static_cast<double>(rows) * static_cast<double>(columns * depth) > kLeastFlops;
    };
    while (worth() && rows >= 2 * least_rows) rows = (rows + 1) / 2;
    while (worth() && depth >= 2 * kLeastDepth) depth = (depth + 1) / 2;
    rows = std::min(p.m, rounded(pieces(p.m, pieces(p.m, rows)), 4));          // even tiles
    columns = std::min(p.n, rounded(pieces(p.n, pieces(p.n, columns)), 16));
    row_tiles = pieces(p.m, rows), column_tiles = pieces(p.n, columns), sums = pieces(p.k, depth);
  }
  int64_t tiles() const { return row_tiles * column_tiles; }
};

template <class T>
class TiledMatmul final : public Kernel {
 public:
  TiledMatmul(const Request& r) : plan_(r), cut_(plan_), gemm_(gemm<T>(r.options)), name_(gemm_name<T>(r.options)) {}

  void run(const Arguments& a) override {
    a.pool.parallel(plan_.count() * cut_.tiles() * cut_.sums, [&](int64_t part, int) {
      compute(a, part / cut_.sums / cut_.tiles(), part / cut_.sums % cut_.tiles(), part % cut_.sums);
    });
    if (cut_.sums > 1) a.pool.blocks(plan_.count() * plan_.m, 32, [&](int64_t begin, int64_t end) { sum(a, begin, end); });
  }
  std::string name() const override { return name_; }
  size_t scratch_bytes() const override {
    return cut_.sums > 1 ? static_cast<size_t>((cut_.sums - 1) * size()) * sizeof(T) : 0;
  }
  double flops() const override { return plan_.flops(); }

 private:
  int64_t size() const { return plan_.count() * plan_.m * plan_.n; }
  const T* bias(const Arguments& a) const { return plan_.bias ? a.in<T>(2) : nullptr; }
  /// Partial sum 0 is the output itself.
  T* result(const Arguments& a, int64_t sum) const {
    return sum == 0 ? a.out<T>(0) : reinterpret_cast<T*>(a.scratch) + (sum - 1) * size();
  }

  void compute(const Arguments& a, int64_t item, int64_t tile, int64_t sum) const {
    const int64_t i = tile / cut_.column_tiles * cut_.rows, j = tile % cut_.column_tiles * cut_.columns;
    const int64_t q = sum * cut_.depth, lda = plan_.lda(), ldb = plan_.ldb();
    Product<T> p{plan_.transpose_a, plan_.transpose_b};
    p.m = std::min(cut_.rows, plan_.m - i), p.n = std::min(cut_.columns, plan_.n - j);
    p.k = std::min(cut_.depth, plan_.k - q);
    p.a = a.in<T>(0) + plan_.a[item] + (plan_.transpose_a ? q * lda + i : i * lda + q), p.lda = lda;
    p.b = a.in<T>(1) + plan_.b[item] + (plan_.transpose_b ? j * ldb + q : q * ldb + j), p.ldb = ldb;
    p.c = result(a, sum) + (item * plan_.m + i) * plan_.n + j, p.ldc = plan_.n;
    gemm_(p);
    if (cut_.sums == 1) finish(p.c, p.m, p.n, p.ldc, bias(a) ? bias(a) + j : nullptr, plan_.epilogue);
  }

  void sum(const Arguments& a, int64_t begin, int64_t end) const {
    const int64_t first = begin * plan_.n, count = (end - begin) * plan_.n;
    for (int64_t i = 1; i < cut_.sums; ++i) accumulate(result(a, 0) + first, result(a, i) + first, count);
    finish(result(a, 0) + first, end - begin, plan_.n, plan_.n, bias(a), plan_.epilogue);
  }

  MatmulPlan plan_;
  Cut cut_;
  Gemm<T> gemm_;
  const char* name_;
};

}  // namespace

std::unique_ptr<Kernel> make_tiled_matmul(const Request& r) {
  MatmulPlan plan(r);
  if (plan.flops() == 0) return nullptr;         // the direct loops know what nothing is
  if (!fits_blas(plan.m) || !fits_blas(plan.n) || !fits_blas(plan.k)) return nullptr;
  switch (r.outputs[0].dtype) {
    case DType::float32: return std::make_unique<TiledMatmul<float>>(r);
    case DType::float64: return std::make_unique<TiledMatmul<double>>(r);
    default: return nullptr;
  }
}

}  // namespace crescent::cpu
