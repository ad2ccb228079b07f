// Patches of images, space-to-depth, sliding windows of sequences.
#include "crescent/ops/convolutions.h"
#include "ops/formats.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

Tensor extract_windows(const Tensor& x, const std::vector<int64_t>& size,
                       const std::vector<int64_t>& strides, const std::vector<int64_t>& dilation,
                       Padding padding, DataFormat format, size_t axis_count) {
  const bool has_one_image = static_cast<size_t>(x.rank()) == axis_count + 1;
  const Tensor batch = has_one_image ? ops::expand_dims(x, 0) : x;
  const std::vector<int64_t> window = for_each_axis("size", size, axis_count);
  const Tensor result = in_format(batch, format, [&](const Tensor& images) {
    return patches_of(
        images, {window, strides.empty() ? window : for_each_axis("stride", strides, axis_count),
                 for_each_axis("dilation_rate", dilation, axis_count), padding == Padding::same});
  });
  return has_one_image ? ops::squeeze(result, 0) : result;
}

void check_block(const char* name, const Tensor& x, int64_t block_size) {
  constexpr int64_t kMaxBlockSize = 1 << 16;  // the largest block size, whose square fits int64
  if (x.rank() != 4) fail(name, ": expected images of four axes, got shape ", x.shape());
  if (block_size < 2 || block_size > kMaxBlockSize)
    fail(name, ": expected a block_size of 2 to ", kMaxBlockSize, ", got ", block_size);
}

}  // namespace

Tensor extract_patches(const Tensor& images, const std::vector<int64_t>& size,
                       const std::vector<int64_t>& strides, const std::vector<int64_t>& dilation,
                       Padding padding, DataFormat format) {
  return extract_windows(images, size, strides, dilation, padding, format,
                         size.size() == 3 ? 3 : 2);
}
Tensor extract_patches_3d(const Tensor& volumes, const std::vector<int64_t>& size,
                          const std::vector<int64_t>& strides, const std::vector<int64_t>& dilation,
                          Padding padding, DataFormat format) {
  return extract_windows(volumes, size, strides, dilation, padding, format, 3);
}

Tensor unfold(const Tensor& x, const std::vector<int64_t>& size,
              const std::vector<int64_t>& dilation, const std::vector<int64_t>& padding,
              const std::vector<int64_t>& stride) {
  if (x.rank() != 4)
    fail("unfold: expected (batch, channels, height, width), got shape ", x.shape());
  const std::vector<int64_t> window = for_each_axis("kernel_size", size, 2),
                             padding_sizes = for_each_axis("padding", padding, 2);
  const bool is_padded = padding_sizes != std::vector<int64_t>{0, 0};
  const std::vector<int64_t> padding_widths{0, 0, padding_sizes[0], padding_sizes[1]};
  return columns_of(
      is_padded ? ops::pad(x, padding_widths, padding_widths) : x,
      {window, for_each_axis("stride", stride, 2), for_each_axis("dilation", dilation, 2)});
}

Tensor fold(const Tensor& x, const std::vector<int64_t>& output_size,
            const std::vector<int64_t>& size, const std::vector<int64_t>& dilation,
            const std::vector<int64_t>& padding, const std::vector<int64_t>& stride) {
  if (x.rank() != 3 || output_size.size() != 2)
    fail("fold: expected (batch, channels * size, places) and two output sizes, got shape ",
         x.shape());
  const std::vector<int64_t> window = for_each_axis("kernel_size", size, 2),
                             padding_sizes = for_each_axis("padding", padding, 2),
                             strides = for_each_axis("stride", stride, 2),
                             dilations = for_each_axis("dilation", dilation, 2);
  for (const std::vector<int64_t>* axis_values : {&window, &strides, &dilations})
    if (*std::min_element(axis_values->begin(), axis_values->end()) < 1)
      fail("fold: expected a kernel, strides and a dilation of at least 1, got ",
           Value(*axis_values));
  const int64_t area = window[0] * window[1], channels = x.dim(1) / area;
  std::vector<int64_t> window_counts, padded_size;
  for (size_t i = 0; i < 2; ++i) {
    padded_size.push_back(output_size[i] + 2 * padding_sizes[i]);
    window_counts.push_back((padded_size[i] - dilations[i] * (window[i] - 1) - 1) / strides[i] + 1);
  }
  if (channels * area != x.dim(1) || window_counts[0] * window_counts[1] != x.dim(2))
    fail("fold: shape ", x.shape(), " does not give ", Value(output_size), " with a kernel of ",
         Value(window));
  return ops::slice(sum_of_columns(x, {window, strides, dilations}, padded_size),
                    {0, 0, padding_sizes[0], padding_sizes[1]},
                    {-1, channels, output_size[0], output_size[1]});
}

Tensor depth_to_space(const Tensor& x, int64_t block_size, DataFormat format) {
  check_block("depth_to_space", x, block_size);
  return in_format(x, format, [&](const Tensor& images) {
    const int64_t h = images.dim(1), w = images.dim(2),
                  c = images.dim(3) / (block_size * block_size);
    if (c * block_size * block_size != images.dim(3))
      fail("depth_to_space: ", images.dim(3), " channels are not divisible by ",
           block_size * block_size);
    // The channel axis is (channels, block) if channels are first and (block, channels) if they are
    // last, as in Keras.
    const bool channels_first = format == DataFormat::channels_first;
    const Tensor blocks =
        channels_first ? ops::transpose(ops::reshape(images, {-1, h, w, c, block_size, block_size}),
                                        {0, 1, 4, 2, 5, 3})
                       : ops::transpose(ops::reshape(images, {-1, h, w, block_size, block_size, c}),
                                        {0, 1, 3, 2, 4, 5});
    return ops::reshape(blocks, {-1, h * block_size, w * block_size, c});
  });
}

Tensor space_to_depth(const Tensor& x, int64_t block_size, DataFormat format) {
  check_block("space_to_depth", x, block_size);
  return in_format(x, format, [&](const Tensor& images) {
    const int64_t h = images.dim(1), w = images.dim(2), c = images.dim(3);
    if (h % block_size != 0 || w % block_size != 0)
      fail("space_to_depth: ", h, " x ", w, " is not divisible by ", block_size);
    const Tensor blocks =
        ops::reshape(images, {-1, h / block_size, block_size, w / block_size, block_size, c});
    const bool channels_first = format == DataFormat::channels_first;
    const Tensor rearranged_blocks = channels_first ? ops::transpose(blocks, {0, 1, 3, 5, 2, 4})
                                                    : ops::transpose(blocks, {0, 1, 3, 2, 4, 5});
    return ops::reshape(rearranged_blocks,
                        {-1, h / block_size, w / block_size, block_size * block_size * c});
  });
}

Tensor extract_sequences(const Tensor& x, int64_t length, int64_t stride) {
  const int64_t n = x.dim(-1);
  if (n < length || length < 1 || stride < 1)
    fail("extract_sequences: length ", length, " and stride ", stride, " do not fit shape ",
         x.shape());
  const int64_t count = (n - length) / stride + 1;
  const Tensor indices = positions(count, 0, 2) * stride + positions(length, 1, 2);
  return ops::gather(x, indices, -1);
}

}  // namespace crescent::ops
