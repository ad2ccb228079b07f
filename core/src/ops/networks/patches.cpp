// Patches of images, space-to-depth, sliding windows of sequences.
#include "crescent/ops/convolutions.h"
#include "ops/formats.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

Tensor extract(const Tensor& x, const std::vector<int64_t>& size,
               const std::vector<int64_t>& strides, const std::vector<int64_t>& dilation,
               Padding padding, DataFormat format, size_t axes) {
  const bool has_one_image = static_cast<size_t>(x.rank()) == axes + 1;
  const Tensor batch = has_one_image ? ops::expand_dims(x, 0) : x;
  const std::vector<int64_t> window = for_each_axis("size", size, axes);
  const Tensor result = in_format(batch, format, [&](const Tensor& images) {
    return patches_of(images,
                      {window, strides.empty() ? window : for_each_axis("stride", strides, axes),
                       for_each_axis("dilation_rate", dilation, axes), padding == Padding::same});
  });
  return has_one_image ? ops::squeeze(result, 0) : result;
}

void check_block(const char* name, const Tensor& x, int64_t n) {
  constexpr int64_t kMaxBlockSize = 1 << 16;  // the largest block size, whose square fits int64
  if (x.rank() != 4) fail(name, ": expected images of four axes, got shape ", x.shape());
  if (n < 2 || n > kMaxBlockSize)
    fail(name, ": expected a block_size of 2 to ", kMaxBlockSize, ", got ", n);
}

}  // namespace

Tensor extract_patches(const Tensor& images, const std::vector<int64_t>& size,
                       const std::vector<int64_t>& strides, const std::vector<int64_t>& dilation,
                       Padding padding, DataFormat format) {
  return extract(images, size, strides, dilation, padding, format, size.size() == 3 ? 3 : 2);
}
Tensor extract_patches_3d(const Tensor& volumes, const std::vector<int64_t>& size,
                          const std::vector<int64_t>& strides, const std::vector<int64_t>& dilation,
                          Padding padding, DataFormat format) {
  return extract(volumes, size, strides, dilation, padding, format, 3);
}

Tensor unfold(const Tensor& x, const std::vector<int64_t>& size,
              const std::vector<int64_t>& dilation, const std::vector<int64_t>& padding,
              const std::vector<int64_t>& stride) {
  if (x.rank() != 4)
    fail("unfold: expected (batch, channels, height, width), got shape ", x.shape());
  const std::vector<int64_t> window = for_each_axis("kernel_size", size, 2),
                             border = for_each_axis("padding", padding, 2);
  const bool is_padded = border != std::vector<int64_t>{0, 0};
  const std::vector<int64_t> frame{0, 0, border[0], border[1]};
  return columns_of(
      is_padded ? ops::pad(x, frame, frame) : x,
      {window, for_each_axis("stride", stride, 2), for_each_axis("dilation", dilation, 2)});
}

Tensor fold(const Tensor& x, const std::vector<int64_t>& output, const std::vector<int64_t>& size,
            const std::vector<int64_t>& dilation, const std::vector<int64_t>& padding,
            const std::vector<int64_t>& stride) {
  if (x.rank() != 3 || output.size() != 2)
    fail("fold: expected (batch, channels * size, places) and two output sizes, got shape ",
         x.shape());
  const std::vector<int64_t> window = for_each_axis("kernel_size", size, 2),
                             border = for_each_axis("padding", padding, 2),
                             step = for_each_axis("stride", stride, 2),
                             dilations = for_each_axis("dilation", dilation, 2);
  for (const std::vector<int64_t>* numbers : {&window, &step, &dilations})
    if (*std::min_element(numbers->begin(), numbers->end()) < 1)
      fail("fold: expected a kernel, strides and a dilation of at least 1, got ", Value(*numbers));
  const int64_t area = window[0] * window[1], channels = x.dim(1) / area;
  std::vector<int64_t> window_counts, padded_size;
  for (size_t i = 0; i < 2; ++i) {
    padded_size.push_back(output[i] + 2 * border[i]);
    window_counts.push_back((padded_size[i] - dilations[i] * (window[i] - 1) - 1) / step[i] + 1);
  }
  if (channels * area != x.dim(1) || window_counts[0] * window_counts[1] != x.dim(2))
    fail("fold: shape ", x.shape(), " does not give ", Value(output), " with a kernel of ",
         Value(window));
  return ops::slice(sum_of_columns(x, {window, step, dilations}, padded_size),
                    {0, 0, border[0], border[1]}, {-1, channels, output[0], output[1]});
}

Tensor depth_to_space(const Tensor& x, int64_t n, DataFormat format) {
  check_block("depth_to_space", x, n);
  return in_format(x, format, [&](const Tensor& images) {
    const int64_t h = images.dim(1), w = images.dim(2), c = images.dim(3) / (n * n);
    if (c * n * n != images.dim(3))
      fail("depth_to_space: ", images.dim(3), " channels are not divisible by ", n * n);
    // The channel axis is (channels, block) if channels are first and (block, channels) if they are
    // last, as in Keras.
    const bool channels_first = format == DataFormat::channels_first;
    const Tensor blocks =
        channels_first
            ? ops::transpose(ops::reshape(images, {-1, h, w, c, n, n}), {0, 1, 4, 2, 5, 3})
            : ops::transpose(ops::reshape(images, {-1, h, w, n, n, c}), {0, 1, 3, 2, 4, 5});
    return ops::reshape(blocks, {-1, h * n, w * n, c});
  });
}

Tensor space_to_depth(const Tensor& x, int64_t n, DataFormat format) {
  check_block("space_to_depth", x, n);
  return in_format(x, format, [&](const Tensor& images) {
    const int64_t h = images.dim(1), w = images.dim(2), c = images.dim(3);
    if (h % n != 0 || w % n != 0) fail("space_to_depth: ", h, " x ", w, " is not divisible by ", n);
    const Tensor blocks = ops::reshape(images, {-1, h / n, n, w / n, n, c});
    const bool channels_first = format == DataFormat::channels_first;
    const Tensor rearranged = channels_first ? ops::transpose(blocks, {0, 1, 3, 5, 2, 4})
                                             : ops::transpose(blocks, {0, 1, 3, 2, 4, 5});
    return ops::reshape(rearranged, {-1, h / n, w / n, n * n * c});
  });
}

Tensor extract_sequences(const Tensor& x, int64_t length, int64_t stride) {
  const int64_t n = x.dim(-1);
  if (n < length || length < 1 || stride < 1)
    fail("extract_sequences: length ", length, " and stride ", stride, " do not fit shape ",
         x.shape());
  const int64_t count = (n - length) / stride + 1;
  const Tensor window_counts = positions(count, 0, 2) * stride + positions(length, 1, 2);
  return ops::gather(x, window_counts, -1);
}

}  // namespace crescent::ops
