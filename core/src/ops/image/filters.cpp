// Image filters that are applied to each channel.
#include <cmath>

#include "crescent/ops/arguments.h"
#include "crescent/ops/image.h"
#include "ops/image/on_images.h"

namespace crescent::ops::image {
namespace {

Tensor filtered_channels(const Tensor& images, const Tensor& kernel, Padding padding) {
  const int64_t channels = images.dim(-1);
  const Tensor repeated_kernel = repeat(
      reshape(cast(kernel, images.dtype()), {kernel.dim(0), kernel.dim(1), 1, 1}), channels, 3);
  return conv(images, repeated_kernel, {1, 1}, padding, {1, 1}, channels);
}

std::vector<double> gaussian_weights(int64_t size, double sigma) {
  checked_count("gaussian_blur", size);
  std::vector<double> values;
  double value_sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double x = (static_cast<double>(i) - static_cast<double>(size - 1) / 2) / sigma;
    values.push_back(std::exp(-0.5 * x * x));
    value_sum += values.back();
  }
  for (double& value : values) value /= value_sum;
  return values;
}

/// A Gaussian kernel. As in Keras, size[0] is the length of its rows and size[1] that of its
/// columns.
Tensor gaussian_kernel(const std::vector<int64_t>& size, const std::vector<double>& sigma) {
  const Tensor rows = Tensor::from(gaussian_weights(size[1], sigma[1]), {size[1], 1}),
               columns = Tensor::from(gaussian_weights(size[0], sigma[0]), {1, size[0]});
  return multiply(rows, columns);
}

}  // namespace

Tensor gaussian_blur(const Tensor& x, const std::vector<int64_t>& size,
                     const std::vector<double>& sigma, DataFormat format) {
  const std::vector<int64_t> window =
      for_each_axis("kernel_size", size.empty() ? std::vector<int64_t>{3} : size, 2);
  const std::vector<double> sigmas = sigma.size() == 2   ? sigma
                                     : sigma.size() == 1 ? std::vector<double>(2, sigma[0])
                                                         : std::vector<double>(2, 1.0);
  return on_images("image.gaussian_blur", x, format, [&](const Tensor& images) {
    return as_pixels(
        filtered_channels(floating(images), gaussian_kernel(window, sigmas), Padding::same),
        x.dtype());
  });
}

Tensor sobel_edges(const Tensor& x, DataFormat format) {
  if (x.rank() != 4) fail("image.sobel_edges: expected four axes, got shape ", x.shape());
  const bool channels_first = format == DataFormat::channels_first;
  const Tensor images = floating(channels_first ? transpose(x, {0, 2, 3, 1}) : x);
  const Tensor vertical_kernel =
      Tensor::from(std::vector<float>{-1, -2, -1, 0, 0, 0, 1, 2, 1}, {3, 3});
  const Tensor edge_pair =
      stack(Tensors{filtered_channels(images, vertical_kernel, Padding::same),
                    filtered_channels(images, transpose(vertical_kernel), Padding::same)},
            -1);
  return cast(channels_first ? transpose(edge_pair, {0, 3, 1, 2, 4}) : edge_pair, x.dtype());
}

Tensor ssim(const Tensor& a, const Tensor& b, double max_val, int64_t filter_size,
            double filter_sigma, double k1, double k2, DataFormat format) {
  const auto [first, second] = promoted(a, b);
  if (first.rank() < 3) fail("image.ssim: expected images, got shape ", first.shape());
  const bool channels_first = format == DataFormat::channels_first;
  const auto with_channels_last = [&](const Tensor& t) {
    return floating(channels_first ? swap_axes(swap_axes(t, -3, -2), -2, -1) : t);
  };
  const Tensor x = with_channels_last(first), y = with_channels_last(second);
  const Shape batch_shape = x.shape().slice(0, x.rank() - 3);
  const auto as_batch = [&](const Tensor& t) {
    return reshape(t, Shape{-1}.concat(t.shape().slice(-3, t.rank())));
  };
  const Tensor kernel = gaussian_kernel({filter_size, filter_size}, {filter_sigma, filter_sigma});
  const auto local_mean = [&](const Tensor& t) {
    return filtered_channels(as_batch(t), kernel, Padding::valid);
  };
  const double c1 = std::pow(k1 * max_val, 2), c2 = std::pow(k2 * max_val, 2);
  const Tensor mx = local_mean(x), my = local_mean(y);
  const Tensor mean_product = mx * my * 2.0, mean_squares = square(mx) + square(my);
  const Tensor luminance_term = (mean_product + c1) / (mean_squares + c1);
  const Tensor structure_term = (local_mean(x * y) * 2.0 - mean_product + c2) /
                                (local_mean(square(x) + square(y)) - mean_squares + c2);
  return cast(reshape(ops::mean(luminance_term * structure_term, {1, 2, 3}), batch_shape),
              a.dtype());
}

}  // namespace crescent::ops::image
