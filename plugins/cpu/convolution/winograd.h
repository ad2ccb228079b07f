// Winograd's minimal filtering F(4x4, 3x3) on float32 NHWC images (Lavin and Gray 2015,
// arXiv:1509.09308): 16 output pixels with 36 products a pair of channels instead of 144. Tiles of
// the images and the kernel are transformed into 36 points; at every point the convolution is an
// ordinary product of a matrix (tiles, in) with a matrix (in, out).
//
//   y = A' ((B' x B) . (G k G')) A          dk = G' ((B' x B) . (A dy A')) G
#pragma once
#include <cstdint>

#include "kernel/post_ops.h"

namespace crescent::cpu::winograd {

constexpr int64_t kTile = 4,
                  kReach =
                      6;  ///< pixels along an axis: of the output, and of the input they depend on
constexpr int64_t kPoints = kReach * kReach, kTaps = 9;
constexpr int64_t kLanes = 16;  ///< channels at the points are filled up with zeros to a multiple
constexpr int64_t kPanel = 64;  ///< columns of a transformed kernel that lie together

constexpr int64_t padded(int64_t channels) { return (channels + kLanes - 1) / kLanes * kLanes; }
/// From one point to the next of (36, rows, padded(columns)). A line more than needed, so that the
/// 36 places a transform writes to are not all in one set of the cache.
constexpr int64_t point_stride(int64_t rows, int64_t columns) {
  return rows * padded(columns) + kLanes;
}

/// One side of a convolution, cut into tiles that are numbered over all images. Tile (i, j) of an
/// image begins at pixel (4 i - top, 4 j - left); what is outside counts as zeros.
struct Images {
  int64_t height, width, channels, top, left;
  int64_t tile_rows, tile_columns;
  int64_t pixel = channels;  ///< values to the next one: more where only some channels are read
};

/// Tiles [first, first + count). The points of the first begin at `points`, from one point to the
/// next it is `stride`.
struct Tiles {
  int64_t first, count;
  float* points;
  int64_t stride;
};

/// c (rows, columns) = a b, or that is added. Element (i, q) of a is at i row + q step; columns are
/// a multiple of kLanes.
struct Product {
  int64_t rows, columns, depth;
  const float* a;
  int64_t row, step;
  const float* b;
  int64_t ldb;
  float* c;
  int64_t ldc;
  bool add;
};

/// The loops for the machine at hand.
struct Loops {
  /// Points of the 6x6 tiles of the input: B' x B.
  void (*input)(const Images& images, const float* x, const Tiles& tiles);
  /// The 4x4 tiles of the output from their points: activation(A' m A + bias + residual), or 0
  /// where not gate > 0. Bias, residual and gate may be null.
  void (*output)(const Images& images, const Tiles& tiles, const float* bias, const float* residual,
                 const float* gate, ActivationKind activation, float* y);
  /// activation(A' m A + bias), then the greatest of every window of 2x2 pixels and, unless null,
  /// which these are. The activation is none or relu.
  void (*pooled_output)(const Images& images, const Tiles& tiles, const float* bias,
                        ActivationKind activation, float* y, uint8_t* argmax_indices);
  /// Points of the 4x4 tiles of the output's gradient: A dy A'.
  void (*output_gradient)(const Images& images, const float* dy, const Tiles& tiles);
  /// G k G' of kLanes neighbouring output channels. From one tap to the next it is `tap`.
  void (*kernel)(const float* taps, int64_t tap, float* points, int64_t stride);
  /// G' p G of `channels` output channels.
  void (*kernel_gradient)(const float* points, int64_t stride, int64_t channels, float* taps,
                          int64_t tap);
  void (*product)(const Product& p);
};
const Loops& loops();

}  // namespace crescent::cpu::winograd
