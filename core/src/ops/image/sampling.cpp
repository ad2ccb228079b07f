// Interpolation of arrays between their elements by gathering neighbours, for devices without a
// kernel for it.
#include "ops/image/sampling.h"

#include "crescent/ops/arguments.h"

namespace crescent {

FillMode fill_mode_named(const std::string& name) {
  const std::vector<std::string> known{"constant", "nearest", "wrap", "mirror", "reflect"};
  for (size_t i = 0; i < known.size(); ++i)
    if (name == known[i]) return static_cast<FillMode>(i);
  fail("unknown fill_mode '", name, "'", did_you_mean(name, known));
}

int64_t order_named(const std::string& interpolation) {
  if (interpolation == "nearest") return 0;
  if (interpolation == "bilinear") return 1;
  fail("interpolation must be 'nearest' or 'bilinear', got '", interpolation, "'");
}

namespace {

/// The index mirrored at the first and the last element, which are not repeated.
Tensor mirrored(const Tensor& index, int64_t size) {
  const int64_t last = size - 1;
  if (size == 1) return ops::zeros_like(index);
  return ops::abs(ops::mod(index + last, 2 * last) - last);
}

/// Replaces an index out of range by the index of the element that the fill mode takes in its
/// place.
Tensor apply_fill_mode(const Tensor& index, int64_t size, FillMode fill) {
  switch (fill) {
    case FillMode::wrap:
      return ops::mod(index, size);
    case FillMode::mirror:
      return mirrored(index, size);
    case FillMode::reflect:
      return ops::floor_divide(mirrored(index * 2 + 1, 2 * size + 1) - 1, 2);
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
  const Tensor low = ops::floor(coordinate), upper = coordinate - low;
  const Tensor index = ops::cast(low, DType::int32);
  return {{index, 1.0 - upper}, {index + 1, upper}};
}

}  // namespace

Tensor sampled(const Tensor& values, const std::vector<int64_t>& dims, const Tensors& coordinates,
               int64_t order, FillMode fill, double fill_value) {
  const int64_t batch = values.dim(0), channels = values.dim(2), points = coordinates[0].dim(1);
  struct Corner {
    Tensor pixel_index, inside, weight;
  };
  std::vector<Corner> corners{{}};
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    std::vector<Corner> next;
    for (const Corner& corner : corners)
      for (const Neighbour& n : neighbours(coordinates[axis], order)) {
        const Tensor at = apply_fill_mode(n.index, dims[axis], fill);
        const int64_t size = dims[axis];
        const Tensor inside =
            ops::logical_and(ops::greater_equal(n.index, 0), ops::less(n.index, size));
        next.push_back({corner.pixel_index ? corner.pixel_index * size + at : at,
                        corner.inside ? ops::logical_and(corner.inside, inside) : inside,
                        corner.weight ? corner.weight * n.weight : n.weight});
      }
    corners = std::move(next);
  }
  Tensor sum;
  for (const Corner& corner : corners) {
    const Tensor pixel_index =
        ops::broadcast_to(corner.pixel_index, Shape{batch, points, channels});
    Tensor part = ops::gather_along_axis(values, pixel_index, 1);
    if (fill == FillMode::constant) part = ops::where(corner.inside, part, fill_value);
    if (corner.weight) part = part * corner.weight;
    sum = sum ? sum + part : part;
  }
  return sum;
}

// ---- sampling at coordinates

TensorSpecs SampleImages::infer(std::span<const TensorSpec> in) const {
  const Shape& places = in[1].shape;
  return {{in[0].dtype, {in[0].shape[0], places[1], places[2], in[0].shape[3]}}};
}
Tensors SampleImages::decompose(std::span<const Tensor> in) const {
  const int64_t batch = in[0].dim(0), h = in[0].dim(1), w = in[0].dim(2), c = in[0].dim(3);
  const Shape flat{batch, in[1].dim(1) * in[1].dim(2), 1};
  const Tensor result =
      sampled(ops::reshape(in[0], {batch, h * w, c}), {h, w},
              {ops::reshape(in[1], flat), ops::reshape(in[2], flat)}, order, fill, fill_value);
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
  const Shape plane{1, h * w, 1};
  const Tensor x =
      ops::reshape(ops::broadcast_to(ops::positions(w, 1, 2, images.dtype()), {h, w}), plane);
  const Tensor y =
      ops::reshape(ops::broadcast_to(ops::positions(h, 0, 2, images.dtype()), {h, w}), plane);
  const Tensors n = ops::split(ops::expand_dims(in[1], 2), std::vector<int64_t>(8, 1), 1);
  Tensor from_x = n[0] * x + n[1] * y + n[2], from_y = n[3] * x + n[4] * y + n[5];
  if (perspective) {
    const Tensor scale = n[6] * x + n[7] * y + 1.0;
    from_x = from_x / scale, from_y = from_y / scale;
  } else {
    const Tensor channel = ops::positions(c, 2, 3, images.dtype());
    from_x = from_x + n[7] * channel, from_y = from_y + n[6] * channel;
  }
  const Shape points{batch, h * w, from_x.dim(2)};
  const Tensor result =
      sampled(ops::reshape(images, {batch, h * w, c}), {h, w},
              {ops::broadcast_to(from_y, points), ops::broadcast_to(from_x, points)}, order, fill,
              fill_value);
  return {ops::reshape(result, images.shape())};
}

Tensor projected_images(const Tensor& images, const Tensor& transforms, bool perspective,
                        int64_t order, FillMode fill, double fill_value) {
  ProjectImages op;
  op.perspective = perspective, op.order = order, op.fill = fill, op.fill_value = fill_value;
  return apply1(op, {images, ops::cast(transforms, images.dtype())});
}

}  // namespace crescent
