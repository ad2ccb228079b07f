// Functions that ops.h does not have: convolutions, pooling and patches of images. A list with a
// single number gives this number to all spatial axes.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

/// Depthwise convolution: each channel has its own kernels, (spatial..., channels, multiplier).
CRESCENT_API Tensor depthwise_conv(const Tensor& x, const Tensor& kernel,
                                   const std::vector<int64_t>& strides = {1},
                                   Padding padding = Padding::valid,
                                   const std::vector<int64_t>& dilation = {1},
                                   DataFormat format = DataFormat::channels_last);
/// A depthwise convolution, and a convolution of its result with the pointwise kernel (1...,
/// channels * multiplier, out).
CRESCENT_API Tensor separable_conv(const Tensor& x, const Tensor& depthwise_kernel,
                                   const Tensor& pointwise_kernel,
                                   const std::vector<int64_t>& strides = {1},
                                   Padding padding = Padding::valid,
                                   const std::vector<int64_t>& dilation = {1},
                                   DataFormat format = DataFormat::channels_last);
/// Pools over windows that divide each axis into `output_size` parts, which overlap where the axis
/// is not divisible.
CRESCENT_API Tensor adaptive_max_pool(const Tensor& x, const std::vector<int64_t>& output_size,
                                      DataFormat format = DataFormat::channels_last);
CRESCENT_API Tensor adaptive_average_pool(const Tensor& x, const std::vector<int64_t>& output_size,
                                          DataFormat format = DataFormat::channels_last);

// -- patches
/// Images (batch, height, width, channels) -> patches (batch, rows, columns, patch height * patch
/// width * channels); if `size` has three numbers, volumes with three spatial axes. The batch axis
/// may be missing. Without strides, patches do not overlap.
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
/// im2col: images (batch, channels, height, width) -> (batch, channels * patch size, patches).
CRESCENT_API Tensor unfold(const Tensor& x, const std::vector<int64_t>& kernel_size,
                           const std::vector<int64_t>& dilation = {1},
                           const std::vector<int64_t>& padding = {0},
                           const std::vector<int64_t>& stride = {1});
/// The inverse of unfold(); the values of overlapping patches are added.
CRESCENT_API Tensor fold(const Tensor& x, const std::vector<int64_t>& output_size,
                         const std::vector<int64_t>& kernel_size,
                         const std::vector<int64_t>& dilation = {1},
                         const std::vector<int64_t>& padding = {0},
                         const std::vector<int64_t>& stride = {1});
/// Moves each group of channels to a square of b x b pixels, where b is the block size: (batch,
/// rows, columns, channels) -> (batch, b rows, b columns, channels / b^2). Fails for channels that
/// b^2 does not divide.
CRESCENT_API Tensor depth_to_space(const Tensor& x, int64_t block_size,
                                   DataFormat format = DataFormat::channels_last);
/// The inverse of depth_to_space(); fails for rows or columns that the block size does not divide.
CRESCENT_API Tensor space_to_depth(const Tensor& x, int64_t block_size,
                                   DataFormat format = DataFormat::channels_last);
/// Windows of the last axis: (..., n) -> (..., windows, length).
CRESCENT_API Tensor extract_sequences(const Tensor& x, int64_t sequence_length,
                                      int64_t sequence_stride);

}  // namespace crescent::ops
