// Convolutions, pooling, and patches of images, beside those of ops.h. One number serves all
// spatial axes.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

/// A group for each channel: kernel (spatial..., channels, multiplier).
CRESCENT_API Tensor depthwise_conv(const Tensor& x, const Tensor& kernel,
                                   const std::vector<int64_t>& strides = {1},
                                   Padding padding = Padding::valid,
                                   const std::vector<int64_t>& dilation = {1},
                                   DataFormat format = DataFormat::channels_last);
CRESCENT_API Tensor separable_conv(const Tensor& x, const Tensor& depthwise_kernel,
                                   const Tensor& pointwise_kernel,
                                   const std::vector<int64_t>& strides = {1},
                                   Padding padding = Padding::valid,
                                   const std::vector<int64_t>& dilation = {1},
                                   DataFormat format = DataFormat::channels_last);
/// Windows that divide each axis into as many parts as are asked for, overlapping where they must.
CRESCENT_API Tensor adaptive_max_pool(const Tensor& x, const std::vector<int64_t>& output_size,
                                      DataFormat format = DataFormat::channels_last);
CRESCENT_API Tensor adaptive_average_pool(const Tensor& x, const std::vector<int64_t>& output_size,
                                          DataFormat format = DataFormat::channels_last);

// -- patches
/// (batch, height, width, channels) -> (batch, rows, columns, size * channels); of volumes where
/// there are three sizes. No batch is one. No strides: patches beside each other.
CRESCENT_API Tensor extract_patches(const Tensor& images, const std::vector<int64_t>& size,
                                    const std::vector<int64_t>& strides = {},
                                    const std::vector<int64_t>& dilation = {1},
                                    Padding padding = Padding::valid,
                                    DataFormat format = DataFormat::channels_last);
CRESCENT_API Tensor extract_patches_3d(const Tensor& volumes, const std::vector<int64_t>& size,
                                       const std::vector<int64_t>& strides = {},
                                       const std::vector<int64_t>& dilation = {1},
                                       Padding padding = Padding::valid,
                                       DataFormat format = DataFormat::channels_last);
/// Patches of images (batch, channels, height, width) as columns: (batch, channels * size, places).
CRESCENT_API Tensor unfold(const Tensor& x, const std::vector<int64_t>& kernel_size,
                           const std::vector<int64_t>& dilation = {1},
                           const std::vector<int64_t>& padding = {0},
                           const std::vector<int64_t>& stride = {1});
/// The other way round: where patches overlap they are added.
CRESCENT_API Tensor fold(const Tensor& x, const std::vector<int64_t>& output_size,
                         const std::vector<int64_t>& kernel_size,
                         const std::vector<int64_t>& dilation = {1},
                         const std::vector<int64_t>& padding = {0},
                         const std::vector<int64_t>& stride = {1});
/// Blocks of channels as squares of pixels, and back.
CRESCENT_API Tensor depth_to_space(const Tensor& x, int64_t block_size,
                                   DataFormat format = DataFormat::channels_last);
CRESCENT_API Tensor space_to_depth(const Tensor& x, int64_t block_size,
                                   DataFormat format = DataFormat::channels_last);
/// Windows of the last axis: (..., n) -> (..., places, length).
CRESCENT_API Tensor extract_sequences(const Tensor& x, int64_t sequence_length,
                                      int64_t sequence_stride);

}  // namespace crescent::ops
