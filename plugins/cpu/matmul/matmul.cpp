#include "matmul/matmul.h"

#include <algorithm>

#include "kernel/converted.h"

namespace crescent::cpu {
namespace {

/// The offset, in elements, of each matrix of an operand whose leading axes are broadcast to
/// `leading_shape`.
std::vector<int64_t> matrix_offsets(const Shape& operand, const Shape& leading_shape) {
  const int axes = leading_shape.rank(), own_axes = operand.rank() - 2;
  std::vector<int64_t> strides(axes, 0);
  int64_t stride = operand[-1] * operand[-2];
  for (int i = own_axes - 1; i >= 0; --i) {
    if (operand[i] != 1) strides[axes - own_axes + i] = stride;
    stride *= operand[i];
  }
  std::vector<int64_t> result(leading_shape.size());
  for (size_t item = 0; item < result.size(); ++item) {
    int64_t remaining_item = static_cast<int64_t>(item);
    for (int i = axes - 1; i >= 0; remaining_item /= leading_shape[i], --i)
      result[item] += remaining_item % leading_shape[i] * strides[i];
  }
  return result;
}

template <class T>
class IntegerMatmul final : public Kernel {
 public:
  explicit IntegerMatmul(const Request& r) : plan_(r) {}

  void run(const Arguments& a) const override {
    a.threads.blocks(plan_.count() * plan_.m, 1 + 20000 / (1 + plan_.n * plan_.k),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t row = begin; row < end; ++row)
                         compute_row(a, row / plan_.m, row % plan_.m);
                     });
  }
  std::string name() const override { return "loop"; }
  double flops() const override { return plan_.flops(); }

 private:
  void compute_row(const Arguments& args, int64_t item, int64_t i) const {
    const T* a = args.in<T>(0) + plan_.a[item] + i * (plan_.transpose_a ? 1 : plan_.k);
    const T* b = args.in<T>(1) + plan_.b[item];
    const T* bias = plan_.has_bias ? args.in<T>(2) : nullptr;
    T* c = args.out<T>(0) + (item * plan_.m + i) * plan_.n;
    const int64_t k_stride_a = plan_.transpose_a ? plan_.m : 1;
    const int64_t k_stride_b = plan_.transpose_b ? 1 : plan_.n,
                  column_stride_b = plan_.transpose_b ? plan_.k : 1;
    for (int64_t j = 0; j < plan_.n; ++j) {
      // The sum is unsigned, because unsigned integers wrap around on overflow.
      uint64_t sum = bias ? static_cast<uint64_t>(bias[j]) : 0;
      for (int64_t q = 0; q < plan_.k; ++q) {
        sum += static_cast<uint64_t>(a[q * k_stride_a]) *
               static_cast<uint64_t>(b[q * k_stride_b + j * column_stride_b]);
      }
      c[j] = plan_.activation == ActivationKind::relu && static_cast<T>(sum) < T{0}
                 ? T{0}
                 : static_cast<T>(sum);
    }
  }

  MatmulPlan plan_;
};

int64_t round_up_to(int64_t n, int64_t step) { return pieces(n, step) * step; }

bool is_float_activation(ActivationKind e) {
  return e == ActivationKind::sigmoid || e == ActivationKind::tanh;
}

/// Makes a kernel with `make`, which does not support mixed precision; null for requests with mixed
/// precision.
template <KernelFactory make>
std::unique_ptr<Kernel> without_mixed_precision(const Request& r) {
  return PostOps(r.op).mixed == Mixed::no ? make(r) : nullptr;
}
/// Makes a kernel with `make`, which supports neither mixed precision nor combining with another
/// array; null for requests with one of these.
template <KernelFactory make>
std::unique_ptr<Kernel> without_post_ops(const Request& r) {
  return PostOps(r.op).combine == Combine::none ? without_mixed_precision<make>(r) : nullptr;
}

}  // namespace

MatmulPlan::MatmulPlan(const Request& r) {
  const auto& op = static_cast<const Matmul&>(base_of(r.op));
  const PostOps post(r.op);
  const Shape &left = r.inputs[0].shape, &right = r.inputs[1].shape, &out = r.outputs[0].shape;
  transpose_a = op.transpose_a, transpose_b = op.transpose_b;
  has_bias = post.has_bias, combine = post.combine, activation = post.activation;
  m = out[-2], n = out[-1], k = left[transpose_a ? -2 : -1];
  const Shape leading_shape = out.slice(0, out.rank() - 2);
  a = matrix_offsets(left, leading_shape), b = matrix_offsets(right, leading_shape);
  const bool has_separate_rows = left.size() == leading_shape.size() * m * k,
             has_one_b = right.size() == n * k;
  if (!transpose_a && has_separate_rows && has_one_b && count() > 1) {
    m *= count();
    a.resize(1), b.resize(1);
  }
}

MatmulCut::MatmulCut(const MatmulPlan& p, bool split_sums, ThreadCount thread_count)
    : thread_count(thread_count), m(p.m), n(p.n) {
  constexpr int64_t kMaxTileColumns = 128, kMaxTileRows = 512;  // most columns and rows of a tile
  // numbers of parts at which parts are no longer halved
  constexpr int64_t kFewParts = 8, kEnoughParts = 16;
  // fewest multiplications per part, some microseconds
  constexpr double kMinWork = 400e3;
  rows = std::min(m, kMaxTileRows), columns = std::min(n, kMaxTileColumns), depth = p.k;
  auto parts = [&] {
    return p.count() * pieces(m, rows) * pieces(n, columns) * pieces(p.k, depth);
  };
  auto halve = [&](int64_t& length, int64_t min_length, int64_t max_parts) {
    auto flops = [&] {
      return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth);
    };
    while (length >= 2 * min_length && parts() < max_parts && flops() > kMinWork)
      length = (length + 1) / 2;
  };
  // Splitting has costs: partial sums must be stored and added, and each tile copies (and
  // transposes, if needed) its part of b. Parts with short sums or few rows take a tenth longer, so
  // these splits stop at kFewParts parts.
  if (split_sums) halve(depth, 512, kFewParts);
  halve(columns, 64, kEnoughParts);
  halve(rows, 128, kEnoughParts);
  halve(rows, 64, kFewParts);
  if (thread_count == ThreadCount::many) halve(columns, 32, kEnoughParts);
  if (thread_count != ThreadCount::few) halve(rows, 32, kEnoughParts);
  // This gives all threads equal numbers of tiles.
  if (rows == kMaxTileRows && parts() > kEnoughParts && parts() < 2 * kEnoughParts) rows /= 2;
  // The tiles are made equally large.
  rows = std::min(m, round_up_to(pieces(m, pieces(m, rows)), 4));
  columns = std::min(n, round_up_to(pieces(n, pieces(n, columns)), 16));
  row_tiles = pieces(m, rows), column_tiles = pieces(n, columns), sums = pieces(p.k, depth);
}

void MatmulCut::use_whole_rows() {
  constexpr int64_t kFewTiles = 8, kEnoughTiles = 16;
  // fewest rows per tile of a matrix with many rows
  const int64_t min_tile_rows = thread_count == ThreadCount::few ? 128 : 32;
  const int64_t tiles =
      std::max(row_tiles, m >= kEnoughTiles * min_tile_rows ? kEnoughTiles : kFewTiles);
  rows = std::min(m, round_up_to(pieces(m, tiles), 4)), columns = n;
  row_tiles = pieces(m, rows), column_tiles = 1;
}

MatmulCut::Tile MatmulCut::tile(int64_t index) const {
  const int64_t tile_number = index % tiles(), i = tile_number / column_tiles * rows,
                j = tile_number % column_tiles * columns;
  return {index / tiles(), i, j, std::min(rows, m - i), std::min(columns, n - j)};
}

std::unique_ptr<Kernel> make_integer_matmul(const Request& r) {
  const bool has_same_dtypes =
      r.inputs[0].dtype == r.outputs[0].dtype && r.inputs[1].dtype == r.outputs[0].dtype;
  if (!has_same_dtypes || is_float_activation(PostOps(r.op).activation)) return nullptr;
  switch (r.outputs[0].dtype) {
    case DType::int32:
      return std::make_unique<IntegerMatmul<int32_t>>(r);
    case DType::int64:
      return std::make_unique<IntegerMatmul<int64_t>>(r);
    case DType::uint8:
      return std::make_unique<IntegerMatmul<uint8_t>>(r);
    default:
      return nullptr;
  }
}

std::span<const KernelEntry> matmul_kernels() {
  static constexpr KernelEntry kEntries[] = {
      {"matmul", make_byte_matmul},
      {"matmul", make_row_matmul},
      {"matmul", without_mixed_precision<make_direct_matmul>},
      {"matmul", without_post_ops<make_small_onednn_matmul>},
      {"matmul", make_amx_matmul},
      {"matmul", without_post_ops<make_onednn_matmul>},
      {"matmul", without_mixed_precision<make_tiled_matmul>},
      {"matmul", without_post_ops<make_integer_matmul>},
      {"matmul", without_mixed_precision<make_converted<matmul_kernels>>}};
  return kEntries;
}

}  // namespace crescent::cpu
