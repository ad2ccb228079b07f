// Ops that cut images into patches, and add patches up to images.
#include <numeric>

#include "ops/functions/array_ops.h"

namespace crescent {

size_t PatchGrid::hash() const {
  size_t seed = same;
  for (const auto* numbers : {&size, &strides, &dilation})
    detail::mix(seed, detail::hash_field(*numbers));
  return seed;
}

int64_t PatchGrid::area() const {
  return std::accumulate(size.begin(), size.end(), int64_t{1}, std::multiplies<>());
}
int64_t PatchGrid::reach(size_t axis) const { return (size[axis] - 1) * dilation[axis] + 1; }
int64_t PatchGrid::count(size_t axis, int64_t length) const {
  const int64_t stride = strides[axis], free_length = length - reach(axis);
  if (length < 0) return -1;
  return same ? (length + stride - 1) / stride : free_length / stride + 1;
}

std::string to_text(const PatchGrid& grid) {
  return concat(detail::field_text(grid.size), " strides ", detail::field_text(grid.strides),
                " dilation ", detail::field_text(grid.dilation), grid.same ? " same" : " valid");
}

namespace {

constexpr int64_t kMaxPatchNumber = int64_t{1} << 31;

void expect_valid_numbers(const PatchGrid& grid, const Shape& images) {
  int64_t elements = 1;
  for (size_t i = 0; i < grid.size.size(); ++i) {
    for (const auto& [what, number] : {std::pair("size", grid.size[i]),
                                       {"stride", grid.strides[i]},
                                       {"dilation rate", grid.dilation[i]}})
      if (number < 1 || number >= kMaxPatchNumber)
        fail("patches: expected a ", what, " of at least 1, got ", number);
    elements *= grid.size[i];
    if (elements >= kMaxPatchNumber) fail("patches: ", Value(grid.size), " is too large");
  }
  if (images.rank() != static_cast<int>(grid.size.size()) + 2)
    fail("patches: expected ", grid.size.size(), " spatial axes, got shape ", images);
}

void expect_grid(const PatchGrid& grid, const Shape& images) {
  expect_valid_numbers(grid, images);
  for (size_t i = 0; i < grid.size.size(); ++i) {
    const int64_t length = images[static_cast<int>(i) + 1];
    if (!grid.same && length >= 0 && length < grid.reach(i))
      fail("patches: ", to_text(grid), ": they are larger than the images of shape ", images,
           " along axis ", i + 1);
  }
}

Shape image_shape_of(const PatchSum& op, const Shape& patches) {
  Shape image_shape{patches[0]};
  for (int64_t length : op.spatial) image_shape.append(length);
  image_shape.append(patches[-1] < 0 ? -1 : patches[-1] / op.grid.area());
  return image_shape;
}

}  // namespace

TensorSpecs Patches::infer(std::span<const TensorSpec> in) const {
  const Shape& image_shape = in[0].shape;
  expect_grid(grid, image_shape);
  Shape shape{image_shape[0]};
  for (size_t i = 0; i < grid.size.size(); ++i)
    shape.append(grid.count(i, image_shape[static_cast<int>(i) + 1]));
  shape.append(image_shape[-1] < 0 ? -1 : image_shape[-1] * grid.area());
  return {{in[0].dtype, shape}};
}
Tensors Patches::vjp(const Vjp& v) const {
  const Shape image_shape = v.inputs[0].shape();
  return {sum_of_patches(v.gradients[0], grid, {image_shape.begin() + 1, image_shape.end() - 1})};
}

TensorSpecs PatchSum::infer(std::span<const TensorSpec> in) const {
  const Shape& patch_shape = in[0].shape;
  expect_valid_numbers(grid, patch_shape);
  Patches patches_op;
  patches_op.grid = grid;
  const TensorSpec image{in[0].dtype, image_shape_of(*this, patch_shape)};
  if (!patches_op.infer({&image, 1})[0].shape.compatible(patch_shape))
    fail("patches: shape ", patch_shape, " does not give images of ", Value(spatial));
  return {image};
}
Tensors PatchSum::vjp(const Vjp& v) const { return {patches_of(v.gradients[0], grid)}; }

TensorSpecs Columns::infer(std::span<const TensorSpec> in) const {
  const Shape& x = in[0].shape;
  expect_grid(grid, {x[0], x[2], x[3], x[1]});
  const int64_t rows = grid.count(0, x[2]), columns = grid.count(1, x[3]);
  return {
      {in[0].dtype,
       {x[0], x[1] < 0 ? -1 : x[1] * grid.area(), rows < 0 || columns < 0 ? -1 : rows * columns}}};
}
Tensors Columns::vjp(const Vjp& v) const {
  return {sum_of_columns(v.gradients[0], grid, {v.inputs[0].dim(2), v.inputs[0].dim(3)})};
}

Tensor patches_of(const Tensor& images, const PatchGrid& grid) {
  Patches op;
  op.grid = grid;
  return apply1(op, {images});
}

Tensor sum_of_patches(const Tensor& patches, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial_sizes) {
  PatchSum op;
  op.grid = grid, op.spatial = spatial_sizes;
  return ops::cast(apply1(op, {without_halves(patches)}), patches.dtype());
}

Tensor columns_of(const Tensor& images, const PatchGrid& grid) {
  Columns op;
  op.grid = grid;
  return apply1(op, {images});
}

Tensor sum_of_columns(const Tensor& columns, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial_sizes) {
  const int64_t area = grid.area(), channels = columns.dim(1) / area,
                row_count = grid.count(0, spatial_sizes[0]),
                column_count = grid.count(1, spatial_sizes[1]);
  const Tensor grouped_columns =
      ops::reshape(columns, {-1, channels, area, row_count, column_count});
  const Tensor patches = ops::reshape(ops::transpose(grouped_columns, {0, 3, 4, 2, 1}),
                                      {-1, row_count, column_count, area * channels});
  return ops::transpose(sum_of_patches(patches, grid, spatial_sizes), {0, 3, 1, 2});
}

}  // namespace crescent
