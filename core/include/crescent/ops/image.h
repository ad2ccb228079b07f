// Functions of keras.ops.image. Images are (batch, height, width, channels), or without the batch
// axis, or with the channels first as `format` says. Results have the dtype of the images (rounded
// for integers) unless stated otherwise. Error messages begin with the name of the function; images
// of a wrong rank and unknown sizes where they are needed are errors.
#pragma once
#include "crescent/ops/convolutions.h"

namespace crescent::ops::image {

using ops::extract_patches, ops::extract_patches_3d;

// -- sizes
struct ResizeOptions {
  std::string interpolation = "bilinear";  ///< nearest, bilinear, bicubic, lanczos3, lanczos5
  bool antialias = false;                  ///< whether the filter is widened when an image shrinks
  bool crop_to_aspect_ratio = false, pad_to_aspect_ratio = false;  ///< at most one may be true
  std::string fill_mode = "constant";                              ///< the only supported value
  double fill_value = 0;
  DataFormat format = DataFormat::channels_last;
};
/// Resizes to `size` = {height, width}.
CRESCENT_API Tensor resize(const Tensor& images, const std::vector<int64_t>& size,
                           const ResizeOptions& options = {});
/// Resamples images of any rank to output_shape; the result is floating. Element i of each axis in
/// spatial_dims moves to scale * i + translation; `scale` and `translation` have one number per
/// such axis. `method` is an interpolation other than "nearest".
CRESCENT_API Tensor scale_and_translate(const Tensor& images,
                                        const std::vector<int64_t>& output_shape,
                                        const Tensor& scale, const Tensor& translation,
                                        const std::vector<int>& spatial_dims,
                                        const std::string& method, bool antialias = true);
/// The amounts of padding or cropping in pixels, and the resulting size. For each axis, exactly two
/// of the three numbers must be given; the third follows.
struct Edges {
  std::optional<int64_t> top = {}, left = {}, bottom = {}, right = {};
  std::optional<int64_t> target_height = {}, target_width = {};
};
/// Pads images with zeros.
CRESCENT_API Tensor pad_images(const Tensor& images, const Edges& edges,
                               DataFormat format = DataFormat::channels_last);
/// Returns the pixels of the images between the edges.
CRESCENT_API Tensor crop_images(const Tensor& images, const Edges& edges,
                                DataFormat format = DataFormat::channels_last);

// -- colours: three channels
/// Luma as a single channel; truncated for integers.
CRESCENT_API Tensor rgb_to_grayscale(const Tensor& images,
                                     DataFormat format = DataFormat::channels_last);
/// Hue, saturation and value from 0 to 1, floating; hsv_to_rgb is the inverse.
CRESCENT_API Tensor rgb_to_hsv(const Tensor& images, DataFormat format = DataFormat::channels_last);
CRESCENT_API Tensor hsv_to_rgb(const Tensor& images, DataFormat format = DataFormat::channels_last);

// -- filters
/// Convolution with a Gaussian; kernel_size and sigma are each given for rows and columns.
CRESCENT_API Tensor gaussian_blur(const Tensor& images,
                                  const std::vector<int64_t>& kernel_size = {3, 3},
                                  const std::vector<double>& sigma = {1, 1},
                                  DataFormat format = DataFormat::channels_last);
/// The vertical and horizontal derivatives of each channel, along a new last axis.
CRESCENT_API Tensor sobel_edges(const Tensor& images,
                                DataFormat format = DataFormat::channels_last);
/// Structural similarity (Wang et al., 2004), one number per pair of images.
CRESCENT_API Tensor ssim(const Tensor& image1, const Tensor& image2, double max_val = 1,
                         int64_t filter_size = 11, double filter_sigma = 1.5, double k1 = 0.01,
                         double k2 = 0.03, DataFormat format = DataFormat::channels_last);

// -- sampling between elements. The interpolation is "nearest" or "bilinear"; the fill mode, which
// determines values beyond the edges, is "constant", "nearest", "wrap", "mirror" or "reflect".
/// The elements of inputs of any rank at coordinates (rank, ...) -> (...). The order is 0 (nearest
/// element) or 1 (linear).
CRESCENT_API Tensor map_coordinates(const Tensor& inputs, const Tensor& coordinates, int64_t order,
                                    const std::string& fill_mode = "constant",
                                    double fill_value = 0);
/// The pixels of images (batch, h, w, channels) at rows and columns (batch, height, width) ->
/// (batch, height, width, channels).
CRESCENT_API Tensor sample(const Tensor& images, const Tensor& rows, const Tensor& columns,
                           const std::string& interpolation = "bilinear",
                           const std::string& fill_mode = "constant", double fill_value = 0);
/// Output pixel (x, y) is input pixel (a0 x + a1 y + a2, b0 x + b1 y + b2). A transform is a0 a1 a2
/// b0 b1 b2 c0 c1, either one (8) for all images or one per image (batch, 8). c0 and c1 are usually
/// 0: as in Keras, they shift y by c0 k and x by c1 k in channel k.
CRESCENT_API Tensor affine_transform(const Tensor& images, const Tensor& transform,
                                     const std::string& interpolation = "bilinear",
                                     const std::string& fill_mode = "constant",
                                     double fill_value = 0,
                                     DataFormat format = DataFormat::channels_last);
/// The perspective transform that maps the start points, (4, 2) or (batch, 4, 2), to the end
/// points.
CRESCENT_API Tensor perspective_transform(const Tensor& images, const Tensor& start_points,
                                          const Tensor& end_points,
                                          const std::string& interpolation = "bilinear",
                                          double fill_value = 0,
                                          DataFormat format = DataFormat::channels_last);
/// The coefficients (batch, 8) a0 a1 a2 b0 b1 b2 c0 c1 of perspective_transform, which divides
/// coordinates by c0 x + c1 y + 1.
CRESCENT_API Tensor homography(const Tensor& start_points, const Tensor& end_points);

}  // namespace crescent::ops::image
