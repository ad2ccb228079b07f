// Ops that processes do together.
#include "crescent/communicator.h"
#include "program/ops/support.h"

namespace crescent {
namespace {

Tensor all_reduce_op(const Tensor& x, ReduceKind kind) {
  AllReduce op;
  op.kind = kind;
  return apply1(op, {x});
}

}  // namespace

std::string AllReduce::label() const { return concat(kName, "_", name_of(kind)); }

TensorSpecs AllReduce::infer(std::span<const TensorSpec> in) const {
  if (kind != ReduceKind::sum && kind != ReduceKind::max && kind != ReduceKind::min)
    fail(kName, ": expected sum, mean, max or min, got ", name_of(kind));
  if (in[0].dtype == DType::boolean) fail(kName, ": expected numbers, got bool");
  return {in[0]};
}

/// Of an extreme it is shared among equals, as within one process.
Tensors AllReduce::vjp(const Vjp& v) const {
  const Tensor &x = v.inputs[0], &y = v.outputs[0];
  const Tensor total = all_reduce_op(v.gradients[0], ReduceKind::sum);
  if (kind == ReduceKind::sum) return {total};
  const Tensor is_extreme = ops::cast(ops::equal(x, y), x.dtype());
  return {is_extreme * (total / all_reduce_op(is_extreme, ReduceKind::sum))};
}

Tensor ops::all_reduce(const Tensor& x, ReduceKind kind) {
  if (kind != ReduceKind::mean) return all_reduce_op(x, kind);
  const Tensor sum = all_reduce_op(as_floating(x), ReduceKind::sum);
  return sum / static_cast<double>(communicator()->size());
}

}  // namespace crescent
