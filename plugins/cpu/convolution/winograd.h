// Winograd's minimal filtering F(4x4, 3x3) on float32 NHWC images (Lavin and Gray 2015,
// arXiv:1509.09308): 16 output pixels take 36 multiplications per pair of channels instead of 144.
// Tiles of the images and the kernel are transformed into 36 points; at each point the convolution
// is an ordinary product of a matrix (tiles, in) with a matrix (in, out): y = A' ((B' x B) . (G k
// G')) A, and the gradient of the kernel is dk = G' ((B' x B) . (A dy A')) G.
#pragma once
#include <cstdint>

#include "kernel/post_ops.h"

namespace crescent::cpu::winograd {

/// Pixels per axis of an output tile, and of the input that an output tile reads.
constexpr int64_t kTile = 4, kInputTile = 6;
constexpr int64_t kPoints = kInputTile * kInputTile, kTaps = 9;
/// Numbers of channels at the points are rounded up to a multiple of kLanes.
constexpr int64_t kLanes = 16;
constexpr int64_t kPanelColumns = 64;  ///< columns per panel of a transformed kernel

constexpr int64_t padded_channel_count(int64_t channels) {
  return (channels + kLanes - 1) / kLanes * kLanes;
}
/// The distance in elements between two points of an array (36, rows, padded(columns)). It is one
/// cache line longer than needed, because otherwise the 36 addresses that a transform writes to
/// could map to the same set of the cache.
constexpr int64_t point_stride(int64_t rows, int64_t columns) {
  return rows * padded_channel_count(columns) + kLanes;
}

/// The input or output image of a convolution, divided into tiles that are numbered over all images
/// of the batch. Tile (i, j) of an image begins at pixel (4 i - top, 4 j - left); pixels outside of
/// the image are zeros.
struct Images {
  int64_t height, width, channels, top, left;
  int64_t tile_rows, tile_columns;
  /// The distance in values between pixels; larger than `channels` if only some channels are read.
  int64_t pixel_stride = channels;
};

/// Transformed tiles [first, first + count) in memory: Winograd's transform of each tile of an
/// image is a list of points. Those of the first tile begin at `points` and are `stride` elements
/// apart.
struct Tiles {
  int64_t first, count;
  float* points;
  int64_t stride;
};

/// The matrix product c (rows, columns) = a b, or c += a b if `accumulates`. Element (i, q) of a is
/// at i * row_stride + q * column_stride; `columns` is a multiple of kLanes.
struct Product {
  int64_t rows, columns, depth;
  const float* a;
  int64_t row_stride, column_stride;
  const float* b;
  int64_t ldb;
  float* c;
  int64_t ldc;
  bool accumulates;
};

/// The loops, compiled for the best instruction set of the machine.
struct Loops {
  /// Transforms 6x6 tiles of the input to points: B' x B.
  void (*input)(const Images& images, const float* x, const Tiles& tiles);
  /// Transforms points m to the 4x4 tiles of the output: activation(A' m A + bias + residual), or 0
  /// where gate <= 0. Bias, residual and gate may be null.
  void (*output)(const Images& images, const Tiles& tiles, const float* bias, const float* residual,
                 const float* gate, ActivationKind activation, float* y);
  /// Transforms points m to activation(A' m A + bias) and stores the maximum of each 2x2 window,
  /// with the indices of the maxima unless argmax_indices is null. The activation is none or relu.
  void (*pooled_output)(const Images& images, const Tiles& tiles, const float* bias,
                        ActivationKind activation, float* y, uint8_t* argmax_indices);
  /// Transforms the 4x4 tiles of the output's gradient to points: A dy A'.
  void (*output_gradient)(const Images& images, const float* dy, const Tiles& tiles);
  /// Transforms a kernel to points: G k G' for kLanes neighbouring output channels. Taps are
  /// `tap_stride` elements apart.
  void (*kernel)(const float* taps, int64_t tap_stride, float* points, int64_t stride);
  /// Transforms points p to the gradient of the kernel: G' p G for `channels` output channels.
  void (*kernel_gradient)(const float* points, int64_t stride, int64_t channels, float* taps,
                          int64_t tap_stride);
  void (*product)(const Product& p);
};
const Loops& loops();

}  // namespace crescent::cpu::winograd
