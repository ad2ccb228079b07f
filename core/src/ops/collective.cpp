// Collective ops of several processes.
#include <array>

#include "crescent/program/division.h"
#include "program/batch_share.h"
#include "program/recording/lockstep.h"
#include "program/support.h"

namespace crescent {
namespace {

Tensor all_reduce_op(const Tensor& x, ReduceKind kind) {
  AllReduce op;
  op.kind = kind;
  return apply1(op, {x});
}

/// Returns zeros in place of x. A process for which the batch has no row computes a row of another
/// process, so that all processes run the same ops; its results must not count in sums. `where`
/// keeps x in the graph, so that all processes run the same ops for the gradient too.
Tensor zeros_keeping_input(const Tensor& x) {
  return ops::where(Tensor::full({}, 0, DType::boolean), x, scalar_like(x, 0));
}

}  // namespace

std::string AllReduce::label() const { return concat(kName, "_", name_of(kind)); }

TensorSpecs AllReduce::infer(std::span<const TensorSpec> in) const {
  if (kind == ReduceKind::prod)
    fail(kName, ": expected sum, mean, max or min, got ", name_of(kind));
  if (in[0].dtype == DType::boolean) fail(kName, ": expected numbers, got bool");
  if (kind == ReduceKind::mean && !is_floating(in[0].dtype))
    fail(kName, ": expected floating-point numbers for the mean, got ", in[0].dtype);
  return {in[0]};
}

/// The gradient of a maximum or minimum is divided among all elements, of all processes, that are
/// equal to it.
Tensors AllReduce::vjp(const Vjp& v) const {
  const Tensor &x = v.inputs[0], &y = v.outputs[0];
  if (kind == ReduceKind::sum || kind == ReduceKind::mean)
    return {all_reduce_op(v.gradients[0], kind)};
  const Tensor gradient_sum = all_reduce_op(v.gradients[0], ReduceKind::sum);
  const Tensor is_extreme = ops::cast(ops::equal(x, y), x.dtype());
  return {is_extreme * (gradient_sum / all_reduce_op(is_extreme, ReduceKind::sum))};
}

Tensor ops::all_reduce(const Tensor& x, ReduceKind kind) {
  const bool is_sum = kind == ReduceKind::sum || kind == ReduceKind::mean;
  const Tensor values = kind == ReduceKind::mean ? as_floating(x) : x;
  if (Lockstep* lockstep = Lockstep::current()) {
    AllReduce op;
    op.kind = kind;
    op.infer(std::array{values.spec()});
    const Tensor reduced_values = lockstep->reduce(values, is_sum ? ReduceKind::sum : kind);
    return kind == ReduceKind::mean ? reduced_values / static_cast<double>(lockstep->shards())
                                    : reduced_values;
  }
  return all_reduce_op(is_sum && ShareScope::is_empty() ? zeros_keeping_input(values) : values,
                       kind);
}

TensorSpecs AllGather::infer(std::span<const TensorSpec> in) const {
  const Division division = this->division();
  const Shape& own_shape = in[0].shape;
  if (axis < 0 || axis >= own_shape.rank())
    fail(kName, ": expected an axis of shape ", own_shape, ", got ", axis);
  if (parts < 1 || stride < 1 || processes < parts * stride || part < 0 || part >= parts)
    fail(kName, ": expected one of ", parts, " parts of ", processes, " processes, got ", part);
  const int64_t expected_rows = division.begin(part + 1, size) - division.begin(part, size);
  if (own_shape[axis] != expected_rows)
    fail(kName, ": part ", part, " of ", parts, " has ", expected_rows, " of ", size,
         " elements along axis ", axis, ", got shape ", own_shape);
  TensorSpec gathered_spec = in[0];
  gathered_spec.shape.set(axis, size);
  return {gathered_spec};
}

Tensors AllGather::vjp(const Vjp& v) const {
  Tensor whole_gradient = v.gradients[0];
  if (partial) whole_gradient = all_reduce_op(whole_gradient, ReduceKind::sum);
  const Division division = this->division();
  return {ops::slice_axis(whole_gradient, axis, division.begin(part, size),
                          division.begin(part + 1, size))};
}

}  // namespace crescent
