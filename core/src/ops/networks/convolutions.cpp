// Convolutions and pooling of images in either data format.
#include "crescent/ops/convolutions.h"

#include "ops/formats.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

/// Adaptive pooling: divides each axis into the requested number of windows, which may overlap.
template <Tensor (*Reduce)(const Tensor&, const Axes&, bool)>
Tensor adaptive_pool(const Tensor& x, const std::vector<int64_t>& output_size, DataFormat format) {
  return in_format(x, format, [&](const Tensor& images) {
    const std::vector<int64_t> sizes =
        for_each_axis("output_size", output_size, spatial_axis_count(x));
    Tensor result = images;
    for (int axis = 1; axis + 1 < images.rank(); ++axis) {
      const int64_t n = images.dim(axis), window_count = sizes[axis - 1];
      if (n < 0 || window_count < 1)
        fail("adaptive pooling: cannot divide axis ", axis, " of shape ", images.shape(), " by ",
             window_count);
      Tensors pooled_windows;
      for (int64_t i = 0; i < window_count; ++i)
        pooled_windows.push_back(
            Reduce(ops::slice_axis(result, axis, i * n / window_count,
                                   ((i + 1) * n + window_count - 1) / window_count),
                   {axis}, true));
      result = ops::concatenate(pooled_windows, axis);
    }
    return result;
  });
}

}  // namespace

Tensor depthwise_conv(const Tensor& x, const Tensor& kernel, const std::vector<int64_t>& strides,
                      Padding padding, const std::vector<int64_t>& dilation, DataFormat format) {
  const int axis = format == DataFormat::channels_first ? 1 : -1;
  if (x.rank() < 3 || kernel.rank() != x.rank() ||
      (x.dim(axis) >= 0 && x.dim(axis) != kernel.dim(-2)))
    fail("depthwise_conv: shapes ", x.shape(), " and ", kernel.shape(), " do not fit: expected ",
         axis == 1 ? "(batch, channels, spatial...)" : "(batch, spatial..., channels)",
         " and (spatial..., channels, multiplier)");
  const int64_t channels = kernel.dim(-2), multiplier = kernel.dim(-1);
  Shape shape = kernel.shape();
  shape.set(-2, 1), shape.set(-1, channels * multiplier);
  return ops::conv(x, ops::reshape(kernel, shape), strides, padding, dilation, std::nullopt,
                   format);
}

Tensor separable_conv(const Tensor& x, const Tensor& depthwise_kernel,
                      const Tensor& pointwise_kernel, const std::vector<int64_t>& strides,
                      Padding padding, const std::vector<int64_t>& dilation, DataFormat format) {
  const Tensor depthwise_result =
      depthwise_conv(x, depthwise_kernel, strides, padding, dilation, format);
  return ops::conv(depthwise_result, pointwise_kernel, {1}, Padding::valid, {1}, std::nullopt,
                   format);
}

Tensor adaptive_max_pool(const Tensor& x, const std::vector<int64_t>& output_size,
                         DataFormat format) {
  return adaptive_pool<ops::max>(x, output_size, format);
}
Tensor adaptive_average_pool(const Tensor& x, const std::vector<int64_t>& output_size,
                             DataFormat format) {
  return adaptive_pool<ops::mean>(x, output_size, format);
}

}  // namespace crescent::ops
