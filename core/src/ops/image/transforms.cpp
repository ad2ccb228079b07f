// Image transforms: interpolation at coordinates, affine and perspective transforms.
#include "crescent/ops/arguments.h"
#include "crescent/ops/image.h"
#include "crescent/ops/linalg.h"
#include "ops/image/sampling.h"

namespace crescent::ops::image {
namespace {

Tensor project_images(const char* name, const Tensor& input, const Tensor& transforms,
                      const std::string& interpolation, const std::string& fill_mode,
                      double fill_value, DataFormat format, bool perspective) {
  const bool has_one_image = input.rank() == 3,
             channels_first = format == DataFormat::channels_first;
  if (input.rank() != 3 && input.rank() != 4)
    fail(name, ": expected (batch, height, width, channels) or (height, width, channels), got ",
         input.shape());
  Tensor images = floating(has_one_image ? expand_dims(input, 0) : input);
  if (channels_first) images = transpose(images, {0, 2, 3, 1});
  const Tensor transform_batch =
      floating(transforms.rank() == 1 ? expand_dims(transforms, 0) : transforms);
  if (transform_batch.rank() != 2 || transform_batch.dim(1) != 8)
    fail(name, ": expected eight numbers an image, got shape ", transforms.shape());
  if (!images.shape().slice(1, 3).is_known())
    fail(name, ": the size of the images must be known, got shape ", input.shape());
  const Shape count_shape = transform_batch.shape().slice(0, 1);
  if (count_shape[0] != 1 && !count_shape.compatible(images.shape().slice(0, 1)))
    fail(name, ": expected a transform for each of ", images.dim(0), " images or one for all, got ",
         count_shape[0]);
  Tensor result =
      cast(projected_images(images, transform_batch, perspective, order_named(interpolation),
                            fill_mode_named(fill_mode), fill_value),
           input.dtype());
  if (channels_first) result = transpose(result, {0, 3, 1, 2});
  return has_one_image ? squeeze(result, 0) : result;
}

}  // namespace

Tensor map_coordinates(const Tensor& x, const Tensor& coordinates, int64_t order,
                       const std::string& fill_mode, double fill_value) {
  if (coordinates.rank() < 2 || coordinates.dim(0) != x.rank())
    fail("image.map_coordinates: expected coordinates (", x.rank(), ", ...) for shape ", x.shape(),
         ", got shape ", coordinates.shape());
  Tensors axis_coordinates;
  for (const Tensor& coordinate :
       split(floating(coordinates), std::vector<int64_t>(static_cast<size_t>(x.rank()), 1), 0))
    axis_coordinates.push_back(reshape(coordinate, {1, -1, 1}));
  if (order != 0 && order != 1)
    fail("image.map_coordinates: expected an order of 0 or 1, got ", order);
  const FillMode fill = fill_mode_named(fill_mode);
  const Tensor values = floating(x);
  const bool is_plane = x.rank() == 2 && x.dim(0) != 0 && x.dim(1) != 0;
  const Tensor result =
      is_plane ? sampled_images(expand_dims(expand_dims(values, 0), 3), axis_coordinates[0],
                                axis_coordinates[1], order, fill, fill_value)
               : sampled_values(reshape(values, {1, -1, 1}),
                                std::vector<int64_t>(x.shape().begin(), x.shape().end()),
                                axis_coordinates, order, fill, fill_value);
  return cast(reshape(is_floating(x.dtype()) ? result : round(result),
                      coordinates.shape().slice(1, coordinates.rank())),
              x.dtype());
}

Tensor affine_transform(const Tensor& images, const Tensor& transform,
                        const std::string& interpolation, const std::string& fill_mode,
                        double fill_value, DataFormat format) {
  return project_images("image.affine_transform", images, transform, interpolation, fill_mode,
                        fill_value, format, false);
}

Tensor homography(const Tensor& start_points, const Tensor& end_points) {
  const auto with_batch_axis = [](const Tensor& x) {
    return floating(x.rank() == 2 ? expand_dims(x, 0) : x);
  };
  const Tensor start_batch = with_batch_axis(start_points), end_batch = with_batch_axis(end_points);
  if (start_batch.rank() != 3 || start_batch.dim(1) != 4 || start_batch.dim(2) != 2 ||
      start_batch.shape() != end_batch.shape())
    fail("expected four points (4, 2) twice, got shapes ", start_points.shape(), " and ",
         end_points.shape());
  const auto column = [](const Tensor& x, int64_t i) { return slice_axis(x, 2, i, i + 1); };
  const Tensor x = column(end_batch, 0), y = column(end_batch, 1), u = column(start_batch, 0),
               v = column(start_batch, 1);
  const Tensor ones = ones_like(x), zero = zeros_like(x);
  const Tensor u_equations =
      concatenate(Tensors{x, y, ones, zero, zero, zero, -(u * x), -(u * y)}, 2);
  const Tensor v_equations =
      concatenate(Tensors{zero, zero, zero, x, y, ones, -(v * x), -(v * y)}, 2);
  const Tensor system = concatenate(Tensors{u_equations, v_equations}, 1);
  return squeeze(solve(system, concatenate(Tensors{u, v}, 1)), 2);
}

Tensor perspective_transform(const Tensor& images, const Tensor& start_points,
                             const Tensor& end_points, const std::string& interpolation,
                             double fill_value, DataFormat format) {
  return project_images("image.perspective_transform", images, homography(start_points, end_points),
                        interpolation, "constant", fill_value, format, true);
}

Tensor sample(const Tensor& images, const Tensor& rows, const Tensor& columns,
              const std::string& interpolation, const std::string& fill_mode, double fill_value) {
  if (images.rank() != 4 || images.dim(1) < 1 || images.dim(2) < 1 || images.dim(3) < 0)
    fail("image.sample: expected images (batch, height, width, channels), got shape ",
         images.shape());
  if (rows.rank() != 3 || rows.shape() != columns.shape() ||
      !rows.shape().slice(0, 1).compatible(images.shape().slice(0, 1)))
    fail("image.sample: expected rows and columns (batch, height, width) for images of shape ",
         images.shape(), ", got shapes ", rows.shape(), " and ", columns.shape());
  return cast(sampled_images(floating(images), rows, columns, order_named(interpolation),
                             fill_mode_named(fill_mode), fill_value),
              images.dtype());
}

}  // namespace crescent::ops::image
