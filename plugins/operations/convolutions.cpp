// Convolutions, pooling, and patches of images.
#include <algorithm>

#include "crescent/registry/registration.h"
#include "families.h"
#include "kernels/patches.h"

namespace crescent::operations {
namespace {

using Sizes = std::vector<int64_t>;

ops::Padding padding_named(const std::string& name) {
  if (name == "valid") return ops::Padding::valid;
  if (name == "same") return ops::Padding::same;
  const std::vector<std::string> known{"valid", "same"};
  fail("padding must be 'valid' or 'same', got '", name, "'", did_you_mean(name, known));
}

Tensor channels_last(const Tensor& x) {
  std::vector<int> order{0};
  for (int i = 2; i < x.rank(); ++i) order.push_back(i);
  order.push_back(1);
  return ops::transpose(x, order);
}
Tensor channels_second(const Tensor& x) {
  std::vector<int> order{0, x.rank() - 1};
  for (int i = 1; i + 1 < x.rank(); ++i) order.push_back(i);
  return ops::transpose(x, order);
}

/// f on images with the channels last, whatever their format.
template <class F>
Tensor in_format(const Tensor& x, const Format& format, F f) {
  return channels_first(format) ? channels_second(f(channels_last(x))) : f(x);
}

size_t spatial(const Tensor& x) {
  if (x.rank() < 3) fail("expected (batch, ..., channels), got shape ", x.shape());
  return static_cast<size_t>(x.rank() - 2);
}

Tensor conv(const Tensor& x, const Tensor& kernel, const Sizes& strides, const std::string& padding,
            const Format& format, const Sizes& dilation) {
  return in_format(x, format, [&](const Tensor& images) {
    const int64_t in = kernel.dim(-2), channels = images.dim(-1);
    if (in < 1 || (channels >= 0 && channels % in != 0))
      fail("conv: a kernel of shape ", kernel.shape(), " does not fit ", channels, " channels");
    const int64_t groups = channels < 0 ? 1 : channels / in;
    return ops::conv(images, kernel, for_each_axis("stride", strides, spatial(x)),
                     padding_named(padding), for_each_axis("dilation_rate", dilation, spatial(x)),
                     groups);
  });
}

/// A group for each channel: kernel (..., channels, multiplier).
Tensor depthwise_conv(const Tensor& x, const Tensor& kernel, const Sizes& strides,
                      const std::string& padding, const Format& format, const Sizes& dilation) {
  const int64_t channels = kernel.dim(-2), multiplier = kernel.dim(-1);
  Shape shape = kernel.shape();
  shape.set(-2, 1), shape.set(-1, channels * multiplier);
  return conv(x, ops::reshape(kernel, shape), strides, padding, format, dilation);
}

Tensor separable_conv(const Tensor& x, const Tensor& depthwise, const Tensor& pointwise,
                      const Sizes& strides, const std::string& padding, const Format& format,
                      const Sizes& dilation) {
  const Tensor each = depthwise_conv(x, depthwise, strides, padding, format, dilation);
  return conv(each, pointwise, {1}, "valid", format, {1});
}

Tensor conv_transpose(const Tensor& x, const Tensor& kernel, const Sizes& strides,
                      const std::string& padding, const Sizes& output_padding, const Format& format,
                      const Sizes& dilation) {
  return in_format(x, format, [&](const Tensor& images) {
    const size_t axes = spatial(x);
    return ops::conv_transpose(
        images, kernel, for_each_axis("stride", strides, axes), padding_named(padding),
        for_each_axis("dilation_rate", dilation, axes),
        output_padding.empty() ? Sizes() : for_each_axis("output_padding", output_padding, axes));
  });
}

using Pool = Tensor (*)(const Tensor&, Sizes, Sizes, ops::Padding);

template <Pool F>
Tensor pool(const Tensor& x, const Sizes& size, const Sizes& strides, const std::string& padding,
            const Format& format) {
  return in_format(x, format, [&](const Tensor& images) {
    const Sizes window = for_each_axis("pool_size", size, spatial(x));
    return F(images, window,
             strides.empty() ? window : for_each_axis("stride", strides, spatial(x)),
             padding_named(padding));
  });
}

/// Windows that divide each axis into as many parts as are asked for, overlapping where they must.
template <Tensor (*Reduce)(const Tensor&, const ops::Axes&, bool)>
Tensor adaptive_pool(const Tensor& x, const Sizes& output_size, const Format& format) {
  return in_format(x, format, [&](const Tensor& images) {
    const Sizes sizes = for_each_axis("output_size", output_size, spatial(x));
    Tensor result = images;
    for (int axis = 1; axis + 1 < images.rank(); ++axis) {
      const int64_t n = images.dim(axis), parts = sizes[static_cast<size_t>(axis - 1)];
      if (n < 0 || parts < 1)
        fail("adaptive pooling: cannot divide axis ", axis, " of shape ", images.shape(), " by ",
             parts);
      Tensors reduced;
      for (int64_t i = 0; i < parts; ++i)
        reduced.push_back(
            Reduce(ops::slice_axis(result, axis, i * n / parts, ((i + 1) * n + parts - 1) / parts),
                   {axis}, true));
      result = ops::concatenate(reduced, axis);
    }
    return result;
  });
}

// ---- patches

Tensor extract(const Tensor& x, const Sizes& size, const Sizes& strides, const Sizes& dilation,
               const std::string& padding, const Format& format, size_t axes) {
  const bool single = static_cast<size_t>(x.rank()) == axes + 1;
  const Tensor batch = single ? ops::expand_dims(x, 0) : x;
  const Sizes window = for_each_axis("size", size, axes);
  const Tensor result = in_format(batch, format, [&](const Tensor& images) {
    return patches_of(images,
                      {window, strides.empty() ? window : for_each_axis("stride", strides, axes),
                       for_each_axis("dilation_rate", dilation, axes),
                       padding_named(padding) == ops::Padding::same});
  });
  return single ? ops::squeeze(result, 0) : result;
}

/// Of volumes where the size says so, which is how Keras' files have extract_patches_3d.
Tensor extract_patches(const Tensor& x, const Sizes& size, const Sizes& strides,
                       const Sizes& dilation, const std::string& padding, const Format& format) {
  return extract(x, size, strides, dilation, padding, format, size.size() == 3 ? 3 : 2);
}
Tensor extract_patches_3d(const Tensor& x, const Sizes& size, const Sizes& strides,
                          const Sizes& dilation, const std::string& padding, const Format& format) {
  return extract(x, size, strides, dilation, padding, format, 3);
}

/// Patches of images (batch, channels, height, width) as columns: (batch, channels * size, places).
Tensor unfold(const Tensor& x, const Sizes& size, const Sizes& dilation, const Sizes& padding,
              const Sizes& stride) {
  if (x.rank() != 4)
    fail("unfold: expected (batch, channels, height, width), got shape ", x.shape());
  const Sizes window = for_each_axis("kernel_size", size, 2),
              border = for_each_axis("padding", padding, 2);
  const bool framed = border != Sizes{0, 0};
  const Sizes frame{0, 0, border[0], border[1]};
  return columns_of(
      framed ? ops::pad(x, frame, frame) : x,
      {window, for_each_axis("stride", stride, 2), for_each_axis("dilation", dilation, 2)});
}

/// The other way round: where patches overlap they are added.
Tensor fold(const Tensor& x, const Sizes& output, const Sizes& size, const Sizes& dilation,
            const Sizes& padding, const Sizes& stride) {
  if (x.rank() != 3 || output.size() != 2)
    fail("fold: expected (batch, channels * size, places) and two output sizes, got shape ",
         x.shape());
  const Sizes window = for_each_axis("kernel_size", size, 2),
              border = for_each_axis("padding", padding, 2),
              step = for_each_axis("stride", stride, 2),
              wide = for_each_axis("dilation", dilation, 2);
  for (const Sizes* numbers : {&window, &step, &wide})
    if (*std::min_element(numbers->begin(), numbers->end()) < 1)
      fail("fold: expected a kernel, strides and a dilation of at least 1, got ", Value(*numbers));
  const int64_t area = window[0] * window[1], channels = x.dim(1) / area;
  Sizes places, padded;
  for (size_t i = 0; i < 2; ++i) {
    padded.push_back(output[i] + 2 * border[i]);
    places.push_back((padded[i] - wide[i] * (window[i] - 1) - 1) / step[i] + 1);
  }
  if (channels * area != x.dim(1) || places[0] * places[1] != x.dim(2))
    fail("fold: shape ", x.shape(), " does not give ", Value(output), " with a kernel of ",
         Value(window));
  return ops::slice(sum_of_columns(x, {window, step, wide}, padded), {0, 0, border[0], border[1]},
                    {-1, channels, output[0], output[1]});
}

void check_block(const char* name, const Tensor& x, int64_t n) {
  constexpr int64_t kMost = 1 << 16;  // its square is still a number
  if (x.rank() != 4) fail(name, ": expected images of four axes, got shape ", x.shape());
  if (n < 1 || n > kMost) fail(name, ": expected a block_size of 1 to ", kMost, ", got ", n);
}

Tensor depth_to_space(const Tensor& x, int64_t n, const Format& format) {
  check_block("depth_to_space", x, n);
  return in_format(x, format, [&](const Tensor& images) {
    const int64_t h = images.dim(1), w = images.dim(2), c = images.dim(3) / (n * n);
    if (c * n * n != images.dim(3))
      fail("depth_to_space: ", images.dim(3), " channels are not divisible by ", n * n);
    // Keras keeps the block before the channels, in either format.
    const bool first = channels_first(format);
    const Tensor blocks =
        first ? ops::transpose(ops::reshape(images, {-1, h, w, c, n, n}), {0, 1, 4, 2, 5, 3})
              : ops::transpose(ops::reshape(images, {-1, h, w, n, n, c}), {0, 1, 3, 2, 4, 5});
    return ops::reshape(blocks, {-1, h * n, w * n, c});
  });
}

Tensor space_to_depth(const Tensor& x, int64_t n, const Format& format) {
  check_block("space_to_depth", x, n);
  return in_format(x, format, [&](const Tensor& images) {
    const int64_t h = images.dim(1), w = images.dim(2), c = images.dim(3);
    if (h % n != 0 || w % n != 0) fail("space_to_depth: ", h, " x ", w, " is not divisible by ", n);
    const Tensor blocks = ops::reshape(images, {-1, h / n, n, w / n, n, c});
    const bool first = channels_first(format);
    const Tensor moved = first ? ops::transpose(blocks, {0, 1, 3, 5, 2, 4})
                               : ops::transpose(blocks, {0, 1, 3, 2, 4, 5});
    return ops::reshape(moved, {-1, h / n, w / n, n * n * c});
  });
}

/// Windows of a sequence, the last axis: (..., places, length).
Tensor extract_sequences(const Tensor& x, int64_t length, int64_t stride) {
  const int64_t n = x.dim(-1);
  if (n < length || length < 1 || stride < 1)
    fail("extract_sequences: length ", length, " and stride ", stride, " do not fit shape ",
         x.shape());
  const int64_t count = (n - length) / stride + 1;
  const Tensor places = positions(count, 0, 2) * stride + positions(length, 1, 2);
  return ops::take(x, places, -1);
}

}  // namespace

CRESCENT_REGISTER(convolutions) {
  Operations(registry, "keras.src.ops.nn")
      .add("Conv",
           "conv(inputs, kernel, strides=1, padding='valid', data_format=None, dilation_rate=1)",
           &conv,
           "The convolution of (batch, sizes, channels) with a kernel of (sizes, channels, "
           "filters), in 1 to 3 dimensions.")
      .add(
          "DepthwiseConv",
          "depthwise_conv(inputs, kernel, strides=1, padding='valid', data_format=None, "
          "dilation_rate=1)",
          &depthwise_conv,
          "The convolution of each channel with kernels of its own, (sizes, channels, multiplier).")
      .add("SeparableConv",
           "separable_conv(inputs, depthwise_kernel, pointwise_kernel, strides=1, padding='valid', "
           "data_format=None, dilation_rate=1)",
           &separable_conv, "A depthwise convolution, then one of size 1 over all channels.")
      .add("ConvTranspose",
           "conv_transpose(inputs, kernel, strides=1, padding='valid', output_padding=None, "
           "data_format=None, dilation_rate=1)",
           &conv_transpose,
           "The transpose of a convolution, by a kernel of (sizes, filters, channels).")
      .add("MaxPool",
           "max_pool(inputs, pool_size, strides=None, padding='valid', data_format=None)",
           &pool<ops::max_pool>, "The largest number of each window.")
      .add("AveragePool",
           "average_pool(inputs, pool_size, strides=None, padding='valid', data_format=None)",
           &pool<ops::average_pool>, "The mean of each window; padding does not count.")
      .add("AdaptiveMaxPool", "adaptive_max_pool(inputs, output_size, data_format=None)",
           &adaptive_pool<ops::max>, "The largest numbers of as many windows as output_size says.")
      .add("AdaptiveAveragePool", "adaptive_average_pool(inputs, output_size, data_format=None)",
           &adaptive_pool<ops::mean>, "The means of as many windows as output_size says.")
      .add("Unfold", "unfold(x, kernel_size, dilation=1, padding=0, stride=1)", &unfold,
           "Patches as columns.")
      .add("Fold", "fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1)", &fold,
           "Columns as patches, added where they overlap.")
      .add("DepthToSpace", "depth_to_space(x, block_size, data_format='channels_last')",
           &depth_to_space, "Channels as squares of block_size pixels.")
      .add("SpaceToDepth", "space_to_depth(x, block_size, data_format='channels_last')",
           &space_to_depth, "Squares of block_size pixels as channels.");
  Operations(registry, "keras.src.ops.math")
      .add("ExtractSequences", "extract_sequences(x, sequence_length, sequence_stride)",
           &extract_sequences, "Windows of the last axis.");
  Operations(registry, "keras.src.ops.image")
      .add("ExtractPatches",
           "image.extract_patches(images, size, strides=None, dilation_rate=1, padding='valid', "
           "data_format=None)",
           &extract_patches, "Windows of images, each as a row of channels.")
      .add("ExtractPatches3D",
           "image.extract_patches_3d(volumes, size, strides=None, dilation_rate=1, "
           "padding='valid', data_format=None)",
           &extract_patches_3d, "Windows of volumes, each as a row of channels.");
}

}  // namespace crescent::operations
