// Images: sizes, colours, filters. They are (batch, height, width, channels), or one without the
// batch, or with the channels first where data_format says so.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "../shared/shared.h"
#include "crescent/program/program.h"
#include "crescent/registry/registration.h"
#include "kernels/bands.h"

namespace crescent::operations {
namespace {

using Sizes = std::vector<int64_t>;

/// f on (batch, height, width, channels), whatever the format.
template <class F>
Tensor on_images(const char* name, const Tensor& x, const Format& format, F f) {
  if (x.rank() != 3 && x.rank() != 4)
    fail(name, ": expected (batch, height, width, channels) or (height, width, channels), got ",
         x.shape());
  const bool first = channels_first(format);
  Tensor images = x.rank() == 3 ? ops::expand_dims(x, 0) : x;
  if (first) images = ops::transpose(images, {0, 2, 3, 1});
  Tensor result = f(images);
  if (first) result = ops::transpose(result, {0, 3, 1, 2});
  return x.rank() == 3 ? ops::squeeze(result, 0) : result;
}

/// Whole numbers are rounded and cut off.
Tensor as_pixels(const Tensor& x, DType dtype) {
  if (is_floating(dtype)) return ops::cast(x, dtype);
  const Tensor rounded = ops::round(x);
  return ops::cast(dtype == DType::uint8 ? ops::clip(rounded, 0, 255) : rounded, dtype);
}

// ---- sizes: each axis is multiplied by a matrix of weights

struct Kernel {
  Tensor (*weight)(const Tensor& distance);
  double radius;  ///< what is farther away has no weight
};

/// max(1 - x, 0), with half of the slope at the corner.
Tensor linear(const Tensor& x) { return (1.0 - x + ops::abs(1.0 - x)) * 0.5; }
Tensor cubic(const Tensor& x) {
  const Tensor near = ((x * 1.5 - 2.5) * x) * x + 1, far = ((x * -0.5 + 2.5) * x - 4) * x + 2;
  return ops::where(ops::less(x, 1), near, ops::where(ops::less(x, 2), far, 0));
}
template <int Radius>
Tensor lanczos(const Tensor& x) {
  const Tensor far_from_zero = ops::greater(x, 1e-3);
  const Tensor turn = x * std::numbers::pi;
  const Tensor wave = ops::sin(turn) * ops::sin(turn / static_cast<double>(Radius)) *
                      static_cast<double>(Radius) /
                      ops::where(far_from_zero, ops::square(turn), 1.0);
  return ops::where(ops::greater(x, Radius), 0, ops::where(far_from_zero, wave, 1.0));
}

Kernel kernel_named(const std::string& name) {
  if (name == "bilinear" || name == "linear" || name == "trilinear") return {linear, 1};
  if (name == "bicubic" || name == "cubic" || name == "tricubic") return {cubic, 2};
  if (name == "lanczos3") return {lanczos<3>, 3};
  if (name == "lanczos5") return {lanczos<5>, 5};
  const std::vector<std::string> known{"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"};
  fail("unknown interpolation '", name, "'", did_you_mean(name, known));
}

/// (count, to): what the elements at these places count for each result, which is `at` a place
/// between them. inverse: of the factor by which there are more results than elements.
Tensor weights(const Tensor& places, const Tensor& at, int64_t from, const Tensor& inverse,
               const Kernel& kernel, bool antialias) {
  const Tensor width = antialias ? ops::maximum(inverse, 1) : ops::ones_like(inverse);
  const Tensor each = kernel.weight(ops::abs(at - places) / width);
  const Tensor total = ops::sum(each, {0}, true);
  const Tensor some = ops::greater(ops::abs(total), 1e-4);
  const Tensor inside = ops::logical_and(ops::greater_equal(at, -0.5),
                                         ops::less_equal(at, static_cast<double>(from) - 0.5));
  return ops::where(ops::logical_and(some, inside), each / ops::where(some, total, 1.0), 0);
}

Tensor times_along(const Tensor& x, const Tensor& matrix, int axis) {
  const int last = x.rank() - 1;
  const Tensor moved = ops::swap_axes(x, axis, last);
  return ops::swap_axes(ops::matmul(moved, ops::cast(matrix, x.dtype())), axis, last);
}

constexpr const char* kFromBeginnings = "bilinear_keras2";

/// The weights of the few elements around each result. The middles of their cells lie upon each
/// other, or of kFromBeginnings the beginnings.
Band weights_around(int64_t from, int64_t to, const std::string& interpolation, bool antialias) {
  const NoTrace values_are_wanted;
  checked_count("resize", to);
  const bool beginnings = interpolation == kFromBeginnings;
  const Kernel kernel = kernel_named(beginnings ? "bilinear" : interpolation);
  const double scale = static_cast<double>(to) / static_cast<double>(from);
  const double reach = kernel.radius * (antialias ? std::max(1 / scale, 1.0) : 1.0) + 1;
  const int64_t taps = std::min(from, static_cast<int64_t>(std::ceil(2 * reach)));
  Band band{from, {}, {}};
  std::vector<double> places, results;
  for (int64_t j = 0; j < to; ++j) {
    const auto number = static_cast<double>(j);
    const double at = beginnings ? std::min(number / scale, static_cast<double>(from - 1))
                                 : (number + 0.5) / scale - 0.5;
    const auto first =
        std::clamp<int64_t>(static_cast<int64_t>(std::ceil(at - reach)), 0, from - taps);
    band.first.push_back(static_cast<int32_t>(first));
    results.push_back(at);
    for (int64_t t = 0; t < taps; ++t) places.push_back(static_cast<double>(first + t));
  }
  const Tensor inverse = Tensor::scalar(1 / scale, DType::float64);
  const Tensor each = ops::transpose(Tensor::from(places, {to, taps}));
  band.weights = ops::transpose(weights(each, Tensor::from(results, {1, to}), from, inverse, kernel,
                                        antialias))
                     .to_vector();
  return band.trimmed();
}

Tensor nearest(const Tensor& x, int axis, int64_t to) {
  const int64_t from = x.dim(axis);
  checked_count("resize", to);
  std::vector<int32_t> places;
  for (int64_t j = 0; j < to; ++j)
    places.push_back(static_cast<int32_t>(std::min<int64_t>(
        from - 1, static_cast<int64_t>((static_cast<double>(j) + 0.5) * static_cast<double>(from) /
                                       static_cast<double>(to)))));
  return ops::gather(x, Tensor::from(places, {to}), axis);
}

/// The middle of the image with the aspect ratio of the target.
Tensor cropped_to_ratio(const Tensor& x, int64_t height, int64_t width) {
  const int64_t h = x.dim(1), w = x.dim(2);
  const int64_t high = std::clamp<int64_t>(w * height / width, 1, h),
                wide = std::clamp<int64_t>(h * width / height, 1, w);
  return ops::slice(x, {0, (h - high) / 2, (w - wide) / 2, 0}, {-1, high, wide, -1});
}

/// As many rows or columns before as after: what is odd is left out, as Keras has it.
Tensor padded_to_ratio(const Tensor& x, int64_t height, int64_t width, double value) {
  const int64_t h = x.dim(1), w = x.dim(2);
  const int64_t high = (std::max(h, w * height / width) - h) / 2,
                wide = (std::max(w, h * width / height) - w) / 2;
  return ops::pad(x, {0, high, wide, 0}, {0, high, wide, 0}, value);
}

Tensor resize(const Tensor& x, const Sizes& size, const std::string& interpolation, bool antialias,
              bool crop, bool pad, const std::string& fill_mode, double fill_value,
              const Format& format) {
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    fail("image.resize: expected a height and a width, got ", Value(size));
  if (crop && pad)
    fail("image.resize: only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be true");
  if (fill_mode != "constant")
    fail("image.resize: fill_mode must be 'constant', got '", fill_mode, "'");
  return on_images("image.resize", x, format, [&](const Tensor& given) {
    Tensor images = given;
    if (images.dim(1) < 1 || images.dim(2) < 1)
      fail("image.resize: height and width must be known, got shape ", x.shape());
    if (crop) images = cropped_to_ratio(images, size[0], size[1]);
    if (pad) images = padded_to_ratio(images, size[0], size[1], fill_value);
    if (interpolation == "nearest") return nearest(nearest(images, 1, size[0]), 2, size[1]);
    Tensor result = floating(images);
    for (int axis : {1, 2}) {
      const int64_t from = images.dim(axis), to = size[axis - 1];
      result = times_band(result, weights_around(from, to, interpolation, antialias), axis);
    }
    return as_pixels(result, x.dtype());
  });
}

/// Each element comes to scale * x + translation of its axis.
Tensor scale_and_translate(const Tensor& images, const Sizes& shape, const Tensor& scale,
                           const Tensor& translation, const std::vector<int>& axes,
                           const std::string& method, bool antialias) {
  if (static_cast<int>(shape.size()) != images.rank())
    fail("image.scale_and_translate: expected a size for each axis of shape ", images.shape());
  const Kernel kernel = kernel_named(method);
  Tensor result = floating(images);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = axis_of(images, axes[i]);
    const auto number = [&](const Tensor& x) {
      const auto at = static_cast<int64_t>(i);
      return ops::cast(ops::slice_axis(x, 0, at, at + 1), result.dtype());
    };
    const Tensor inverse = ops::reciprocal(number(scale));
    const Tensor to = positions(shape[axis], 1, 2, result.dtype());
    const Tensor at = (to + 0.5 - number(translation)) * inverse - 0.5;
    const Tensor from = positions(images.dim(axis), 0, 2, result.dtype());
    result =
        times_along(result, weights(from, at, images.dim(axis), inverse, kernel, antialias), axis);
  }
  return result;
}

/// Two of: what is before, what is after, the size.
std::pair<int64_t, int64_t> borders(const char* name, int64_t n, std::optional<int64_t> before,
                                    std::optional<int64_t> after, std::optional<int64_t> target,
                                    int sign) {
  const int given = before.has_value() + after.has_value() + target.has_value();
  if (given != 2)
    fail(name, ": expected two of what is before, what is after and the target size, got ", given);
  const int64_t total = target ? sign * (*target - n) : 0;
  const std::pair<int64_t, int64_t> both{before ? *before : total - *after,
                                         after ? *after : total - *before};
  if (both.first < 0 || both.second < 0)
    fail(name, ": the target size ", target.value_or(0), " does not fit a size of ", n);
  return both;
}

using Maybe = std::optional<int64_t>;

Tensor pad_images(const Tensor& x, Maybe top, Maybe left, Maybe bottom, Maybe right, Maybe height,
                  Maybe width, const Format& format) {
  return on_images("image.pad_images", x, format, [&](const Tensor& images) {
    const auto [above, below] = borders("image.pad_images", images.dim(1), top, bottom, height, 1);
    const auto [before, after] = borders("image.pad_images", images.dim(2), left, right, width, 1);
    return ops::pad(images, {0, above, before, 0}, {0, below, after, 0});
  });
}

Tensor crop_images(const Tensor& x, Maybe top, Maybe left, Maybe bottom, Maybe right, Maybe height,
                   Maybe width, const Format& format) {
  return on_images("image.crop_images", x, format, [&](const Tensor& images) {
    const int64_t h = images.dim(1), w = images.dim(2);
    const auto [above, below] = borders("image.crop_images", h, top, bottom, height, -1);
    const auto [before, after] = borders("image.crop_images", w, left, right, width, -1);
    if (above + below >= h || before + after >= w)
      fail("image.crop_images: nothing is left of shape ", x.shape());
    return ops::slice(images, {0, above, before, 0},
                      {-1, h - above - below, w - before - after, -1});
  });
}

// ---- colours

Tensors channels_of(const char* name, const Tensor& images) {
  if (images.dim(-1) != 3) fail(name, ": expected three channels, got shape ", images.shape());
  return ops::split(floating(images), {1, 1, 1}, -1);
}

/// Of whole numbers the whole part, as Keras has it.
Tensor rgb_to_grayscale(const Tensor& x, const Format& format) {
  return on_images("image.rgb_to_grayscale", x, format, [&](const Tensor& images) {
    const Tensors c = channels_of("image.rgb_to_grayscale", images);
    return ops::cast(c[0] * 0.2989 + c[1] * 0.5870 + c[2] * 0.1140, x.dtype());
  });
}

Tensor rgb_to_hsv(const Tensor& x, const Format& format) {
  return on_images("image.rgb_to_hsv", x, format, [&](const Tensor& images) {
    const Tensors c = channels_of("image.rgb_to_hsv", images);
    const Tensor value = ops::maximum(ops::maximum(c[0], c[1]), c[2]);
    const Tensor range = value - ops::minimum(ops::minimum(c[0], c[1]), c[2]);
    const Tensor coloured = ops::greater(range, 0), lit = ops::greater(value, 0);
    const Tensor saturation = ops::where(lit, range / ops::where(lit, value, 1.0), 0.0);
    const Tensor unit = ops::reciprocal(ops::where(coloured, range, 1.0)) / 6.0;
    const Tensor hue =
        ops::where(ops::equal(c[0], value), unit * (c[1] - c[2]),
                   ops::where(ops::equal(c[1], value), unit * (c[2] - c[0]) + 2.0 / 6,
                              unit * (c[0] - c[1]) + 4.0 / 6));
    const Tensor known = ops::where(coloured, hue, 0.0);
    return ops::concatenate(
        Tensors{ops::where(ops::less(known, 0), known + 1, known), saturation, value}, -1);
  });
}

Tensor hsv_to_rgb(const Tensor& x, const Format& format) {
  return on_images("image.hsv_to_rgb", x, format, [&](const Tensor& images) {
    const Tensors c = channels_of("image.hsv_to_rgb", images);
    const Tensor turn = c[0] * 6.0;
    const auto channel = [&](const Tensor& share) {
      return (1.0 - c[1] + c[1] * ops::clip(share, 0, 1)) * c[2];
    };
    return ops::concatenate(
        Tensors{channel(ops::abs(turn - 3.0) - 1.0), channel(2.0 - ops::abs(turn - 2.0)),
                channel(2.0 - ops::abs(turn - 4.0))},
        -1);
  });
}

// ---- filters: the same for each channel

Tensor filtered(const Tensor& images, const Tensor& kernel, ops::Padding padding) {
  const int64_t channels = images.dim(-1);
  const Tensor each = ops::repeat(
      ops::reshape(ops::cast(kernel, images.dtype()), {kernel.dim(0), kernel.dim(1), 1, 1}),
      channels, 3);
  return ops::conv(images, each, {1, 1}, padding, {1, 1}, channels);
}

std::vector<double> bell(int64_t size, double sigma) {
  checked_count("gaussian_blur", size);
  std::vector<double> values;
  double total = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double x = (static_cast<double>(i) - static_cast<double>(size - 1) / 2) / sigma;
    values.push_back(std::exp(-0.5 * x * x));
    total += values.back();
  }
  for (double& value : values) value /= total;
  return values;
}

/// The first size is that of a row, as Keras has it.
Tensor bell_kernel(const Sizes& size, const std::vector<double>& sigma) {
  const Tensor rows = Tensor::from(bell(size[1], sigma[1]), {size[1], 1}),
               columns = Tensor::from(bell(size[0], sigma[0]), {1, size[0]});
  return ops::multiply(rows, columns);
}

Tensor gaussian_blur(const Tensor& x, const Sizes& size, const std::vector<double>& sigma,
                     const Format& format) {
  const Sizes window = for_each_axis("kernel_size", size.empty() ? Sizes{3} : size, 2);
  const std::vector<double> widths = sigma.size() == 2   ? sigma
                                     : sigma.size() == 1 ? std::vector<double>(2, sigma[0])
                                                         : std::vector<double>(2, 1.0);
  return on_images("image.gaussian_blur", x, format, [&](const Tensor& images) {
    return as_pixels(filtered(floating(images), bell_kernel(window, widths), ops::Padding::same),
                     x.dtype());
  });
}

/// Differences down and across: (..., channels, 2).
Tensor sobel_edges(const Tensor& x, const Format& format) {
  if (x.rank() != 4) fail("image.sobel_edges: expected four axes, got shape ", x.shape());
  const bool first = channels_first(format);
  const Tensor images = floating(first ? ops::transpose(x, {0, 2, 3, 1}) : x);
  const Tensor down = Tensor::from(std::vector<float>{-1, -2, -1, 0, 0, 0, 1, 2, 1}, {3, 3});
  const Tensor both =
      ops::stack(Tensors{filtered(images, down, ops::Padding::same),
                         filtered(images, ops::transpose(down), ops::Padding::same)},
                 -1);
  return ops::cast(first ? ops::transpose(both, {0, 3, 1, 2, 4}) : both, x.dtype());
}

/// Structural similarity (Wang et al., 2004) of two batches of images, a number each.
Tensor ssim(const Tensor& a, const Tensor& b, double max_val, int64_t filter_size,
            double filter_sigma, double k1, double k2, const Format& format) {
  const auto [first, second] = promoted(a, b);
  if (first.rank() < 3) fail("image.ssim: expected images, got shape ", first.shape());
  const bool swapped = channels_first(format);
  const auto with_channels_last = [&](const Tensor& t) {
    return floating(swapped ? ops::swap_axes(ops::swap_axes(t, -3, -2), -2, -1) : t);
  };
  const Tensor x = with_channels_last(first), y = with_channels_last(second);
  const Shape batch = x.shape().slice(0, x.rank() - 3);
  const auto images = [&](const Tensor& t) {
    return ops::reshape(t, Shape{-1}.concat(t.shape().slice(-3, t.rank())));
  };
  const Tensor kernel = bell_kernel({filter_size, filter_size}, {filter_sigma, filter_sigma});
  const auto mean = [&](const Tensor& t) {
    return filtered(images(t), kernel, ops::Padding::valid);
  };
  const double c1 = std::pow(k1 * max_val, 2), c2 = std::pow(k2 * max_val, 2);
  const Tensor mx = mean(x), my = mean(y);
  const Tensor product = mx * my * 2.0, squares = ops::square(mx) + ops::square(my);
  const Tensor luminance = (product + c1) / (squares + c1);
  const Tensor structure =
      (mean(x * y) * 2.0 - product + c2) / (mean(ops::square(x) + ops::square(y)) - squares + c2);
  return ops::cast(ops::reshape(ops::mean(luminance * structure, {1, 2, 3}), batch), a.dtype());
}

}  // namespace

CRESCENT_REGISTER(images) {
  Operations(registry, "keras.src.ops.image")
      .add("Resize",
           "image.resize(images, size, interpolation='bilinear', antialias=False, "
           "crop_to_aspect_ratio=False, pad_to_aspect_ratio=False, fill_mode='constant', "
           "fill_value=0.0, data_format=None)",
           &resize, "Images of another size.")
      .add("ScaleAndTranslate",
           "image.scale_and_translate(images, output_shape, scale, translation, spatial_dims, "
           "method, antialias=True)",
           &scale_and_translate, "Images scaled and moved along axes, in an output shape.")
      .add("PadImages",
           "image.pad_images(images, top_padding=None, left_padding=None, bottom_padding=None, "
           "right_padding=None, target_height=None, target_width=None, data_format=None)",
           &pad_images, "Images with zeros around them.")
      .add("CropImages",
           "image.crop_images(images, top_cropping=None, left_cropping=None, "
           "bottom_cropping=None, right_cropping=None, target_height=None, target_width=None, "
           "data_format=None)",
           &crop_images, "Images without parts of their edges.")
      .add("RGBToGrayscale", "image.rgb_to_grayscale(images, data_format=None)", &rgb_to_grayscale,
           "One channel of brightness.")
      .add("RGBToHSV", "image.rgb_to_hsv(images, data_format=None)", &rgb_to_hsv,
           "Hue, saturation and value of red, green and blue.")
      .add("HSVToRGB", "image.hsv_to_rgb(images, data_format=None)", &hsv_to_rgb,
           "Red, green and blue of hue, saturation and value.")
      .add("GaussianBlur",
           "image.gaussian_blur(images, kernel_size=(3, 3), sigma=(1.0, 1.0), data_format=None)",
           &gaussian_blur, "Images convolved with a normal distribution.")
      .add("SobelEdges", "image.sobel_edges(images, data_format=None)", &sobel_edges,
           "The differences of brightness along both axes.")
      .add("SSIM",
           "image.ssim(image1, image2, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, "
           "k2=0.03, data_format=None)",
           &ssim, "Structural similarity.");
}

}  // namespace crescent::operations
