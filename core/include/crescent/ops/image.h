// Images, as keras.ops.image has them: (batch, height, width, channels), or one without the batch,
// or with the channels first where the format says so. Results have the dtype of the images, those
// of whole numbers rounded, unless it says otherwise. What fails says so by the name of the
// function: images of other ranks, sizes that are not known where they must be.
#pragma once
#include "crescent/ops/convolutions.h"

namespace crescent::ops::image {

using ops::extract_patches, ops::extract_patches_3d;

// -- sizes
struct ResizeOptions {
  std::string interpolation = "bilinear";  ///< nearest, bilinear, bicubic, lanczos3, lanczos5
  bool antialias = false;                  ///< the filter widens where an image shrinks
  bool crop_to_aspect_ratio = false, pad_to_aspect_ratio = false;  ///< at most one of them
  std::string fill_mode = "constant";                              ///< nothing else, for now
  double fill_value = 0;
  DataFormat format = DataFormat::channels_last;
};
/// To a height and a width.
CRESCENT_API Tensor resize(const Tensor& images, const std::vector<int64_t>& size,
                           const ResizeOptions& options = {});
/// x of any rank -> the output shape, floating: each element of these axes comes to
/// scale * x + translation, a number an axis. The method is an interpolation other than "nearest".
CRESCENT_API Tensor scale_and_translate(const Tensor& images,
                                        const std::vector<int64_t>& output_shape,
                                        const Tensor& scale, const Tensor& translation,
                                        const std::vector<int>& spatial_dims,
                                        const std::string& method, bool antialias = true);
/// Rows and columns at the edges, two of three along each axis; fails for another number.
struct Edges {
  std::optional<int64_t> top = {}, left = {}, bottom = {}, right = {};
  std::optional<int64_t> target_height = {}, target_width = {};
};
CRESCENT_API Tensor pad_images(const Tensor& images, const Edges& edges,
                               DataFormat format = DataFormat::channels_last);  ///< with zeros
CRESCENT_API Tensor crop_images(const Tensor& images, const Edges& edges,
                                DataFormat format = DataFormat::channels_last);

// -- colours: three channels
/// One channel of brightness, of whole numbers the whole part.
CRESCENT_API Tensor rgb_to_grayscale(const Tensor& images,
                                     DataFormat format = DataFormat::channels_last);
/// Floating: hue, saturation and value from 0 to 1, and back.
CRESCENT_API Tensor rgb_to_hsv(const Tensor& images, DataFormat format = DataFormat::channels_last);
CRESCENT_API Tensor hsv_to_rgb(const Tensor& images, DataFormat format = DataFormat::channels_last);

// -- filters
/// Convolved with a normal distribution: its size and deviation along a row and along a column.
CRESCENT_API Tensor gaussian_blur(const Tensor& images,
                                  const std::vector<int64_t>& kernel_size = {3, 3},
                                  const std::vector<double>& sigma = {1, 1},
                                  DataFormat format = DataFormat::channels_last);
/// A batch -> an axis more, with the differences of brightness down and across.
CRESCENT_API Tensor sobel_edges(const Tensor& images,
                                DataFormat format = DataFormat::channels_last);
/// Structural similarity (Wang et al., 2004), a number for each two images.
CRESCENT_API Tensor ssim(const Tensor& image1, const Tensor& image2, double max_val = 1,
                         int64_t filter_size = 11, double filter_sigma = 1.5, double k1 = 0.01,
                         double k2 = 0.03, DataFormat format = DataFormat::channels_last);

// -- values between elements. The interpolation is "nearest" or "bilinear", the fill mode says what
// is beyond the edges: "constant", "nearest", "wrap", "mirror" or "reflect".
/// x of any rank, coordinates (rank, ...) -> (...). The order is 0, the nearest element, or 1.
CRESCENT_API Tensor map_coordinates(const Tensor& inputs, const Tensor& coordinates, int64_t order,
                                    const std::string& fill_mode = "constant",
                                    double fill_value = 0);
/// (batch, h, w, channels), places (batch, height, width) -> (batch, height, width, channels).
CRESCENT_API Tensor sample(const Tensor& images, const Tensor& rows, const Tensor& columns,
                           const std::string& interpolation = "bilinear",
                           const std::string& fill_mode = "constant", double fill_value = 0);
/// Place (x, y) shows what was at (a0 x + a1 y + a2, b0 x + b1 y + b2): a transform a0 a1 a2 b0 b1
/// b2 c0 c1 for all images (8) or each (batch, 8).
CRESCENT_API Tensor affine_transform(const Tensor& images, const Tensor& transform,
                                     const std::string& interpolation = "bilinear",
                                     const std::string& fill_mode = "constant",
                                     double fill_value = 0,
                                     DataFormat format = DataFormat::channels_last);
/// The start points (4, 2) or (batch, 4, 2) come to the end points.
CRESCENT_API Tensor perspective_transform(const Tensor& images, const Tensor& start_points,
                                          const Tensor& end_points,
                                          const std::string& interpolation = "bilinear",
                                          double fill_value = 0,
                                          DataFormat format = DataFormat::channels_last);
/// The eight numbers (batch, 8) by which perspective_transform does so, over c0 x + c1 y + 1.
CRESCENT_API Tensor homography(const Tensor& start_points, const Tensor& end_points);

}  // namespace crescent::ops::image
