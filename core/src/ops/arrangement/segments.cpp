#include "ops/arrangement/segments.h"

#include "crescent/ops/indexing.h"
#include "crescent/tensor/with_type.h"
#include "ops/functions/array_ops.h"

namespace crescent {
namespace {

/// Reduces the rows of x to `count` rows: row i is the reduction of the rows whose id is i. The
/// inputs are x and the ids.
struct SegmentReduce final : OpOf<SegmentReduce> {
  static constexpr const char* kName = "segment_reduce";
  SegmentKind kind{};
  int64_t count = 0;
  auto fields() const { return std::tie(kind, count); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    Shape shape = in[0].shape;
    shape.set(0, count);
    return {{in[0].dtype, shape}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    with_type(in[0].dtype(), [&]<class T>(T) { reduce<T>(in[0], in[1], out[0]); });
    return true;
  }
  Tensors vjp(const Vjp& v) const override {
    const Tensor &x = v.inputs[0], &ids = v.inputs[1], &g = v.gradients[0];
    const auto gather_by_id = [&](const Tensor& segment_values) {
      return ops::gather(segment_values, ids, 0);
    };
    if (kind != SegmentKind::prod) {
      const Tensor is_result = ops::cast(ops::equal(x, gather_by_id(v.outputs[0])), x.dtype());
      const Tensor tie_count = sum_of_segments(is_result, ids, count);
      return {gather_by_id(g / ops::maximum(tie_count, 1.0)) * is_result, Tensor()};
    }
    // The gradient of a product with respect to a factor is the product of all other rows of the
    // segment. If exactly one row is zero, only the gradient of that row is not zero.
    const Tensor is_zero = ops::equal(x, 0);
    const Tensor zero_count =
        gather_by_id(sum_of_segments(ops::cast(is_zero, x.dtype()), ids, count));
    const Tensor without_zeros = ops::where(is_zero, 1.0, x);
    const Tensor segment_results = gather_by_id(segment(kind, without_zeros, ids, count));
    const Tensor gradient_of_zero = ops::where(ops::equal(zero_count, 1), segment_results, 0.0);
    const Tensor gradient_of_nonzeros =
        ops::where(ops::equal(zero_count, 0), segment_results / without_zeros, 0.0);
    return {gather_by_id(g) * ops::where(is_zero, gradient_of_zero, gradient_of_nonzeros),
            Tensor()};
  }

 private:
  template <class T>
  T initial_value() const {
    using Limits = std::numeric_limits<T>;
    if (kind == SegmentKind::prod) return T(1);
    if (kind == SegmentKind::max)
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <class T>
  T combined(T a, T b) const {
    if (kind == SegmentKind::prod) return static_cast<T>(a * b);
    if (b != b) return b;  // NaN
    return kind == SegmentKind::max ? std::max(a, b) : std::min(a, b);
  }
  template <class T>
  void reduce(const Tensor& x, const Tensor& ids, Tensor& out) const {
    T* target = out.mutable_data<T>();
    std::fill(target, target + out.size(), initial_value<T>());
    const auto* source = x.data<T>();
    const auto* row_segments = ids.data<int32_t>();
    const int64_t row_count = x.dim(0), width = row_count ? x.size() / row_count : 0;
    for (int64_t i = 0; i < row_count; ++i)
      for (int64_t j = 0; j < width; ++j) {
        T& element = target[row_segments[i] * width + j];
        element = combined(element, source[i * width + j]);
      }
  }
};

int64_t segment_count(const char* name, const Tensor& ids, std::optional<int64_t> count) {
  if (count) return *count;
  if (ids.is_abstract()) fail(name, ": num_segments must be given while a program is recorded");
  return ids.size() == 0 ? 0 : static_cast<int64_t>(ops::max(ids).item()) + 1;
}

/// The ids as int32, after a check that there is one for each row of x.
Tensor row_ids(const Tensor& x, const Tensor& ids) {
  if (ids.rank() != 1 || x.rank() < 1 || !ids.shape().compatible(x.shape().slice(0, 1)))
    fail("segments: expected a number for each row, got shapes ", ids.shape(), " and ", x.shape());
  return ops::cast(ids, DType::int32);
}

/// Replaces ids out of range by `count`, the number of an additional last row, which callers cut
/// off.
Tensor valid_ids(const Tensor& x, const Tensor& ids, int64_t count) {
  const Tensor int_ids = row_ids(x, ids);
  return ops::where(ops::less(int_ids, 0), count, ops::minimum(int_ids, count));
}

}  // namespace

Tensor sum_of_segments(const Tensor& x, const Tensor& ids, int64_t count) {
  if (x.dtype() == DType::boolean)
    return ops::cast(sum_of_segments(ops::cast(x, DType::int32), ids, count), x.dtype());
  const Tensor sums = sum_of_valid_segments(x, valid_ids(x, ids, count), count + 1);
  return ops::slice_axis(sums, 0, 0, count);
}

Tensor sum_of_valid_segments(const Tensor& x, const Tensor& ids, int64_t count) {
  ScatterAdd op;
  op.size = count;
  return apply1(op, {row_ids(x, ids), x});
}

Tensor segment(SegmentKind kind, const Tensor& x, const Tensor& ids, int64_t count) {
  SegmentReduce op;
  op.kind = kind;
  op.count = count + 1;
  const Tensor segment_results = apply1(op, {without_halves(x), valid_ids(x, ids, count)});
  return ops::cast(ops::slice_axis(segment_results, 0, 0, count), x.dtype());
}

namespace ops {

Tensor segment_sum(const Tensor& data, const Tensor& segment_ids, std::optional<int64_t> count) {
  return sum_of_segments(data, segment_ids, segment_count("segment_sum", segment_ids, count));
}
Tensor segment_prod(const Tensor& data, const Tensor& segment_ids, std::optional<int64_t> count) {
  return segment(SegmentKind::prod, data, segment_ids,
                 segment_count("segment", segment_ids, count));
}
Tensor segment_max(const Tensor& data, const Tensor& segment_ids, std::optional<int64_t> count) {
  return segment(SegmentKind::max, data, segment_ids, segment_count("segment", segment_ids, count));
}
Tensor segment_min(const Tensor& data, const Tensor& segment_ids, std::optional<int64_t> count) {
  return segment(SegmentKind::min, data, segment_ids, segment_count("segment", segment_ids, count));
}

}  // namespace ops
}  // namespace crescent
