// Concatenation, slices and padding.
#include "program/support.h"

namespace crescent {
namespace {

/// The largest accepted position. The sum of two positions up to this limit does not overflow.
constexpr int64_t kMaxPosition = int64_t{1} << 60;

Slice whole_slice(const Tensor& x) {
  Slice op;
  op.start.assign(x.rank(), 0);
  op.size.assign(x.rank(), -1);
  op.stride.assign(x.rank(), 1);
  return op;
}

}  // namespace

TensorSpecs Concat::infer(std::span<const TensorSpec> in) const {
  Shape shape = in[0].shape;
  int64_t length = 0;
  for (const TensorSpec& spec : in) {
    Shape other_shape = spec.shape;
    if (other_shape.rank() != shape.rank())
      fail("concatenate: shapes ", shapes_text(in), " have different ranks");
    if (spec.dtype != in[0].dtype)
      fail("concatenate: dtypes ", in[0].dtype, " and ", spec.dtype, " differ");
    length = length < 0 || other_shape[axis] < 0 ? -1 : length + other_shape[axis];
    other_shape.set(axis, shape[axis]);
    if (!other_shape.compatible(shape))
      fail("concatenate: shapes ", shapes_text(in), " differ beyond axis ", axis);
    for (int i = 0; i < shape.rank(); ++i) shape.set(i, std::max(shape[i], other_shape[i]));
  }
  shape.set(axis, length);
  return {{in[0].dtype, shape}};
}
Tensors Concat::vjp(const Vjp& v) const {
  Tensors result;
  int64_t start = 0;
  for (size_t i = 0; i < v.inputs.size(); ++i) {
    const int64_t length = std::max<int64_t>(v.inputs[i].dim(axis), 0);
    result.push_back(v.wanted[i] ? ops::slice_axis(v.gradients[0], axis, start, start + length)
                                 : Tensor());
    start += length;
  }
  return result;
}

TensorSpecs Slice::infer(std::span<const TensorSpec> in) const {
  const Shape& x = in[0].shape;
  expect_one_per_axis("slice", start.size(), x, "start");
  expect_one_per_axis("slice", size.size(), x, "size");
  expect_one_per_axis("slice", stride.size(), x, "stride");
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    const size_t axis = i;
    const int64_t dim = x[i], step = std::min(stride[axis], kMaxPosition);
    if (start[axis] < 0 || step < 1 || size[axis] < -1)
      fail("slice: start ", start[axis], ", size ", size[axis], " and stride ", step,
           " make no sense");
    if (start[axis] > kMaxPosition || size[axis] > kMaxPosition)
      fail("slice: position ", std::max(start[axis], size[axis]), " is out of range for shape ", x);
    if (dim < 0) {
      shape.append(size[axis]);
      continue;
    }
    const int64_t count = size[axis] >= 0      ? size[axis]
                          : dim <= start[axis] ? 0
                                               : (dim - start[axis] - 1) / step + 1;
    int64_t last_index = start[axis];
    const bool overflows =
        count > 0 && (__builtin_mul_overflow(count - 1, step, &last_index) ||
                      __builtin_add_overflow(last_index, start[axis] + 1, &last_index));
    if (overflows || last_index > dim)
      fail("slice: positions ", start[axis], " to ", last_index, " of axis ", i,
           " are out of range for shape ", x);
    shape.append(count);
  }
  return {{in[0].dtype, shape}};
}
Tensors Slice::vjp(const Vjp& v) const {
  const Shape &x = v.inputs[0].shape(), &y = v.outputs[0].shape();
  if (!x.is_known())
    // x is abstract, so only the shape and dtype of its gradient matter
    return {ops::zeros_like(v.inputs[0])};
  Pad op;
  for (int i = 0; i < x.rank(); ++i) {
    const size_t axis = i;
    const int64_t covered_length = y[i] == 0 ? 0 : (y[i] - 1) * stride[axis] + 1;
    op.before.push_back(start[axis]);
    op.after.push_back(x[i] - start[axis] - covered_length);
    op.inner.push_back(stride[axis] - 1);
  }
  return {apply1(op, {v.gradients[0]})};
}

TensorSpecs Pad::infer(std::span<const TensorSpec> in) const {
  const Shape& x = in[0].shape;
  expect_one_per_axis("pad", before.size(), x, "width before");
  expect_one_per_axis("pad", after.size(), x, "width after");
  expect_one_per_axis("pad", inner.size(), x, "inner width");
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    const size_t axis = i;
    if (before[axis] < 0 || after[axis] < 0 || inner[axis] < 0)
      fail("pad: widths cannot be negative");
    if (std::max({before[axis], after[axis], inner[axis]}) > kMaxLength)
      fail("pad: a width of more than ", kMaxLength, " is too large");
    shape.append(x[i] < 0 ? -1
                          : before[axis] + x[i] + std::max<int64_t>(x[i] - 1, 0) * inner[axis] +
                                after[axis]);
  }
  return {{in[0].dtype, shape}};
}
Tensors Pad::vjp(const Vjp& v) const {
  Slice op;
  op.start = before;
  for (int64_t dim : v.inputs[0].shape()) op.size.push_back(dim);
  for (int64_t width : inner) op.stride.push_back(width + 1);
  return {apply1(op, {v.gradients[0]})};
}

namespace ops {

Tensor concatenate(std::span<const Tensor> tensors, int axis) {
  if (tensors.empty()) fail("concatenate: expected at least one tensor");
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = promote(dtype, t.dtype());
  auto op = std::make_shared<Concat>();
  op->axis = normal_axis("concatenate", axis, tensors[0].shape());
  if (tensors.size() == 1) return tensors[0];
  Tensors cast_tensors;
  for (const Tensor& t : tensors) cast_tensors.push_back(cast(t, dtype));
  return crescent::apply(OpPtr(op), cast_tensors).front();
}

Tensor stack(std::span<const Tensor> tensors, int axis) {
  if (tensors.empty()) fail("stack: expected at least one tensor");
  Tensors expanded_tensors;
  for (const Tensor& t : tensors) {
    if (!t.shape().compatible(tensors[0].shape()))
      fail("stack: shapes ", tensors[0].shape(), " and ", t.shape(), " differ");
    expanded_tensors.push_back(expand_dims(t, axis));
  }
  return concatenate(expanded_tensors, axis);
}

Tensors split(const Tensor& x, const std::vector<int64_t>& sizes, int axis) {
  const int positive_axis = normal_axis("split", axis, x.shape());
  int64_t size_sum = 0;
  for (int64_t size : sizes) {
    if (size < 0 || __builtin_add_overflow(size_sum, size, &size_sum))
      fail("split: a part cannot have size ", size);
  }
  if (x.dim(positive_axis) >= 0 && size_sum != x.dim(positive_axis))
    fail("split: sizes add up to ", size_sum, ", axis ", axis, " of shape ", x.shape(),
         " has another length");
  Tensors parts;
  int64_t start = 0;
  for (int64_t size : sizes) {
    Slice op = whole_slice(x);
    op.start[positive_axis] = start;
    op.size[positive_axis] = size;
    parts.push_back(apply1(op, {x}));
    start += size;
  }
  return parts;
}

Tensor slice(const Tensor& x, const std::vector<int64_t>& start, const std::vector<int64_t>& size) {
  if (start.size() != size.size() || size.size() > static_cast<size_t>(x.rank()))
    fail("slice: expected a start and a size for each axis of shape ", x.shape());
  Slice op = whole_slice(x);
  std::copy(start.begin(), start.end(), op.start.begin());
  std::copy(size.begin(), size.end(), op.size.begin());
  return apply1(op, {x});
}

Tensor slice_axis(const Tensor& x, int axis, int64_t first, int64_t last, int64_t step) {
  if (step < 1) fail("slice: expected a positive step, got ", step);
  const int positive_axis = normal_axis("slice", axis, x.shape());
  const size_t axis_index = positive_axis;
  const int64_t dim = x.dim(positive_axis);
  Slice op = whole_slice(x);
  op.stride[axis_index] = step;
  if (dim >= 0) {
    auto position = [&](int64_t p) { return std::clamp<int64_t>(p < 0 ? p + dim : p, 0, dim); };
    first = position(first), last = position(last);
    if (first == 0 && last == dim && step == 1) return x;
    op.size[axis_index] = last <= first ? 0 : (last - first - 1) / step + 1;
  } else if (first >= 0 && last >= 0) {
    op.size[axis_index] = last <= first ? 0 : (last - first - 1) / step + 1;
  }
  op.start[axis_index] = std::max<int64_t>(first, 0);
  return apply1(op, {x});
}

Tensor pad(const Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
           double value) {
  Pad op;
  op.before = before, op.after = after, op.value = value;
  op.inner.assign(before.size(), 0);
  return apply1(op, {x});
}

}  // namespace ops
}  // namespace crescent
