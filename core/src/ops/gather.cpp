// Ops with indices: gather, scatter, one-hot; and ops that make tensors from a shape alone.
#include "program/large_results.h"
#include "program/support.h"

namespace crescent {
namespace {

void expect_indices(std::string_view op, DType dtype) {
  if (!is_integer(dtype)) fail(op, ": expected integer indices, got ", dtype);
}

void expect_nonempty_axis(std::string_view op, const Shape& x, int axis, const Shape& indices) {
  if (x[axis] == 0 && indices.is_known() && indices.size() > 0)
    fail(op, ": shape ", x, " has nothing along axis ", axis);
}

/// Checks indices along an axis and returns them as integers.
Tensor checked_indices(const std::string& op, const Tensor& indices, const Shape& shape, int axis) {
  expect_indices(op, indices.dtype());
  return ops::check_indices(indices, shape[axis], op + ": index",
                            concat("axis ", axis, " of shape ", shape));
}

}  // namespace

TensorSpecs CheckIndices::infer(std::span<const TensorSpec> in) const {
  const DType dtype = in[0].dtype;
  if (!is_integer(dtype) && !is_floating(dtype)) fail(kName, ": expected numbers, got ", dtype);
  return {{is_integer(dtype) ? dtype : DType::int32, in[0].shape}};
}

TensorSpecs Gather::infer(std::span<const TensorSpec> in) const {
  expect_indices("take", in[1].dtype);
  const Shape& x = in[0].shape;
  expect_nonempty_axis("take", x, normal_axis("take", axis, x), in[1].shape);
  return {{in[0].dtype, x.slice(0, axis).concat(in[1].shape).concat(x.slice(axis + 1, x.rank()))}};
}
Tensors Gather::vjp(const Vjp& v) const {
  if (!v.wanted[0]) return Tensors(2);
  ScatterAdd op;
  op.axis = axis;
  op.size = v.inputs[0].dim(axis);
  return {apply1(op, {v.inputs[1], v.gradients[0]}), Tensor()};
}

TensorSpecs ScatterAdd::infer(std::span<const TensorSpec> in) const {
  expect_indices("scatter_add", in[0].dtype);
  const Shape &indices = in[0].shape, &updates = in[1].shape;
  const int end_axis = axis + indices.rank();
  if (end_axis > updates.rank() || !updates.slice(axis, end_axis).compatible(indices)) {
    fail("scatter_add: indices ", indices, " do not fit updates ", updates, " from axis ", axis);
  }
  return {{in[1].dtype,
           updates.slice(0, axis).concat({size}).concat(updates.slice(end_axis, updates.rank()))}};
}
Tensors ScatterAdd::vjp(const Vjp& v) const {
  return {Tensor(), v.wanted[1] ? ops::gather(v.gradients[0], v.inputs[0], axis) : Tensor()};
}

TensorSpecs TakeAlong::infer(std::span<const TensorSpec> in) const {
  expect_indices("take_along_axis", in[1].dtype);
  const int positive_axis = normal_axis("take_along_axis", axis, in[0].shape);
  Shape expected_shape = in[1].shape;
  const bool has_same_rank = expected_shape.rank() == in[0].shape.rank();
  if (has_same_rank) expected_shape.set(positive_axis, in[0].shape[positive_axis]);
  if (!has_same_rank || !expected_shape.compatible(in[0].shape)) {
    fail("take_along_axis: shapes ", shapes_text(in), " differ beyond axis ", axis);
  }
  expect_nonempty_axis("take_along_axis", in[0].shape, positive_axis, in[1].shape);
  return {{in[0].dtype, in[1].shape}};
}
Tensors TakeAlong::vjp(const Vjp& v) const {
  if (!v.wanted[0]) return Tensors(2);
  return {scatter_along(v.inputs[1], v.gradients[0], v.inputs[0].shape(), axis), Tensor()};
}

TensorSpecs OneHot::infer(std::span<const TensorSpec> in) const {
  expect_indices("one_hot", in[0].dtype);
  if (depth < 0) fail("one_hot: expected a depth of at least 0, got ", depth);
  return {{dtype, in[0].shape.concat({depth})}};
}

TensorSpecs Fill::infer(std::span<const TensorSpec>) const { return {{dtype, shape}}; }

TensorSpecs Iota::infer(std::span<const TensorSpec>) const {
  normal_axis("arange", axis, shape);
  return {{dtype, shape}};
}

namespace ops {

Tensor check_indices(const Tensor& x, int64_t size, const std::string& what,
                     const std::string& of) {
  const bool is_half = x.dtype() == DType::bfloat16 || x.dtype() == DType::float16;
  if (size < 0) return is_integer(x.dtype()) ? x : cast(x, DType::int32);
  CheckIndices op;
  op.size = size, op.what = what, op.of = of;
  return apply1(op, {is_half                       ? cast(x, DType::float32)
                     : x.dtype() == DType::boolean ? cast(x, DType::int32)
                                                   : x});
}

Tensor gather(const Tensor& x, const Tensor& indices, int axis) {
  Gather op;
  op.axis = normal_axis("take", axis, x.shape());
  return apply1(op, {x, checked_indices("take", indices, x.shape(), op.axis)});
}

Tensor gather_along_axis(const Tensor& x, const Tensor& indices, int axis) {
  TakeAlong op;
  op.axis = normal_axis("take_along_axis", axis, x.shape());
  return apply1(op, {x, checked_indices("take_along_axis", indices, x.shape(), op.axis)});
}

Tensor one_hot(const Tensor& indices, int64_t depth, DType dtype) {
  OneHot op;
  op.depth = depth;
  op.dtype = dtype;
  return apply1(op, {indices});
}

Tensor full(const Shape& shape, const Operand& value, DType dtype) {
  if (value.tensor) return broadcast_to(cast(value.tensor, dtype), shape);
  if (shape.is_known() && !LargeResultsAbstract::includes(shape))
    return Tensor::full(shape, value.number, dtype);
  Fill op;
  op.shape = shape;
  op.dtype = dtype;
  op.value = value.number;
  return apply1(op, {});
}

Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }
Tensor zeros_like(const Tensor& x, std::optional<DType> dtype) {
  return full(x.shape(), 0, dtype.value_or(x.dtype()));
}
Tensor ones_like(const Tensor& x, std::optional<DType> dtype) {
  return full(x.shape(), 1, dtype.value_or(x.dtype()));
}

Tensor arange(int64_t n, DType dtype) {
  if (n < 0)
    fail("arange: expected a length of at least 0, got ", n,
         n == -1 ? "; the size of an axis is not known" : "");
  Iota op;
  op.shape = {n};
  op.dtype = dtype;
  return apply1(op, {});
}

Tensor eye(int64_t rows, int64_t columns, DType dtype) {
  return cast(equal(reshape(arange(rows), {rows, 1}), reshape(arange(columns), {1, columns})),
              dtype);
}

}  // namespace ops
}  // namespace crescent
