// Layers that resize images or crop their centre.
#include <cmath>

#include "../image_layer.h"
#include "../resampling.h"
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

/// The rectangle of the images that becomes the result. Where the rectangle extends beyond the
/// edges of the images, the result is padding.
struct CropWindow {
  int64_t top, left;
  Extent size;
};

CropWindow centered_window(Extent image_extent, Extent size) {
  return {(image_extent.height - size.height) / 2, (image_extent.width - size.width) / 2, size};
}

/// The largest extent that fits into the images and has the proportions of the target; with
/// `contains_images`, the smallest extent with these proportions that contains the images.
Extent with_target_proportions(Extent image_extent, Extent target, bool contains_images) {
  const auto scaled_length = [](int64_t length, int64_t numerator, int64_t denominator) {
    return int64_t(double(length) * double(numerator) / double(denominator));
  };
  const int64_t height = scaled_length(image_extent.width, target.height, target.width),
                width = scaled_length(image_extent.height, target.width, target.height);
  if (contains_images)
    return {std::max(image_extent.height, height), std::max(image_extent.width, width)};
  return {std::max<int64_t>(std::min(image_extent.height, height), 1),
          std::max<int64_t>(std::min(image_extent.width, width), 1)};
}

Tensor crop_images(const Tensor& images, const CropWindow& window) {
  const Tensor rows = ops::slice_axis(images, 1, window.top, window.top + window.size.height);
  return ops::slice_axis(rows, 2, window.left, window.left + window.size.width);
}

bool has_whole_numbers(const Tensor& x) {
  return !is_floating(x.dtype()) && x.dtype() != DType::boolean;
}

/// Rounds x to integers, limits these to the range of `dtype`, and casts.
Tensor as_whole_numbers(const Tensor& x, DType dtype) {
  const Tensor rounded_values = ops::round(x);
  switch (dtype) {
    case DType::uint8:
      return ops::cast(ops::clip(rounded_values, 0, 255), dtype);
    case DType::int8:
      return ops::cast(ops::clip(rounded_values, -128, 127), dtype);
    case DType::int16:
      return ops::cast(ops::clip(rounded_values, -32768, 32767), dtype);
    default:
      return ops::cast(rounded_values, dtype);
  }
}

/// The base of layers whose results have a given height and width.
class SizedLayer : public ImageLayer {
 protected:
  template <class T>
  static void describe_size(Schema<T>& s) {
    s.field("height", &SizedLayer::height_, "Height of the result.")
        .required()
        .min(1)
        .field("width", &SizedLayer::width_, "Width of the result.")
        .required()
        .min(1);
  }
  ImageParts change_parts(ImageParts parts, const Call&) final {
    const Extent old_extent = extent_of(parts.images);
    if (!has_whole_numbers(parts.images) || !keeps_whole_numbers())
      parts.images = ops::cast(parts.images, compute_dtype());
    parts.images = sized(parts.images, false);
    if (parts.masks)
      parts.masks = apply_as_floats(parts.masks, [&](const Tensor& m) { return sized(m, true); });
    if (!parts.boxes) return parts;
    const CropWindow window = window_of(old_extent);
    const auto move = [&](const Points& points) {
      return shifted_points(points, -double(window.left), -double(window.top),
                            double(width_) / double(window.size.width),
                            double(height_) / double(window.size.height));
    };
    parts.boxes =
        move_in_pixels(*parts.boxes, old_extent, size(), [&](const BoundingBoxes& original) {
          return BoundingBoxes{moved_boxes(original.boxes, move), original.labels};
        });
    return parts;
  }
  /// Whether integer images stay integers; otherwise they become floating point.
  virtual bool keeps_whole_numbers() const = 0;
  /// The rectangle of images with this extent that becomes the result.
  virtual CropWindow window_of(Extent image_extent) const = 0;
  /// Resizes a window of images.
  virtual Tensor resized_window(const Tensor& images, const CropWindow& window,
                                bool uses_nearest) const = 0;
  Extent size() const { return {height_, width_}; }

  int64_t height_ = 1, width_ = 1;

 private:
  Tensor sized(const Tensor& images, bool uses_nearest) const {
    const Extent extent = extent_of(images);
    if (extent.height >= 0 && extent.width >= 0)
      return resized_window(images, window_of(extent), uses_nearest);
    // while shapes are inferred only the shape of the result matters
    return ops::broadcast_to(ops::max(images, {1, 2}, true),
                             {images.dim(0), height_, width_, images.dim(3)});
  }
};

class Resizing final : public SizedLayer {
 public:
  static void describe(Schema<Resizing>& s) {
    s.doc("Resizes images.");
    describe_size(s);
    s.field("interpolation", &Resizing::interpolation_, "How values between pixels are computed.")
        .choices({"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"})
        .field("crop_to_aspect_ratio", &Resizing::crop_to_aspect_ratio_,
               "Crop the largest centred part of the target's aspect ratio before resizing.")
        .field("pad_to_aspect_ratio", &Resizing::pad_to_aspect_ratio_,
               "Pad to the target's aspect ratio before resizing.")
        .field("fill_mode", &Resizing::fill_mode_, "How the padding is filled.")
        .choices({"constant"})
        .field("fill_value", &Resizing::fill_value_, "Value of the padding.")
        .field("antialias", &Resizing::antialias_, "Smooth the images before reducing their size.");
    describe_data_format(s);
    describe_companions(s);
  }
  void configured() override {
    SizedLayer::configured();
    if (crop_to_aspect_ratio_ && pad_to_aspect_ratio_)
      fail("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.");
  }

 protected:
  bool keeps_whole_numbers() const override { return true; }
  CropWindow window_of(Extent image_extent) const override {
    CropWindow window = centered_window(
        image_extent, crop_to_aspect_ratio_ || pad_to_aspect_ratio_
                          ? with_target_proportions(image_extent, size(), pad_to_aspect_ratio_)
                          : image_extent);
    if (pad_to_aspect_ratio_)
      // The margins on both sides are equal.
      window.size = {image_extent.height - 2 * window.top, image_extent.width - 2 * window.left};
    return window;
  }
  Tensor resized_window(const Tensor& images, const CropWindow& window,
                        bool uses_nearest) const override {
    const bool are_integers = has_whole_numbers(images);
    const std::vector<int64_t> margins{0, -window.top, -window.left, 0};
    const Tensor framed_images =
        crop_to_aspect_ratio_  ? crop_images(images, window)
        : pad_to_aspect_ratio_ ? ops::pad(images, margins, margins,
                                          are_integers ? std::trunc(fill_value_) : fill_value_)
                               : images;
    if (uses_nearest || interpolation_ == "nearest")
      return resize_images_to(framed_images, height_, width_, "nearest", false);
    const Tensor floats = are_integers ? ops::cast(framed_images, DType::float32) : framed_images;
    const Tensor result = resize_images_to(floats, height_, width_, interpolation_, antialias_);
    return are_integers ? as_whole_numbers(result, images.dtype()) : result;
  }

 private:
  std::string interpolation_ = "bilinear", fill_mode_ = "constant";
  bool crop_to_aspect_ratio_ = false, pad_to_aspect_ratio_ = false, antialias_ = false;
  double fill_value_ = 0;
};

class CenterCrop final : public SizedLayer {
 public:
  static void describe(Schema<CenterCrop>& s) {
    s.doc("Crops the centre of images; smaller images are resized first.");
    describe_size(s);
    describe_data_format(s);
    describe_companions(s);
  }

 protected:
  bool keeps_whole_numbers() const override { return false; }
  CropWindow window_of(Extent image_extent) const override {
    const bool is_larger = image_extent.height >= height_ && image_extent.width >= width_;
    return centered_window(
        image_extent, is_larger ? size() : with_target_proportions(image_extent, size(), false));
  }
  Tensor resized_window(const Tensor& images, const CropWindow& window,
                        bool uses_nearest) const override {
    return resize_images_to(crop_images(images, window), height_, width_,
                            uses_nearest ? "nearest" : "bilinear", false);
  }
};

}  // namespace

CRESCENT_REGISTER(resizing) {
  registry.add<Resizing>("Resizing");
  registry.add<CenterCrop>("CenterCrop");
}

}  // namespace crescent
