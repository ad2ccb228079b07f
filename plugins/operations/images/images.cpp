// Operations on images: resizing, colours, filters, interpolation.
#include "crescent/ops/image.h"

#include "../shared/shared.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

namespace image = ops::image;
using Sizes = std::vector<int64_t>;
using OptionalSize = std::optional<int64_t>;

template <Tensor (*F)(const Tensor&, ops::DataFormat)>
Tensor in_format(const Tensor& images, const Format& format) {
  return F(images, format_named(format));
}

Tensor resize(const Tensor& images, const Sizes& size, const std::string& interpolation,
              bool antialias, bool crop, bool pad, const std::string& fill_mode, double fill_value,
              const Format& format) {
  return image::resize(
      images, size,
      {interpolation, antialias, crop, pad, fill_mode, fill_value, format_named(format)});
}

template <Tensor (*F)(const Tensor&, const image::Edges&, ops::DataFormat)>
Tensor with_edges(const Tensor& images, OptionalSize top, OptionalSize left, OptionalSize bottom,
                  OptionalSize right, OptionalSize height, OptionalSize width,
                  const Format& format) {
  return F(images, {top, left, bottom, right, height, width}, format_named(format));
}

Tensor gaussian_blur(const Tensor& images, const Sizes& size, const std::vector<double>& sigma,
                     const Format& format) {
  return image::gaussian_blur(images, size, sigma, format_named(format));
}

Tensor ssim(const Tensor& a, const Tensor& b, double max_val, int64_t filter_size,
            double filter_sigma, double k1, double k2, const Format& format) {
  return image::ssim(a, b, max_val, filter_size, filter_sigma, k1, k2, format_named(format));
}

Tensor affine_transform(const Tensor& images, const Tensor& transform,
                        const std::string& interpolation, const std::string& fill_mode,
                        double fill_value, const Format& format) {
  return image::affine_transform(images, transform, interpolation, fill_mode, fill_value,
                                 format_named(format));
}

Tensor perspective_transform(const Tensor& images, const Tensor& start, const Tensor& end,
                             const std::string& interpolation, double fill_value,
                             const Format& format) {
  return image::perspective_transform(images, start, end, interpolation, fill_value,
                                      format_named(format));
}

}  // namespace

CRESCENT_REGISTER(images) {
  Operations(registry, "keras.src.ops.image")
      .add("Resize",
           "image.resize(images, size, interpolation='bilinear', antialias=False, "
           "crop_to_aspect_ratio=False, pad_to_aspect_ratio=False, fill_mode='constant', "
           "fill_value=0.0, data_format=None)",
           &resize, "Resizes images.")
      .add("ScaleAndTranslate",
           "image.scale_and_translate(images, output_shape, scale, translation, spatial_dims, "
           "method, antialias=True)",
           &image::scale_and_translate,
           "Scales and translates images into an output of the given shape.")
      .add("PadImages",
           "image.pad_images(images, top_padding=None, left_padding=None, bottom_padding=None, "
           "right_padding=None, target_height=None, target_width=None, data_format=None)",
           &with_edges<image::pad_images>, "Pads images with zeros.")
      .add("CropImages",
           "image.crop_images(images, top_cropping=None, left_cropping=None, "
           "bottom_cropping=None, right_cropping=None, target_height=None, target_width=None, "
           "data_format=None)",
           &with_edges<image::crop_images>, "Removes pixels from the edges of images.")
      .add("RGBToGrayscale", "image.rgb_to_grayscale(images, data_format=None)",
           &in_format<image::rgb_to_grayscale>, "Converts RGB images to one channel of brightness.")
      .add("RGBToHSV", "image.rgb_to_hsv(images, data_format=None)", &in_format<image::rgb_to_hsv>,
           "Converts red, green and blue to hue, saturation and value.")
      .add("HSVToRGB", "image.hsv_to_rgb(images, data_format=None)", &in_format<image::hsv_to_rgb>,
           "Converts hue, saturation and value to red, green and blue.")
      .add("GaussianBlur",
           "image.gaussian_blur(images, kernel_size=(3, 3), sigma=(1.0, 1.0), data_format=None)",
           &gaussian_blur, "Smooths images with a Gaussian filter.")
      .add("SobelEdges", "image.sobel_edges(images, data_format=None)",
           &in_format<image::sobel_edges>,
           "The gradients of brightness along both axes by the Sobel filter.")
      .add("SSIM",
           "image.ssim(image1, image2, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, "
           "k2=0.03, data_format=None)",
           &ssim, "The structural similarity of images.")
      .add("MapCoordinates",
           "image.map_coordinates(inputs, coordinates, order, fill_mode='constant', "
           "fill_value=0.0)",
           &image::map_coordinates,
           "The values at fractional coordinates, interpolated by splines of order 0 or 1.")
      .add("AffineTransform",
           "image.affine_transform(images, transform, interpolation='bilinear', "
           "fill_mode='constant', fill_value=0.0, data_format=None)",
           &affine_transform,
           "Applies affine transforms to images, each given by 8 numbers that map output points to "
           "input points.")
      .add("PerspectiveTransform",
           "image.perspective_transform(images, start_points, end_points, "
           "interpolation='bilinear', fill_value=0.0, data_format=None)",
           &perspective_transform,
           "Applies the perspective transform that maps four start points to four end points.");
  Operations(registry, "crescent.operations")
      .add("Homography", "image.homography(start_points, end_points)", &image::homography,
           "The 8 numbers of the perspective transform that maps start points to end points.")
      .add("SampleImages",
           "image.sample(images, rows, columns, interpolation='bilinear', fill_mode='constant', "
           "fill_value=0.0)",
           &image::sample,
           "Samples images at fractional positions: rows and columns (batch, h, w).");
}

}  // namespace crescent::operations
