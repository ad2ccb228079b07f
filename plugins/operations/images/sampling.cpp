// Images read between their elements: at coordinates, through affine and perspective transforms.
#include "kernels/sampling.h"
#include <algorithm>

#include "../../called_operations.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {

Fill fill_named(const std::string& name) {
  const std::vector<std::string> known{"constant", "nearest", "wrap", "mirror", "reflect"};
  for (size_t i = 0; i < known.size(); ++i)
    if (name == known[i]) return static_cast<Fill>(i);
  fail("unknown fill_mode '", name, "'", did_you_mean(name, known));
}

int64_t order_named(const std::string& interpolation) {
  if (interpolation == "nearest") return 0;
  if (interpolation == "bilinear") return 1;
  fail("interpolation must be 'nearest' or 'bilinear', got '", interpolation, "'");
}

namespace {

/// Mirrored at the first and the last element, which are there once.
Tensor mirrored(const Tensor& index, int64_t size) {
  const int64_t last = size - 1;
  if (size == 1) return ops::zeros_like(index);
  return ops::abs(ops::mod(index + last, 2 * last) - last);
}

/// The place in 0..size-1 that an index stands for.
Tensor placed(const Tensor& index, int64_t size, Fill fill) {
  switch (fill) {
    case Fill::wrap:
      return ops::mod(index, size);
    case Fill::mirror:
      return mirrored(index, size);
    case Fill::reflect:
      return ops::floor_divide(mirrored(index * 2 + 1, 2 * size + 1) - 1, 2);
    default:
      return ops::clip(index, 0, size - 1);
  }
}

/// Indices along one axis, and what each counts for.
struct Neighbour {
  Tensor index, weight;
};

std::vector<Neighbour> neighbours(const Tensor& coordinate, int64_t order) {
  if (order == 0) return {{ops::cast(ops::round(coordinate), DType::int32), Tensor()}};
  const Tensor low = ops::floor(coordinate), upper = coordinate - low;
  const Tensor index = ops::cast(low, DType::int32);
  return {{index, 1.0 - upper}, {index + 1, upper}};
}

}  // namespace

Tensor sampled(const Tensor& values, const std::vector<int64_t>& dims, const Tensors& coordinates,
               int64_t order, Fill fill, double fill_value) {
  const int64_t batch = values.dim(0), channels = values.dim(2), points = coordinates[0].dim(1);
  struct Corner {
    Tensor place, inside, weight;
  };
  std::vector<Corner> corners{{}};
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    std::vector<Corner> next;
    for (const Corner& corner : corners)
      for (const Neighbour& n : neighbours(coordinates[axis], order)) {
        const Tensor at = placed(n.index, dims[axis], fill);
        const int64_t size = dims[axis];
        const Tensor inside =
            ops::logical_and(ops::greater_equal(n.index, 0), ops::less(n.index, size));
        next.push_back({corner.place ? corner.place * size + at : at,
                        corner.inside ? ops::logical_and(corner.inside, inside) : inside,
                        corner.weight ? corner.weight * n.weight : n.weight});
      }
    corners = std::move(next);
  }
  Tensor sum;
  for (const Corner& corner : corners) {
    const Tensor place = ops::broadcast_to(corner.place, Shape{batch, points, channels});
    Tensor part = ops::gather_along_axis(values, place, 1);
    if (fill == Fill::constant) part = ops::where(corner.inside, part, fill_value);
    if (corner.weight) part = part * corner.weight;
    sum = sum ? sum + part : part;
  }
  return sum;
}

namespace {

Tensor map_coordinates(const Tensor& x, const Tensor& coordinates, int64_t order,
                       const std::string& fill_mode, double fill_value) {
  if (coordinates.rank() < 2 || coordinates.dim(0) != x.rank())
    fail("image.map_coordinates: expected coordinates (", x.rank(), ", ...) for shape ", x.shape(),
         ", got shape ", coordinates.shape());
  Tensors each;
  for (const Tensor& row : ops::split(floating(coordinates), std::vector<int64_t>(x.rank(), 1), 0))
    each.push_back(ops::reshape(row, {1, -1, 1}));
  if (order != 0 && order != 1)
    fail("image.map_coordinates: expected an order of 0 or 1, got ", order);
  const Fill fill = fill_named(fill_mode);
  const Tensor values = floating(x);
  const bool plane = x.rank() == 2 && x.dim(0) != 0 && x.dim(1) != 0;
  const Tensor result = plane ? sampled_images(ops::expand_dims(ops::expand_dims(values, 0), 3),
                                               each[0], each[1], order, fill, fill_value)
                              : sampled(ops::reshape(values, {1, -1, 1}),
                                        std::vector<int64_t>(x.shape().begin(), x.shape().end()),
                                        each, order, fill, fill_value);
  return ops::cast(ops::reshape(is_floating(x.dtype()) ? result : ops::round(result),
                                coordinates.shape().slice(1, coordinates.rank())),
                   x.dtype());
}

Tensor projected(const char* name, const Tensor& given, const Tensor& rows,
                 const std::string& interpolation, const std::string& fill_mode, double fill_value,
                 const Format& format, bool perspective) {
  const bool single = given.rank() == 3, first = channels_first(format);
  if (given.rank() != 3 && given.rank() != 4)
    fail(name, ": expected (batch, height, width, channels) or (height, width, channels), got ",
         given.shape());
  Tensor images = floating(single ? ops::expand_dims(given, 0) : given);
  if (first) images = ops::transpose(images, {0, 2, 3, 1});
  const Tensor transform = floating(rows.rank() == 1 ? ops::expand_dims(rows, 0) : rows);
  if (transform.rank() != 2 || transform.dim(1) != 8)
    fail(name, ": expected eight numbers an image, got shape ", rows.shape());
  if (!images.shape().slice(1, 3).is_known())
    fail(name, ": the size of the images must be known, got shape ", given.shape());
  const Shape count = transform.shape().slice(0, 1);
  if (count[0] != 1 && !count.compatible(images.shape().slice(0, 1)))
    fail(name, ": expected a transform for each of ", images.dim(0), " images or one for all, got ",
         count[0]);
  Tensor result =
      ops::cast(projected_images(images, transform, perspective, order_named(interpolation),
                                 fill_named(fill_mode), fill_value),
                given.dtype());
  if (first) result = ops::transpose(result, {0, 3, 1, 2});
  return single ? ops::squeeze(result, 0) : result;
}

Tensor affine_transform(const Tensor& images, const Tensor& transform,
                        const std::string& interpolation, const std::string& fill_mode,
                        double fill_value, const Format& format) {
  return projected("image.affine_transform", images, transform, interpolation, fill_mode,
                   fill_value, format, false);
}

/// The numbers a0 a1 a2 b0 b1 b2 c0 c1 by which the end points show the start points: (batch, 8) of
/// (batch, 4, 2) each.
Tensor homography(const Tensor& start, const Tensor& end) {
  const auto batched = [](const Tensor& x) {
    return floating(x.rank() == 2 ? ops::expand_dims(x, 0) : x);
  };
  const Tensor from = batched(start), to = batched(end);
  if (from.rank() != 3 || from.dim(1) != 4 || from.dim(2) != 2 || from.shape() != to.shape())
    fail("expected four points (4, 2) twice, got shapes ", start.shape(), " and ", end.shape());
  const auto part = [](const Tensor& x, int64_t i) { return ops::slice_axis(x, 2, i, i + 1); };
  const Tensor x = part(to, 0), y = part(to, 1), u = part(from, 0), v = part(from, 1);
  const Tensor one = ops::ones_like(x), zero = ops::zeros_like(x);
  const Tensor of_u = ops::concatenate(Tensors{x, y, one, zero, zero, zero, -(u * x), -(u * y)}, 2);
  const Tensor of_v = ops::concatenate(Tensors{zero, zero, zero, x, y, one, -(v * x), -(v * y)}, 2);
  const Dict system{{"a", boxed(ops::concatenate(Tensors{of_u, of_v}, 1))},
                    {"b", boxed(ops::concatenate(Tensors{u, v}, 1))}};
  return ops::squeeze(operation("solve", system), 2);
}

/// Images that show the start points at the end points.
Tensor perspective_transform(const Tensor& images, const Tensor& start, const Tensor& end,
                             const std::string& interpolation, double fill_value,
                             const Format& format) {
  return projected("image.perspective_transform", images, homography(start, end), interpolation,
                   "constant", fill_value, format, true);
}

}  // namespace

CRESCENT_REGISTER(sampling) {
  Operations(registry, "keras.src.ops.image")
      .add("MapCoordinates",
           "image.map_coordinates(inputs, coordinates, order, fill_mode='constant', "
           "fill_value=0.0)",
           &map_coordinates,
           "The values at points between elements, by splines of an order up to 1.")
      .add("AffineTransform",
           "image.affine_transform(images, transform, interpolation='bilinear', "
           "fill_mode='constant', fill_value=0.0, data_format=None)",
           &affine_transform, "Images moved by a matrix of 8 numbers, output to input.")
      .add("PerspectiveTransform",
           "image.perspective_transform(images, start_points, end_points, "
           "interpolation='bilinear', fill_value=0.0, data_format=None)",
           &perspective_transform, "Images in which four points come to four others.");
  Operations(registry, "crescent.operations")
      .add("Homography", "image.homography(start_points, end_points)", &homography,
           "The eight numbers by which perspective_transform brings points to others.");
}

}  // namespace crescent::operations
