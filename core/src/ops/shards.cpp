// Ops on the logical shards of a batch, the parts into which a process divides it: slices,
// concatenation and reductions.
#include "program/recording/shard_sum.h"
#include "program/support.h"

namespace crescent {
namespace {

constexpr size_t kMaxShards = 256;

void check_shards(std::string_view name, std::span<const TensorSpec> in) {
  if (in.empty()) fail(name, ": expected a value of each logical shard, got none");
  if (in.size() > kMaxShards)
    fail(name, ": expected values of at most ", kMaxShards, " logical shards, got ", in.size());
}

/// Combines the values of all shards: those of each half first, then the two results.
Tensor combined_values(std::span<const Tensor> values, ReduceKind kind) {
  if (values.size() == 1) return values[0];
  const size_t half_count = values.size() / 2;
  const Tensor a = combined_values(values.first(half_count), kind),
               b = combined_values(values.subspan(half_count), kind);
  if (kind == ReduceKind::max) return ops::maximum(a, b);
  return kind == ReduceKind::min ? ops::minimum(a, b) : ops::add(a, b);
}

}  // namespace

TensorSpecs ShardSlice::infer(std::span<const TensorSpec> in) const {
  const Shape& shape = in[0].shape;
  if (shape.rank() == 0 || first < 0 || count < 1 || (shape[0] >= 0 && first + count > shape[0]))
    fail(kName, ": expected rows [", first, ", ", first + count, ") of the batch, got ", shape);
  TensorSpec spec = in[0];
  spec.shape.set(0, count);
  return {spec};
}

Tensors ShardSlice::decompose(std::span<const Tensor> in) const {
  return {ops::slice_axis(in[0], 0, first, first + count)};
}

TensorSpecs ShardConcat::infer(std::span<const TensorSpec> in) const {
  check_shards(kName, in);
  TensorSpec spec = in[0];
  int64_t rows = 0;
  for (const TensorSpec& shard_spec : in) {
    if (shard_spec.dtype != spec.dtype || shard_spec.shape.rank() == 0)
      fail(kName, ": expected rows of dtype ", spec.dtype, " from every shard, got ", shard_spec);
    rows += shard_spec.shape[0];
    TensorSpec expected_spec = shard_spec;
    expected_spec.shape.set(0, spec.shape[0]);
    if (expected_spec != in[0])
      fail(kName, ": expected rows like those of ", in[0], ", got ", shard_spec);
  }
  spec.shape.set(0, rows);
  return {spec};
}

Tensors ShardConcat::decompose(std::span<const Tensor> in) const {
  return {ops::concatenate(Tensors(in.begin(), in.end()), 0)};
}

Tensors ShardConcat::vjp(const Vjp& v) const {
  Tensors gradients;
  ShardSlice slice;
  for (const Tensor& rows : v.inputs) {
    slice.count = rows.dim(0);
    gradients.push_back(apply1(slice, {v.gradients[0]}));
    slice.first += slice.count, ++slice.shard;
  }
  return gradients;
}

std::string ShardReduce::label() const { return concat(kName, "_", name_of(kind)); }

TensorSpecs ShardReduce::infer(std::span<const TensorSpec> in) const {
  check_shards(kName, in);
  if (kind != ReduceKind::sum && kind != ReduceKind::max && kind != ReduceKind::min)
    fail(kName, ": expected sum, max or min, got ", name_of(kind));
  if (in[0].dtype == DType::boolean) fail(kName, ": expected numbers, got bool");
  for (const TensorSpec& shard_spec : in)
    if (shard_spec != in[0])
      fail(kName, ": expected ", in[0], " from every shard, got ", shard_spec);
  return {in[0]};
}

Tensors ShardReduce::decompose(std::span<const Tensor> in) const {
  return {combined_values(in, kind)};
}

/// The gradient of a maximum or minimum is divided among the elements that are equal to it, as in a
/// reduction within one shard.
Tensors ShardReduce::vjp(const Vjp& v) const {
  Tensor gradient = v.gradients[0];
  if (kind == ReduceKind::sum) return Tensors(v.inputs.size(), gradient);
  Tensors extreme_masks, gradients;
  for (const Tensor& x : v.inputs)
    extreme_masks.push_back(ops::cast(ops::equal(x, v.outputs[0]), x.dtype()));
  gradient = gradient / shard_sum(extreme_masks);
  for (const Tensor& is_extreme : extreme_masks) gradients.push_back(is_extreme * gradient);
  return gradients;
}

}  // namespace crescent
