// Convolutions, pooling, and patches of images.
#include "crescent/ops/convolutions.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

using Sizes = std::vector<int64_t>;

ops::Padding padding_named(const std::string& padding_name) {
  const std::string name = in_lower_case(padding_name);
  if (name == "valid") return ops::Padding::valid;
  if (name == "same") return ops::Padding::same;
  const std::vector<std::string> allowed_paddings{"valid", "same"};
  fail("padding must be 'valid' or 'same', got '", padding_name, "'",
       did_you_mean(padding_name, allowed_paddings));
}

Tensor conv(const Tensor& x, const Tensor& kernel, const Sizes& strides, const std::string& padding,
            const Format& format, const Sizes& dilation) {
  return ops::conv(x, kernel, strides, padding_named(padding), dilation, std::nullopt,
                   format_named(format));
}

Tensor depthwise_conv(const Tensor& x, const Tensor& kernel, const Sizes& strides,
                      const std::string& padding, const Format& format, const Sizes& dilation) {
  return ops::depthwise_conv(x, kernel, strides, padding_named(padding), dilation,
                             format_named(format));
}

Tensor separable_conv(const Tensor& x, const Tensor& depthwise, const Tensor& pointwise,
                      const Sizes& strides, const std::string& padding, const Format& format,
                      const Sizes& dilation) {
  return ops::separable_conv(x, depthwise, pointwise, strides, padding_named(padding), dilation,
                             format_named(format));
}

Tensor conv_transpose(const Tensor& x, const Tensor& kernel, const Sizes& strides,
                      const std::string& padding, const Sizes& output_padding, const Format& format,
                      const Sizes& dilation) {
  return ops::conv_transpose(x, kernel, strides, padding_named(padding), dilation, output_padding,
                             format_named(format));
}

using PoolFunction = Tensor (*)(const Tensor&, Sizes, Sizes, ops::Padding, ops::DataFormat);

template <PoolFunction F>
Tensor pool(const Tensor& x, const Sizes& size, const Sizes& strides, const std::string& padding,
            const Format& format) {
  return F(x, size, strides, padding_named(padding), format_named(format));
}

template <auto F, class Argument>
Tensor in_format(const Tensor& x, Argument argument, const Format& format) {
  return F(x, argument, format_named(format));
}

using ExtractFunction = Tensor (*)(const Tensor&, const Sizes&, const Sizes&, const Sizes&,
                                   ops::Padding, ops::DataFormat);

template <ExtractFunction F>
Tensor patches(const Tensor& x, const Sizes& size, const Sizes& strides, const Sizes& dilation,
               const std::string& padding, const Format& format) {
  return F(x, size, strides, dilation, padding_named(padding), format_named(format));
}

}  // namespace

CRESCENT_REGISTER(convolutions) {
  Operations(registry, "keras.src.ops.nn")
      .add("Conv",
           "conv(inputs, kernel, strides=1, padding='valid', data_format=None, dilation_rate=1)",
           &conv,
           "Convolution of x (batch, spatial sizes..., channels) with a kernel (sizes..., "
           "channels, filters) in 1 to 3 dimensions.")
      .add("DepthwiseConv",
           "depthwise_conv(inputs, kernel, strides=1, padding='valid', data_format=None, "
           "dilation_rate=1)",
           &depthwise_conv,
           "Convolution of each channel with its own kernels (sizes..., channels, multiplier).")
      .add("SeparableConv",
           "separable_conv(inputs, depthwise_kernel, pointwise_kernel, strides=1, padding='valid', "
           "data_format=None, dilation_rate=1)",
           &separable_conv,
           "A depthwise convolution followed by a convolution of size 1 over all channels.")
      .add("ConvTranspose",
           "conv_transpose(inputs, kernel, strides=1, padding='valid', output_padding=None, "
           "data_format=None, dilation_rate=1)",
           &conv_transpose, "Transposed convolution with a kernel (sizes..., filters, channels).")
      .add("MaxPool",
           "max_pool(inputs, pool_size, strides=None, padding='valid', data_format=None)",
           &pool<ops::max_pool>, "The maximum of each window.")
      .add("AveragePool",
           "average_pool(inputs, pool_size, strides=None, padding='valid', data_format=None)",
           &pool<ops::average_pool>, "The mean of each window; padding does not count.")
      .add("AdaptiveMaxPool", "adaptive_max_pool(inputs, output_size, data_format=None)",
           &in_format<ops::adaptive_max_pool, const Sizes&>,
           "The maxima of windows whose number along each axis is output_size.")
      .add("AdaptiveAveragePool", "adaptive_average_pool(inputs, output_size, data_format=None)",
           &in_format<ops::adaptive_average_pool, const Sizes&>,
           "The means of windows whose number along each axis is output_size.")
      .add("Unfold", "unfold(x, kernel_size, dilation=1, padding=0, stride=1)", &ops::unfold,
           "The patches of an image (batch, channels, height, width) as columns.")
      .add("Fold", "fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1)", &ops::fold,
           "Sums overlapping patches back into an image; the inverse of unfold where patches do "
           "not overlap.")
      .add("DepthToSpace", "depth_to_space(x, block_size, data_format='channels_last')",
           &in_format<ops::depth_to_space, int64_t>,
           "Rearranges channels into spatial blocks of block_size x block_size pixels.")
      .add("SpaceToDepth", "space_to_depth(x, block_size, data_format='channels_last')",
           &in_format<ops::space_to_depth, int64_t>,
           "Rearranges spatial blocks of block_size x block_size pixels into channels.");
  Operations(registry, "keras.src.ops.math")
      .add("ExtractSequences", "extract_sequences(x, sequence_length, sequence_stride)",
           &ops::extract_sequences,
           "The windows of sequence_length elements along the last axis, sequence_stride apart.");
  Operations(registry, "keras.src.ops.image")
      .add("ExtractPatches",
           "image.extract_patches(images, size, strides=None, dilation_rate=1, padding='valid', "
           "data_format=None)",
           &patches<ops::extract_patches>,
           "The patches of images, each flattened into the channels.")
      .add("ExtractPatches3D",
           "image.extract_patches_3d(volumes, size, strides=None, dilation_rate=1, "
           "padding='valid', data_format=None)",
           &patches<ops::extract_patches_3d>,
           "The patches of volumes, each flattened into the channels.");
}

}  // namespace crescent::operations
