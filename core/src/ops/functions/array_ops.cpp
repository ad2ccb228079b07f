// Ops that compute one function each: roll, rotations, differences, cumulative products and others.
#include "ops/functions/array_ops.h"

#include "program/support.h"

namespace crescent {

// ---- roll

TensorSpecs Roll::infer(std::span<const TensorSpec> in) const { return {in[0]}; }
Tensors Roll::decompose(std::span<const Tensor> in) const {
  const int64_t n = in[0].dim(axis);
  return {ops::concatenate(Tensors{ops::slice_axis(in[0], axis, n - shift, n),
                                   ops::slice_axis(in[0], axis, 0, n - shift)},
                           axis)};
}
Tensors Roll::vjp(const Vjp& v) const {
  return {rolled(v.gradients[0], axis, v.inputs[0].dim(axis) - shift)};
}

Tensor rolled(const Tensor& x, int axis, int64_t shift) {
  Roll op;
  op.axis = axis, op.shift = shift;
  return apply1(op, {x});
}

// ---- rotation by 90 degrees

TensorSpecs Rot90::infer(std::span<const TensorSpec> in) const {
  TensorSpec result = in[0];
  result.shape.set(from, in[0].shape[to]);
  result.shape.set(to, in[0].shape[from]);
  return {result};
}
Tensors Rot90::decompose(std::span<const Tensor> in) const {
  return {ops::flip(ops::swap_axes(in[0], from, to), {back ? to : from})};
}
Tensors Rot90::vjp(const Vjp& v) const {
  return {back ? quarter_turned(v.gradients[0], from, to)
               : quarter_turned(v.gradients[0], to, from)};
}

Tensor quarter_turned(const Tensor& x, int from, int to) {
  Rot90 op;
  op.from = std::min(from, to), op.to = std::max(from, to), op.back = from > to;
  return apply1(op, {x});
}

// ---- differences of neighbours

TensorSpecs Diff::infer(std::span<const TensorSpec> in) const {
  TensorSpec result_spec = in[0];
  const int64_t n = in[0].shape[axis];
  result_spec.shape.set(axis, n < 0 ? n : n - 1);
  return {result_spec};
}
Tensors Diff::decompose(std::span<const Tensor> in) const {
  const int64_t n = in[0].dim(axis);
  return {ops::slice_axis(in[0], axis, 1, n) - ops::slice_axis(in[0], axis, 0, n - 1)};
}
Tensors Diff::vjp(const Vjp& v) const {
  std::vector<int64_t> single_padding(v.inputs[0].rank(), 0), no_padding = single_padding;
  single_padding[axis] = 1;
  return {ops::pad(v.gradients[0], single_padding, no_padding) -
          ops::pad(v.gradients[0], no_padding, single_padding)};
}

// ---- cumulative products

TensorSpecs Cumprod::infer(std::span<const TensorSpec> in) const { return {in[0]}; }
/// Cumulative products by doubling: before the step with the shift s, each element is the product
/// of the s elements that end at its position. The step multiplies it by the element s positions
/// before, which makes it the product of 2 s elements.
Tensors Cumprod::decompose(std::span<const Tensor> in) const {
  Tensor x = in[0];
  const int64_t n = x.dim(axis);
  if (n < 0) fail("cumprod: the size of the axis must be known, got shape ", x.shape());
  std::vector<int64_t> before(x.rank(), 0), after = before;
  for (int64_t element_shift = 1; element_shift < n; element_shift *= 2) {
    before[axis] = element_shift;
    x = x * ops::pad(ops::slice_axis(x, axis, 0, n - element_shift), before, after, 1);
  }
  return {x};
}

// ---- binary functions

std::string to_text(Pairing kind) {
  constexpr const char* kNames[] = {"bitwise_and", "bitwise_or", "bitwise_xor", "left_shift",
                                    "right_shift", "gcd",        "lcm",         "nextafter"};
  return kNames[static_cast<size_t>(kind)];
}
TensorSpecs Pairs::infer(std::span<const TensorSpec> in) const { return {in[0]}; }

// ---- replacing parts

TensorSpecs PartUpdate::infer(std::span<const TensorSpec> in) const {
  const Shape &x = in[0].shape, &part_shape = in[1].shape;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t part_start = start[i], part_size = std::max<int64_t>(part_shape[i], 0);
    if (part_start < 0 || (x[i] >= 0 && part_start > x[i] - part_size))
      fail("slice_update: updates of shape ", part_shape, " do not fit shape ", x, " from ",
           Value(start));
  }
  return {in[0]};
}
Tensors PartUpdate::vjp(const Vjp& v) const {
  const Tensor &g = v.gradients[0], &part = v.inputs[1];
  const Shape& size = part.shape();
  return {with_replaced_part(g, ops::zeros_like(part), start),
          ops::slice(g, start, {size.begin(), size.end()})};
}

Tensor with_replaced_part(const Tensor& x, const Tensor& replacement,
                          const std::vector<int64_t>& start) {
  PartUpdate op;
  op.start = start;
  return apply1(op, {x, replacement});
}

// ---- order statistics

TensorSpecs OrderStatistics::infer(std::span<const TensorSpec> in) const {
  return {{in[0].dtype, in[1].shape}, {DType::int32, in[1].shape}};
}
Tensors OrderStatistics::decompose(std::span<const Tensor> in) const {
  const Tensor descending_ranks = ops::subtract(in[0].dim(-1) - 1, in[1]);
  Tensors results;
  for (const Tensor& sorted : ops::top_k(in[0], in[0].dim(-1)))
    results.push_back(ops::gather_along_axis(sorted, descending_ranks, -1));
  return results;
}
Tensors OrderStatistics::vjp(const Vjp& v) const {
  if (!v.gradients[0]) return {Tensor(), Tensor()};
  return {scatter_along(v.outputs[1], v.gradients[0], v.inputs[0].shape(), -1), Tensor()};
}

Tensor order_statistics(const Tensor& x, const Tensor& ranks) {
  return apply(OrderStatistics{}, {x, ranks})[0];
}

// ---- searches and counts

TensorSpecs Searchsorted::infer(std::span<const TensorSpec> in) const {
  return {{DType::int32, in[1].shape}};
}
TensorSpecs Isin::infer(std::span<const TensorSpec> in) const {
  return {{DType::boolean, in[0].shape}};
}
TensorSpecs Bincount::infer(std::span<const TensorSpec>) const { return {{DType::int32, {count}}}; }

}  // namespace crescent
