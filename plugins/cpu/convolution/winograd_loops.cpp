// Winograd transforms, vectorized over channels, and the products at the points.
#include <algorithm>
#include <limits>

#include "convolution/winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convolution/winograd_loops.cpp"
#include <hwy/foreach_target.h>

#include "kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::winograd::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using crescent::cpu::HWY_NAMESPACE::activate;
using crescent::cpu::HWY_NAMESPACE::for_vectors;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V times(float factor, V x) { return hn::Mul(hn::Set(D(), factor), x); }
HWY_INLINE V add_product(V sum, float factor, V x) {
  return hn::MulAdd(hn::Set(D(), factor), x, sum);
}
HWY_INLINE void sum_and_difference(V x, V y, V* sum_then_difference) {
  sum_then_difference[0] = hn::Add(x, y), sum_then_difference[1] = hn::Sub(x, y);
}

// The transforms along one axis, with the interpolation points 0, a, -a, b, -b and infinity.
// Compared to the usual 1 and 2, these a and b halve the root mean square of the rounding errors
// and quarter the largest one; their powers are exact in float32.
constexpr float a = 0.75f, b = 1.5f, aa = a * a, bb = b * b;
constexpr float scale_0 = 1 / (aa * bb), scale_a = 1 / (2 * aa * (aa - bb)),
                scale_b = 1 / (2 * bb * (bb - aa));

/// Multiplies by B': 6 pixels to 6 points.
struct InputTransform {
  static constexpr int kFromSize = 6, kToSize = 6;
  static HWY_INLINE void apply(const V* x, V* y) {
    y[0] = add_product(add_product(x[4], -(aa + bb), x[2]), aa * bb, x[0]);
    sum_and_difference(add_product(x[4], -bb, x[2]), times(a, add_product(x[3], -bb, x[1])), y + 1);
    sum_and_difference(add_product(x[4], -aa, x[2]), times(b, add_product(x[3], -aa, x[1])), y + 3);
    y[5] = add_product(add_product(x[5], -(aa + bb), x[3]), aa * bb, x[1]);
  }
};

/// Multiplies by A': 6 points to 4 pixels.
struct OutputTransform {
  static constexpr int kFromSize = 6, kToSize = 4;
  static HWY_INLINE void apply(const V* x, V* y) {
    V of_a[2], of_b[2];
    sum_and_difference(x[1], x[2], of_a), sum_and_difference(x[3], x[4], of_b);
    y[0] = hn::Add(x[0], hn::Add(of_a[0], of_b[0]));
    y[1] = add_product(times(a, of_a[1]), b, of_b[1]);
    y[2] = add_product(times(aa, of_a[0]), bb, of_b[0]);
    y[3] = add_product(add_product(x[5], a * aa, of_a[1]), b * bb, of_b[1]);
  }
};

/// Multiplies by A: 4 pixels to 6 points.
struct OutputGradientTransform {
  static constexpr int kFromSize = 4, kToSize = 6;
  static HWY_INLINE void apply(const V* x, V* y) {
    y[0] = x[0];
    sum_and_difference(add_product(x[0], aa, x[2]), times(a, add_product(x[1], aa, x[3])), y + 1);
    sum_and_difference(add_product(x[0], bb, x[2]), times(b, add_product(x[1], bb, x[3])), y + 3);
    y[5] = x[3];
  }
};

/// Multiplies by G: 3 taps to 6 points.
struct KernelTransform {
  static constexpr int kFromSize = 3, kToSize = 6;
  static HWY_INLINE void apply(const V* x, V* y) {
    y[0] = times(scale_0, x[0]);
    sum_and_difference(times(scale_a, add_product(x[0], aa, x[2])), times(a * scale_a, x[1]),
                       y + 1);
    sum_and_difference(times(scale_b, add_product(x[0], bb, x[2])), times(b * scale_b, x[1]),
                       y + 3);
    y[5] = x[2];
  }
};

/// Multiplies by G': 6 points to 3 taps.
struct KernelGradientTransform {
  static constexpr int kFromSize = 6, kToSize = 3;
  static HWY_INLINE void apply(const V* x, V* y) {
    V of_a[2], of_b[2];
    sum_and_difference(x[1], x[2], of_a), sum_and_difference(x[3], x[4], of_b);
    y[0] = add_product(add_product(times(scale_0, x[0]), scale_a, of_a[0]), scale_b, of_b[0]);
    y[1] = add_product(times(a * scale_a, of_a[1]), b * scale_b, of_b[1]);
    y[2] = add_product(add_product(x[5], aa * scale_a, of_a[0]), bb * scale_b, of_b[0]);
  }
};

/// Transforms both axes: calls store(value, row, column) for each element of T x T', where x comes
/// from load(row, column).
template <class T, class Load, class Store>
HWY_INLINE void transform(Load&& load, Store&& store) {
  V half_transformed[T::kToSize][T::kFromSize];
#pragma GCC unroll 6
  for (int j = 0; j < T::kFromSize; ++j) {
    V x[T::kFromSize], y[T::kToSize];
#pragma GCC unroll 6
    for (int i = 0; i < T::kFromSize; ++i) x[i] = load(i, j);
    T::apply(x, y);
#pragma GCC unroll 6
    for (int i = 0; i < T::kToSize; ++i) half_transformed[i][j] = y[i];
  }
#pragma GCC unroll 6
  for (int i = 0; i < T::kToSize; ++i) {
    V y[T::kToSize];
    T::apply(half_transformed[i], y);
#pragma GCC unroll 6
    for (int j = 0; j < T::kToSize; ++j) store(y[j], i, j);
  }
}

constexpr int kPooledTile = kTile / 2;  ///< pixels per axis of a pooled tile

/// The part of a tile of `size` x `size` pixels that is inside of its image. Tiles begin `step`
/// pixels apart.
struct Window {
  /// Offset of the tile's first pixel, which may be outside of the image.
  int64_t first;
  // the pixels of the tile that are inside of the image are in rows [row, row + rows) and columns
  // [column, column + columns)
  int64_t row, rows, column, columns;

  Window(const Images& g, int64_t tile, int64_t size, int64_t step = kTile) {
    const int64_t tiles_per_image = g.tile_rows * g.tile_columns, image = tile / tiles_per_image;
    const int64_t y = tile % tiles_per_image / g.tile_columns * step - g.top,
                  x = tile % g.tile_columns * step - g.left;
    first = ((image * g.height + y) * g.width + x) * g.pixel_stride;
    row = std::clamp<int64_t>(-y, 0, size),
    rows = std::clamp<int64_t>(g.height - y, row, size) - row;
    column = std::clamp<int64_t>(-x, 0, size),
    columns = std::clamp<int64_t>(g.width - x, column, size) - column;
  }
  bool is_whole(int64_t size) const { return rows == size && columns == size; }
  bool contains(int64_t i, int64_t j) const {
    return static_cast<uint64_t>(i - row) < static_cast<uint64_t>(rows) &&
           static_cast<uint64_t>(j - column) < static_cast<uint64_t>(columns);
  }
};

/// Prefetches the columns of a tile from `begin` on, because the hardware prefetcher does not
/// predict where the next rows begin.
template <bool kPrefetchesForWriting>
HWY_INLINE void prefetch(const Images& g, const float* images, const Window& window,
                         int64_t begin) {
  constexpr int64_t kCacheLine = 16;
  const int64_t first = std::max(begin, window.column) * g.pixel_stride;
  const int64_t last = (window.column + window.columns) * g.pixel_stride;
  for (int64_t i = window.row; i < window.row + window.rows; ++i) {
    const float* pixels = images + window.first + i * g.width * g.pixel_stride;
    for (int64_t e = first; e < last; e += kCacheLine)
      __builtin_prefetch(pixels + e, kPrefetchesForWriting);
  }
}

template <class T, bool kIsWhole>
HWY_INLINE void tile_to_points(const Images& g, const float* images, const Window& window,
                               float* points, int64_t stride) {
  const int64_t row_stride = g.width * g.pixel_stride;
  for_vectors(D(), g.channels, [&](auto load, auto) HWY_ATTR {
    transform<T>(
        [&](int i, int j) HWY_ATTR {
          return kIsWhole || window.contains(i, j)
                     ? load(images + window.first + i * row_stride + j * g.pixel_stride)
                     : hn::Zero(D());
        },
        [&](V x, int i, int j)
            HWY_ATTR { hn::StoreU(x, D(), points + (i * kInputTile + j) * stride); });
    points += hn::Lanes(D());
  });
}

template <class T>
HWY_INLINE void tiles_to_points(const Images& g, const float* images, const Tiles& tiles) {
  for (int64_t t = 0; t < tiles.count; ++t) {
    const Window window(g, tiles.first + t, T::kFromSize);
    float* points = tiles.points + t * padded_channel_count(g.channels);
    prefetch<false>(g, images, Window(g, tiles.first + t + 1, T::kFromSize), T::kFromSize - kTile);
    window.is_whole(T::kFromSize)
        ? tile_to_points<T, true>(g, images, window, points, tiles.stride)
        : tile_to_points<T, false>(g, images, window, points, tiles.stride);
  }
}

void transform_input(const Images& g, const float* x, const Tiles& tiles) {
  tiles_to_points<InputTransform>(g, x, tiles);
}
void transform_output_gradient(const Images& g, const float* dy, const Tiles& tiles) {
  tiles_to_points<OutputGradientTransform>(g, dy, tiles);
}

/// Transforms points to the pixels of a tile that are inside of the image: adds bias and residual,
/// replaces values below `lower_bound` by `lower_bound`, and sets the result to 0 where the gate is
/// not positive.
template <bool kIsWhole>
HWY_INLINE void points_to_tile(const Images& g, const float* points, int64_t stride,
                               const float* bias, const float* residual, const float* gate,
                               float lower_bound, const Window& window, float* images) {
  const int64_t row_stride = g.width * g.channels;
  const V lower_bounds = hn::Set(D(), lower_bound);
  for_vectors(D(), g.channels, [&](auto load, auto store) HWY_ATTR {
    const V shift = bias ? load(bias) : hn::Zero(D());
    transform<OutputTransform>(
        [&](int i, int j)
            HWY_ATTR { return hn::LoadU(D(), points + (i * kInputTile + j) * stride); },
        [&](V x, int i, int j) HWY_ATTR {
          if (!kIsWhole && !window.contains(i, j)) return;
          const int64_t offset = window.first + i * row_stride + j * g.channels;
          V y = hn::Add(x, shift);
          if (residual) y = hn::Add(y, load(residual + offset));
          // Unlike max, this keeps a NaN in y.
          V bounded = hn::IfThenElse(hn::Lt(y, lower_bounds), lower_bounds, y);
          if (gate)
            bounded = hn::IfThenElseZero(hn::Gt(load(gate + offset), hn::Zero(D())), bounded);
          store(bounded, images + offset);
        });
    points += hn::Lanes(D());
  });
}

void activate_tile(const Images& g, const Window& w, ActivationKind activation, float* images) {
  for (int64_t i = w.row; i < w.row + w.rows; ++i) {
    float* pixels = images + w.first + (i * g.width + w.column) * g.channels;
    for_vectors(D(), w.columns * g.channels, [&](auto load, auto store) HWY_ATTR {
      store(activate(D(), load(pixels), activation), pixels);
    });
  }
}

void transform_output(const Images& g, const Tiles& tiles, const float* bias, const float* residual,
                      const float* gate, ActivationKind activation, float* y) {
  const float lower_bound =
      activation == ActivationKind::relu ? 0 : -std::numeric_limits<float>::infinity();
  const bool needs_activation_pass =
      activation != ActivationKind::none && activation != ActivationKind::relu;
  for (int64_t t = 0; t < tiles.count; ++t) {
    const Window window(g, tiles.first + t, kTile), next(g, tiles.first + t + 1, kTile);
    const float* points = tiles.points + t * padded_channel_count(g.channels);
    prefetch<true>(g, y, next, 0);
    if (residual) prefetch<false>(g, residual, next, 0);
    if (gate) prefetch<false>(g, gate, next, 0);
    window.is_whole(kTile) ? points_to_tile<true>(g, points, tiles.stride, bias, residual, gate,
                                                  lower_bound, window, y)
                           : points_to_tile<false>(g, points, tiles.stride, bias, residual, gate,
                                                   lower_bound, window, y);
    if (needs_activation_pass) activate_tile(g, window, activation, y);
  }
}

/// Transforms points to the pooled pixels of a tile that are inside of the image.
template <bool kWithArgmax>
HWY_INLINE void points_to_pooled_tile(const Images& g, const float* points, int64_t stride,
                                      const float* bias, float lower_bound, const Window& window,
                                      float* images, uint8_t* argmax_indices) {
  const V lower_bounds = hn::Set(D(), lower_bound);
  for_vectors(D(), g.channels, [&](auto load, auto store) HWY_ATTR {
    const V shift = bias ? load(bias) : hn::Zero(D());
    V pixels[kTile][kTile];
    transform<OutputTransform>(
        [&](int i, int j)
            HWY_ATTR { return hn::LoadU(D(), points + (i * kInputTile + j) * stride); },
        [&](V x, int i, int j) HWY_ATTR {
          const V y = hn::Add(x, shift);
          // Unlike max, this keeps a NaN in y.
          pixels[i][j] = hn::IfThenElse(hn::Lt(y, lower_bounds), lower_bounds, y);
        });
    points += hn::Lanes(D());
#pragma GCC unroll 4
    for (int position = 0; position < kPooledTile * kPooledTile; ++position) {
      const int i = position / kPooledTile, j = position % kPooledTile;
      if (!window.contains(i, j)) continue;
      V best = pixels[2 * i][2 * j], argmax = hn::Zero(D());
#pragma GCC unroll 4
      for (int index = 1; index < 4; ++index) {
        const V x = pixels[2 * i + index / 2][2 * j + index % 2];
        const auto is_better = hn::Or(hn::Gt(x, best), hn::IsNaN(x));
        best = hn::IfThenElse(is_better, x, best);
        if (kWithArgmax) argmax = hn::IfThenElse(is_better, hn::Set(D(), index), argmax);
      }
      const int64_t offset = window.first + (i * g.width + j) * g.channels;
      store(best, images + offset);
      if (kWithArgmax) store(argmax, argmax_indices + offset);
    }
  });
}

void transform_pooled_output(const Images& g, const Tiles& tiles, const float* bias,
                             ActivationKind activation, float* y, uint8_t* argmax_indices) {
  const float lower_bound =
      activation == ActivationKind::relu ? 0 : -std::numeric_limits<float>::infinity();
  Images pooled = g;
  pooled.height = g.height / 2, pooled.width = g.width / 2, pooled.top = pooled.left = 0;
  for (int64_t t = 0; t < tiles.count; ++t) {
    const Window window(pooled, tiles.first + t, kPooledTile, kPooledTile);
    const float* points = tiles.points + t * padded_channel_count(g.channels);
    prefetch<true>(pooled, y, Window(pooled, tiles.first + t + 1, kPooledTile, kPooledTile), 0);
    argmax_indices ? points_to_pooled_tile<true>(pooled, points, tiles.stride, bias, lower_bound,
                                                 window, y, argmax_indices)
                   : points_to_pooled_tile<false>(pooled, points, tiles.stride, bias, lower_bound,
                                                  window, y, argmax_indices);
  }
}

void transform_kernel(const float* taps, int64_t tap_stride, float* points, int64_t stride) {
  for_vectors(D(), kLanes, [&](auto load, auto store) HWY_ATTR {
    transform<KernelTransform>(
        [&](int i, int j) HWY_ATTR { return load(taps + (i * 3 + j) * tap_stride); },
        [&](V x, int i, int j) HWY_ATTR { store(x, points + (i * kInputTile + j) * stride); });
  });
}

void transform_kernel_gradient(const float* points, int64_t stride, int64_t channels, float* taps,
                               int64_t tap_stride) {
  for_vectors(D(), channels, [&](auto load, auto store) HWY_ATTR {
    transform<KernelGradientTransform>(
        [&](int i, int j) HWY_ATTR { return load(points + (i * kInputTile + j) * stride); },
        [&](V x, int i, int j) HWY_ATTR { store(x, taps + (i * 3 + j) * tap_stride); });
  });
}

#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
// With 32 registers, blocks of 6 x 4, 12 x 2 or 16 x 1 vectors of sums fit into registers.
constexpr int kMaxVectors = 4;
#else
// With 16 registers, blocks of 6 x 2 or 12 x 1 vectors of sums fit into registers.
constexpr int kMaxVectors = 2;
#endif

/// Computes a block of c: kRows rows from row i on, and kVectors vectors of columns from column j
/// on. All sums are in registers.
template <int kRows, int kVectors>
HWY_INLINE void multiply_block(const Product& p, int64_t i, int64_t j) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), ldb = p.ldb, row = p.row_stride,
                step = p.column_stride;
  float* c = p.c + i * p.ldc + j;
  V sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = p.accumulates ? hn::LoadU(d, c + r * p.ldc + v * lanes) : hn::Zero(d);
  }
  // Three pointers for all rows, instead of a pointer per row, save registers.
  const float *a = p.a + i * row, *a6 = a + 6 * row, *a12 = a6 + 6 * row;
  const float* b = p.b + j;
  for (int64_t q = 0; q < p.depth; ++q, a += step, a6 += step, a12 += step, b += ldb) {
    V right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V left = hn::Set(d, r < 6    ? a[r * row]
                                : r < 12 ? a6[(r - 6) * row]
                                         : a12[(r - 12) * row]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, c + r * p.ldc + v * lanes);
  }
}

// The number of rows of b that are kept in registers, together with the sums of 8 rows of c.
constexpr int64_t kSliceRows = 16;

/// Multiplies columns [q, q + kSliceRows) of a by the rows of b in `right`, and adds the products
/// to one vector of columns of c, in kRows rows from row i on. For q = 0 the products are stored
/// instead of added, unless p.add is true.
template <int kRows>
HWY_INLINE void multiply_slice(const Product& p, const V* right, int64_t i, int64_t j, int64_t q) {
  const D d;
  const float* a = p.a + i * p.row_stride + q;
  float* c = p.c + i * p.ldc + j;
  V sum[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
    sum[r] = p.accumulates || q > 0 ? hn::LoadU(d, c + r * p.ldc) : hn::Zero(d);
#pragma GCC unroll 16
  for (int k = 0; k < kSliceRows; ++k) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      sum[r] = hn::MulAdd(hn::Set(d, a[r * p.row_stride + k]), right[k], sum[r]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) hn::StoreU(sum[r], d, c + r * p.ldc);
}

/// Computes the last vector of columns of c. The last columns of b are read only once for all rows
/// of c.
void multiply_last_column(const Product& p, int64_t j) {
  for (int64_t q = 0; q < p.depth; q += kSliceRows) {
    V right[kSliceRows];
#pragma GCC unroll 16
    for (int k = 0; k < kSliceRows; ++k) right[k] = hn::LoadU(D(), p.b + (q + k) * p.ldb + j);
    int64_t i = 0;
    for (; i + 8 <= p.rows; i += 8) multiply_slice<8>(p, right, i, j, q);
    for (; i < p.rows; ++i) multiply_slice<1>(p, right, i, j, q);
  }
}

template <int kVectors>
HWY_INLINE int64_t multiply_columns(const Product& p, int64_t j) {
  const int64_t width = kVectors * static_cast<int64_t>(hn::Lanes(D()));
  for (; j + width <= p.columns; j += width) {
    int64_t i = 0;
    if constexpr (kVectors == 1 && kMaxVectors == 4) {
      for (; i + 16 <= p.rows; i += 16) multiply_block<16, kVectors>(p, i, j);
    }
    if constexpr (2 * kVectors <= kMaxVectors) {
      for (; i + 12 <= p.rows; i += 12) multiply_block<12, kVectors>(p, i, j);
      if (i + 8 <= p.rows) multiply_block<8, kVectors>(p, i, j), i += 8;
    }
    for (; i + 6 <= p.rows; i += 6) multiply_block<6, kVectors>(p, i, j);
    if (i + 4 <= p.rows) multiply_block<4, kVectors>(p, i, j), i += 4;
    if (i + 2 <= p.rows) multiply_block<2, kVectors>(p, i, j), i += 2;
    if (i < p.rows) multiply_block<1, kVectors>(p, i, j);
  }
  return j;
}

void multiply(const Product& p) {
  int64_t j = 0;
  if constexpr (kMaxVectors == 4) j = multiply_columns<4>(p, j);
  j = multiply_columns<2>(p, j);
  if constexpr (kMaxVectors == 4) {
    if (j < p.columns && p.column_stride == 1 && p.depth % kSliceRows == 0)
      return multiply_last_column(p, j);
  }
  multiply_columns<1>(p, j);
}

const Loops& find_loops() {
  static constexpr Loops kLoops = {transform_input,
                                   transform_output,
                                   transform_pooled_output,
                                   transform_output_gradient,
                                   transform_kernel,
                                   transform_kernel_gradient,
                                   multiply};
  return kLoops;
}

}  // namespace
}  // namespace crescent::cpu::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu::winograd {
HWY_EXPORT(find_loops);

const Loops& loops() { return HWY_DYNAMIC_DISPATCH(find_loops)(); }
}  // namespace crescent::cpu::winograd
#endif
