// Resizing of images: each axis is multiplied by a matrix of weights.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "crescent/ops/arguments.h"
#include "crescent/ops/image.h"
#include "crescent/program/program.h"
#include "ops/image/bands.h"
#include "ops/image/on_images.h"

namespace crescent::ops {

Tensor as_pixels(const Tensor& x, DType dtype) {
  if (is_floating(dtype)) return cast(x, dtype);
  const Tensor rounded_pixels = round(x);
  return cast(dtype == DType::uint8 ? clip(rounded_pixels, 0, 255) : rounded_pixels, dtype);
}

namespace image {
namespace {

struct InterpolationKernel {
  Tensor (*weight)(const Tensor& distance);
  double radius;  ///< distance beyond which weights are zero
};

/// Returns max(1 - x, 0) for x >= 0. It is written with abs, so that the gradient at x = 1 is -0.5,
/// the mean of the gradients on both sides.
Tensor linear(const Tensor& x) { return (1.0 - x + abs(1.0 - x)) * 0.5; }
Tensor cubic(const Tensor& x) {
  const Tensor near_weight = ((x * 1.5 - 2.5) * x) * x + 1,
               far_weight = ((x * -0.5 + 2.5) * x - 4) * x + 2;
  return where(less(x, 1), near_weight, where(less(x, 2), far_weight, 0));
}
template <int Radius>
Tensor lanczos(const Tensor& x) {
  const Tensor far_from_zero = greater(x, 1e-3);
  const Tensor pi_x = x * std::numbers::pi;
  const Tensor sinc_window = sin(pi_x) * sin(pi_x / static_cast<double>(Radius)) *
                             static_cast<double>(Radius) / where(far_from_zero, square(pi_x), 1.0);
  return where(greater(x, Radius), 0, where(far_from_zero, sinc_window, 1.0));
}

InterpolationKernel kernel_named(const std::string& name) {
  if (name == "bilinear" || name == "linear" || name == "trilinear") return {linear, 1};
  if (name == "bicubic" || name == "cubic" || name == "tricubic") return {cubic, 2};
  if (name == "lanczos3") return {lanczos<3>, 3};
  if (name == "lanczos5") return {lanczos<5>, 5};
  const std::vector<std::string> kernel_names{"nearest", "bilinear", "bicubic", "lanczos3",
                                              "lanczos5"};
  fail("unknown interpolation '", name, "'", did_you_mean(name, kernel_names));
}

/// The weights (count, result_size) that the elements at the coordinates `element_positions` have
/// in the results at the coordinates `result_positions`; the weights of each result have the sum 1.
/// `inverse_scale` is the reciprocal of the scale factor.
Tensor normalized_weights(const Tensor& element_positions, const Tensor& result_positions,
                          int64_t source_size, const Tensor& inverse_scale,
                          const InterpolationKernel& kernel, bool antialias) {
  const Tensor width = antialias ? maximum(inverse_scale, 1) : ones_like(inverse_scale);
  const Tensor element_weights = kernel.weight(abs(result_positions - element_positions) / width);
  const Tensor weight_sum = sum(element_weights, {0}, true);
  const Tensor has_weights = greater(abs(weight_sum), 1e-4);
  const Tensor is_inside =
      logical_and(greater_equal(result_positions, -0.5),
                  less_equal(result_positions, static_cast<double>(source_size) - 0.5));
  return where(logical_and(has_weights, is_inside),
               element_weights / where(has_weights, weight_sum, 1.0), 0);
}

Tensor multiplied_along(const Tensor& x, const Tensor& matrix, int axis) {
  const int last_axis = x.rank() - 1;
  const Tensor transposed_x = swap_axes(x, axis, last_axis);
  return swap_axes(matmul(transposed_x, cast(matrix, x.dtype())), axis, last_axis);
}

constexpr const char* kKeras2Bilinear = "bilinear_keras2";

/// The weights of the few elements around each result. Result j lies at the coordinate (j + 0.5) /
/// scale - 0.5, since pixel centres correspond to each other, or for kKeras2Bilinear at j / scale.
Band weights_around(int64_t source_size, int64_t result_size, const std::string& interpolation,
                    bool antialias) {
  const NoTrace no_trace;
  checked_count("resize", result_size);
  const bool maps_beginnings = interpolation == kKeras2Bilinear;
  const InterpolationKernel kernel = kernel_named(maps_beginnings ? "bilinear" : interpolation);
  const double scale = static_cast<double>(result_size) / static_cast<double>(source_size);
  const double max_distance = kernel.radius * (antialias ? std::max(1 / scale, 1.0) : 1.0) + 1;
  const int64_t taps = std::min(source_size, static_cast<int64_t>(std::ceil(2 * max_distance)));
  Band band{source_size, {}, {}};
  std::vector<double> element_positions, result_positions;
  for (int64_t j = 0; j < result_size; ++j) {
    const auto result_index = static_cast<double>(j);
    const double source_position =
        maps_beginnings ? std::min(result_index / scale, static_cast<double>(source_size - 1))
                        : (result_index + 0.5) / scale - 0.5;
    const auto first = std::clamp<int64_t>(
        static_cast<int64_t>(std::ceil(source_position - max_distance)), 0, source_size - taps);
    band.first.push_back(static_cast<int32_t>(first));
    result_positions.push_back(source_position);
    for (int64_t t = 0; t < taps; ++t) element_positions.push_back(static_cast<double>(first + t));
  }
  const Tensor inverse_scale = Tensor::scalar(1 / scale, DType::float64);
  const Tensor position_tensor = transpose(Tensor::from(element_positions, {result_size, taps}));
  band.weights = transpose(normalized_weights(position_tensor,
                                              Tensor::from(result_positions, {1, result_size}),
                                              source_size, inverse_scale, kernel, antialias))
                     .to_vector();
  return band.trimmed();
}

Tensor resize_nearest(const Tensor& x, int axis, int64_t result_size) {
  const int64_t source_size = x.dim(axis);
  checked_count("resize", result_size);
  std::vector<int32_t> element_positions;
  for (int64_t j = 0; j < result_size; ++j)
    element_positions.push_back(static_cast<int32_t>(std::min<int64_t>(
        source_size - 1,
        static_cast<int64_t>((static_cast<double>(j) + 0.5) * static_cast<double>(source_size) /
                             static_cast<double>(result_size)))));
  return gather(x, Tensor::from(element_positions, {result_size}), axis);
}

/// The central region of the image with the aspect ratio of the target.
Tensor cropped_to_ratio(const Tensor& x, int64_t height, int64_t width) {
  const int64_t h = x.dim(1), w = x.dim(2);
  const int64_t crop_height = std::clamp<int64_t>(w * height / width, 1, h),
                crop_width = std::clamp<int64_t>(h * width / height, 1, w);
  return slice(x, {0, (h - crop_height) / 2, (w - crop_width) / 2, 0},
               {-1, crop_height, crop_width, -1});
}

/// Pads both sides by the same number of pixels towards the aspect ratio of the target. As in
/// Keras, the result is one pixel smaller if the total padding is odd.
Tensor padded_to_ratio(const Tensor& x, int64_t height, int64_t width, double value) {
  const int64_t h = x.dim(1), w = x.dim(2);
  const int64_t padded_rows = (std::max(h, w * height / width) - h) / 2,
                padded_columns = (std::max(w, h * width / height) - w) / 2;
  return pad(x, {0, padded_rows, padded_columns, 0}, {0, padded_rows, padded_columns, 0}, value);
}

}  // namespace

Tensor resize(const Tensor& x, const std::vector<int64_t>& size, const ResizeOptions& options) {
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    fail("image.resize: expected a height and a width, got ", Value(size));
  if (options.crop_to_aspect_ratio && options.pad_to_aspect_ratio)
    fail("image.resize: only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be true");
  if (options.fill_mode != "constant")
    fail("image.resize: fill_mode must be 'constant', got '", options.fill_mode, "'");
  return on_images("image.resize", x, options.format, [&](const Tensor& image) {
    Tensor images = image;
    if (images.dim(1) < 1 || images.dim(2) < 1)
      fail("image.resize: height and width must be known, got shape ", x.shape());
    if (options.crop_to_aspect_ratio) images = cropped_to_ratio(images, size[0], size[1]);
    if (options.pad_to_aspect_ratio)
      images = padded_to_ratio(images, size[0], size[1], options.fill_value);
    if (options.interpolation == "nearest")
      return resize_nearest(resize_nearest(images, 1, size[0]), 2, size[1]);
    Tensor result = floating(images);
    for (int axis : {1, 2}) {
      const int64_t source_size = images.dim(axis),
                    target_size = size[static_cast<size_t>(axis - 1)];
      result = multiplied_by_band(
          result,
          weights_around(source_size, target_size, options.interpolation, options.antialias), axis);
    }
    return as_pixels(result, x.dtype());
  });
}

/// Moves each element from the coordinate x to scale * x + translation along each axis.
Tensor scale_and_translate(const Tensor& images, const std::vector<int64_t>& shape,
                           const Tensor& scale, const Tensor& translation,
                           const std::vector<int>& axes, const std::string& method,
                           bool antialias) {
  if (static_cast<int>(shape.size()) != images.rank())
    fail("image.scale_and_translate: expected a size for each axis of shape ", images.shape());
  const InterpolationKernel kernel = kernel_named(method);
  Tensor result = floating(images);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = axis_of(images, axes[i]);
    const auto value_of_axis = [&](const Tensor& x) {
      const auto column = static_cast<int64_t>(i);
      return cast(slice_axis(x, 0, column, column + 1), result.dtype());
    };
    const Tensor inverse_scale = reciprocal(value_of_axis(scale));
    const Tensor result_positions =
        positions(shape[static_cast<size_t>(axis)], 1, 2, result.dtype());
    const Tensor source_positions =
        (result_positions + 0.5 - value_of_axis(translation)) * inverse_scale - 0.5;
    const Tensor element_positions = positions(images.dim(axis), 0, 2, result.dtype());
    result =
        multiplied_along(result,
                         normalized_weights(element_positions, source_positions, images.dim(axis),
                                            inverse_scale, kernel, antialias),
                         axis);
  }
  return result;
}

}  // namespace image
}  // namespace crescent::ops
