// Interpolation between the elements of arrays. It gathers neighbouring elements, for devices that
// have no kernel for interpolation.
#include "ops/image/sampling.h"

#include "crescent/ops/arguments.h"

namespace crescent {

FillMode fill_mode_named(const std::string& name) {
  const std::vector<std::string> mode_names{"constant", "nearest", "wrap", "mirror", "reflect"};
  for (size_t i = 0; i < mode_names.size(); ++i)
    if (name == mode_names[i]) return static_cast<FillMode>(i);
  fail("unknown fill_mode '", name, "'", did_you_mean(name, mode_names));
}

int64_t order_named(const std::string& interpolation) {
  if (interpolation == "nearest") return 0;
  if (interpolation == "bilinear") return 1;
  fail("interpolation must be 'nearest' or 'bilinear', got '", interpolation, "'");
}

namespace {

/// The index mirrored at the first and the last element, which are not repeated.
Tensor mirrored_index(const Tensor& index, int64_t size) {
  const int64_t last_index = size - 1;
  if (size == 1) return ops::zeros_like(index);
  return ops::abs(ops::mod(index + last_index, 2 * last_index) - last_index);
}

/// Replaces an index out of range by the index of the element from which the fill mode takes the
/// value.
Tensor apply_fill_mode(const Tensor& index, int64_t size, FillMode fill) {
  switch (fill) {
    case FillMode::wrap:
      return ops::mod(index, size);
    case FillMode::mirror:
      return mirrored_index(index, size);
    case FillMode::reflect:
      return ops::floor_divide(mirrored_index(index * 2 + 1, 2 * size + 1) - 1, 2);
    default:
      return ops::clip(index, 0, size - 1);
  }
}

/// The index of a neighbour along one axis, and its weight in the interpolation.
struct Neighbour {
  Tensor index, weight;
};

std::vector<Neighbour> neighbours(const Tensor& coordinate, int64_t order) {
  if (order == 0) return {{ops::cast(ops::round(coordinate), DType::int32), Tensor()}};
  const Tensor low = ops::floor(coordinate), upper_weight = coordinate - low;
  const Tensor index = ops::cast(low, DType::int32);
  return {{index, 1.0 - upper_weight}, {index + 1, upper_weight}};
}

}  // namespace

Tensor sampled_values(const Tensor& values, const std::vector<int64_t>& dims,
                      const Tensors& coordinates, int64_t order, FillMode fill, double fill_value) {
  const int64_t batch = values.dim(0), channels = values.dim(2),
                point_count = coordinates[0].dim(1);
  struct Corner {
    Tensor pixel_index, is_inside, weight;
  };
  std::vector<Corner> corners{{}};
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    std::vector<Corner> next_corners;
    for (const Corner& corner : corners)
      for (const Neighbour& neighbour : neighbours(coordinates[axis], order)) {
        const Tensor filled_index = apply_fill_mode(neighbour.index, dims[axis], fill);
        const int64_t size = dims[axis];
        const Tensor is_inside = ops::logical_and(ops::greater_equal(neighbour.index, 0),
                                                  ops::less(neighbour.index, size));
        next_corners.push_back(
            {corner.pixel_index ? corner.pixel_index * size + filled_index : filled_index,
             corner.is_inside ? ops::logical_and(corner.is_inside, is_inside) : is_inside,
             corner.weight ? corner.weight * neighbour.weight : neighbour.weight});
      }
    corners = std::move(next_corners);
  }
  Tensor sum;
  for (const Corner& corner : corners) {
    const Tensor pixel_index =
        ops::broadcast_to(corner.pixel_index, Shape{batch, point_count, channels});
    Tensor corner_values = ops::gather_along_axis(values, pixel_index, 1);
    if (fill == FillMode::constant)
      corner_values = ops::where(corner.is_inside, corner_values, fill_value);
    if (corner.weight) corner_values = corner_values * corner.weight;
    sum = sum ? sum + corner_values : corner_values;
  }
  return sum;
}

// ---- sampling at coordinates

TensorSpecs SampleImages::infer(std::span<const TensorSpec> in) const {
  const Shape& coordinates_shape = in[1].shape;
  return {
      {in[0].dtype, {in[0].shape[0], coordinates_shape[1], coordinates_shape[2], in[0].shape[3]}}};
}
Tensors SampleImages::decompose(std::span<const Tensor> in) const {
  const int64_t batch = in[0].dim(0), h = in[0].dim(1), w = in[0].dim(2), c = in[0].dim(3);
  const Shape flat_shape{batch, in[1].dim(1) * in[1].dim(2), 1};
  const Tensor result = sampled_values(
      ops::reshape(in[0], {batch, h * w, c}), {h, w},
      {ops::reshape(in[1], flat_shape), ops::reshape(in[2], flat_shape)}, order, fill, fill_value);
  return {ops::reshape(result, {batch, in[1].dim(1), in[1].dim(2), c})};
}

Tensor sampled_images(const Tensor& images, const Tensor& rows, const Tensor& columns,
                      int64_t order, FillMode fill, double fill_value) {
  SampleImages op;
  op.order = order;
  op.fill = fill;
  op.fill_value = fill_value;
  return apply1(op, {images, ops::cast(rows, images.dtype()), ops::cast(columns, images.dtype())});
}

// ---- sampling through transforms

TensorSpecs ProjectImages::infer(std::span<const TensorSpec> in) const { return {in[0]}; }
Tensors ProjectImages::decompose(std::span<const Tensor> in) const {
  const Tensor& images = in[0];
  const int64_t batch = images.dim(0), h = images.dim(1), w = images.dim(2), c = images.dim(3);
  const Shape plane_shape{1, h * w, 1};
  const Tensor x =
      ops::reshape(ops::broadcast_to(ops::positions(w, 1, 2, images.dtype()), {h, w}), plane_shape);
  const Tensor y =
      ops::reshape(ops::broadcast_to(ops::positions(h, 0, 2, images.dtype()), {h, w}), plane_shape);
  const Tensors coefficients =
      ops::split(ops::expand_dims(in[1], 2), std::vector<int64_t>(8, 1), 1);
  Tensor source_x = coefficients[0] * x + coefficients[1] * y + coefficients[2],
         source_y = coefficients[3] * x + coefficients[4] * y + coefficients[5];
  if (perspective) {
    const Tensor scale = coefficients[6] * x + coefficients[7] * y + 1.0;
    source_x = source_x / scale, source_y = source_y / scale;
  } else {
    const Tensor channel = ops::positions(c, 2, 3, images.dtype());
    source_x = source_x + coefficients[7] * channel,
    source_y = source_y + coefficients[6] * channel;
  }
  const Shape points_shape{batch, h * w, source_x.dim(2)};
  const Tensor result = sampled_values(
      ops::reshape(images, {batch, h * w, c}), {h, w},
      {ops::broadcast_to(source_y, points_shape), ops::broadcast_to(source_x, points_shape)}, order,
      fill, fill_value);
  return {ops::reshape(result, images.shape())};
}

Tensor projected_images(const Tensor& images, const Tensor& transforms, bool perspective,
                        int64_t order, FillMode fill, double fill_value) {
  ProjectImages op;
  op.perspective = perspective, op.order = order, op.fill = fill, op.fill_value = fill_value;
  return apply1(op, {images, ops::cast(transforms, images.dtype())});
}

}  // namespace crescent
