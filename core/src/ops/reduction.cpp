// Reductions along axes.
#include <array>
#include <limits>

#include "program/support.h"

namespace crescent {
namespace {

constexpr std::array<const char*, 7> kReduceNames{"sum",  "mean", "max", "min",
                                                  "prod", "any",  "all"};

/// The number of elements that are reduced to one element. An axis of unknown size counts as 1: the
/// tensor is then abstract, and its values are not computed.
int64_t reduced_element_count(const Shape& shape, const std::vector<int>& axes) {
  int64_t count = 1;
  for (int axis : axes) count *= std::max<int64_t>(shape[axis], shape[axis] < 0 ? 1 : 0);
  return count;
}

Shape reduced_shape(const Shape& shape, const std::vector<int>& axes, bool keepdims) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool is_removed = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!is_removed) result.append(shape[i]);
    if (is_removed && keepdims) result.append(1);
  }
  return result;
}

/// The sum or mean of complex numbers by real and imaginary parts.
Tensor reduce_complex(ReduceKind kind, const Tensor& x, const ops::Axes& axes, bool keepdims);

Tensor reduce(ReduceKind kind, const Tensor& x, const ops::Axes& axes, bool keepdims) {
  if (x.dtype() == DType::complex64 && (kind == ReduceKind::sum || kind == ReduceKind::mean))
    return reduce_complex(kind, x, axes, keepdims);
  Reduce op;
  op.kind = kind;
  op.axes = normal_axes(name_of(kind), axes, x.shape());
  op.keepdims = keepdims;
  if (op.axes.empty() && kind != ReduceKind::any && kind != ReduceKind::all &&
      x.dtype() != DType::boolean)
    return x;
  return apply1(op, {x});
}

Tensor reduce_complex(ReduceKind kind, const Tensor& x, const ops::Axes& axes, bool keepdims) {
  std::vector<int> positive_axes = normal_axes(name_of(kind), axes, x.shape());
  if (positive_axes.empty()) return x;
  return ops::view_as_complex(reduce(kind, ops::view_as_real(x), positive_axes, keepdims));
}

Tensor with_small_integers_widened(const Tensor& x) {
  const bool is_small_integer =
      x.dtype() == DType::boolean || (is_integer(x.dtype()) && size_of(x.dtype()) < 4);
  return is_small_integer ? ops::cast(x, DType::int32) : x;
}

/// The gradient of a product: g times the product of all other elements, exact also if some
/// elements are zero.
Tensor product_gradient(const Tensor& x, const Tensor& g, const std::vector<int>& axes) {
  using namespace ops;
  const Tensor is_zero = equal(x, 0.0);
  const Tensor zero_count = sum(cast(is_zero, x.dtype()), axes, true);
  const Tensor product_of_others = prod(where(is_zero, 1.0, x), axes, true);
  const Tensor at_zero = where(equal(zero_count, 1.0), product_of_others, 0.0);
  const Tensor product_without_zeros =
      where(equal(zero_count, 0.0), product_of_others, 0.0) / where(is_zero, 1.0, x);
  return g * where(is_zero, at_zero, product_without_zeros);
}

/// Computes f(x) and casts the result to the dtype of x. If x has half-width floats, f is computed
/// in float32, because squares and counts may exceed the range of float16.
template <class F>
Tensor apply_in_wide_dtype(const Tensor& input, const F& f) {
  const Tensor x = as_floating(input);
  return ops::cast(f(ops::cast(x, statistics_dtype(x.dtype()))), x.dtype());
}

Tensor log_sum_exp(const Tensor& x, const ops::Axes& axes, bool keepdims) {
  using namespace ops;
  const Tensor maximum = stop_gradient(max(x, axes, true));
  const Tensor shift = where(isfinite(maximum), maximum, 0.0);
  const Tensor result = log(sum(exp(x - shift), axes, true)) + shift;
  return keepdims
             ? result
             : reshape(result,
                       reduced_shape(x.shape(), normal_axes("logsumexp", axes, x.shape()), false));
}

}  // namespace

const char* name_of(ReduceKind kind) { return kReduceNames[static_cast<size_t>(kind)]; }

std::string Reduce::label() const { return concat("reduce_", name_of(kind)); }
std::string ArgReduce::label() const { return max ? "argmax" : "argmin"; }

TensorSpecs Reduce::infer(std::span<const TensorSpec> in) const {
  const TensorSpec& x = in[0];
  const bool is_logical = kind == ReduceKind::any || kind == ReduceKind::all;
  if (is_logical != (x.dtype == DType::boolean)) {
    fail(name_of(kind), ": expected ", is_logical ? "bool" : "numbers", ", got ", x.dtype);
  }
  if (kind == ReduceKind::mean) expect_floating("mean", x.dtype);
  const bool is_extreme = kind == ReduceKind::max || kind == ReduceKind::min;
  for (int axis : axes) {
    if (is_extreme && x.shape[axis] == 0)
      fail(name_of(kind), ": shape ", x.shape, " has nothing along axis ", axis);
  }
  return {{x.dtype, reduced_shape(x.shape, axes, keepdims)}};
}

Tensors Reduce::vjp(const Vjp& v) const {
  using namespace ops;
  const Tensor& x = v.inputs[0];
  const Shape kept_shape = reduced_shape(x.shape(), axes, true);
  const Tensor g = reshape(v.gradients[0], kept_shape);
  switch (kind) {
    case ReduceKind::sum:
      return {broadcast_to(g, x.shape())};
    case ReduceKind::mean:
      return {broadcast_to(
          apply_in_wide_dtype(g,
                              [&](const Tensor& wide) {
                                return wide * (1.0 / static_cast<double>(
                                                         reduced_element_count(x.shape(), axes)));
                              }),
          x.shape())};
    case ReduceKind::max:
    case ReduceKind::min: {
      const Tensor is_extreme = equal(x, reshape(v.outputs[0], kept_shape));
      const Tensor share = apply_in_wide_dtype(g, [&](const Tensor& wide) {
        return wide / sum(cast(is_extreme, wide.dtype()), axes, true);
      });
      return {where(is_extreme, share, 0.0)};
    }
    case ReduceKind::prod:
      return {product_gradient(x, g, axes)};
    default:
      return {Tensor()};
  }
}

TensorSpecs ArgReduce::infer(std::span<const TensorSpec> in) const {
  const Shape& shape = in[0].shape;
  const int positive_axis = normal_axis(max ? "argmax" : "argmin", axis, shape);
  if (shape[positive_axis] == 0)
    fail(max ? "argmax" : "argmin", ": shape ", shape, " has nothing along axis ", axis);
  return {{DType::int64, reduced_shape(shape, {positive_axis}, false)}};
}

TensorSpecs Cumulative::infer(std::span<const TensorSpec> in) const {
  normal_axis("cumsum", axis, in[0].shape);
  if (in[0].dtype == DType::boolean) fail("cumsum: expected numbers, got bool");
  return {in[0]};
}

Tensors Cumulative::vjp(const Vjp& v) const {
  return {ops::cumsum(v.gradients[0], axis, !reverse)};
}

TensorSpecs TopK::infer(std::span<const TensorSpec> in) const {
  expect_rank_at_least("top_k", in[0].shape, 1);
  const int64_t n = in[0].shape[-1];
  if (k < 1 || (n >= 0 && k > n))
    fail("top_k: k = ", k, " does not fit the last axis of shape ", in[0].shape);
  Shape shape = in[0].shape;
  shape.set(-1, k);
  return {{in[0].dtype, shape}, {DType::int32, shape}};
}

Tensors TopK::vjp(const Vjp& v) const {
  if (!v.gradients[0]) return {Tensor()};
  return {scatter_along(v.outputs[1], v.gradients[0], v.inputs[0].shape(), -1)};
}

namespace ops {
namespace {

Tensor index_of_extreme(bool max, const Tensor& input, std::optional<int64_t> axis, bool keepdims) {
  const Tensor x = axis ? input : reshape(input, {-1});
  ArgReduce op;
  op.max = max;
  op.axis = axis ? normal_axis(max ? "argmax" : "argmin", static_cast<int>(*axis), x.shape()) : 0;
  const Tensor index = cast(apply1(op, {x}), DType::int32);
  if (!keepdims) return index;
  const std::vector<int64_t> ones(input.rank(), 1);
  return axis ? expand_dims(index, op.axis) : reshape(index, Shape(ones));
}

/// Whether one of the reduced axes has size 0.
bool has_empty_reduced_axis(const Tensor& x, const Axes& axes) {
  const std::vector<int> positive_axes = normal_axes("logsumexp", axes, x.shape());
  return std::any_of(positive_axes.begin(), positive_axes.end(),
                     [&](int axis) { return x.dim(axis) == 0; });
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keepdims) {
  return reduce(ReduceKind::sum, with_small_integers_widened(x), axes, keepdims);
}
Tensor mean(const Tensor& x, const Axes& axes, bool keepdims) {
  return reduce(ReduceKind::mean, as_floating(x), axes, keepdims);
}
Tensor max(const Tensor& x, const Axes& axes, bool keepdims) {
  return cast(reduce(ReduceKind::max, with_small_integers_widened(x), axes, keepdims), x.dtype());
}
Tensor min(const Tensor& x, const Axes& axes, bool keepdims) {
  return cast(reduce(ReduceKind::min, with_small_integers_widened(x), axes, keepdims), x.dtype());
}
Tensor prod(const Tensor& x, const Axes& axes, bool keepdims) {
  return reduce(ReduceKind::prod, with_small_integers_widened(x), axes, keepdims);
}
Tensor any(const Tensor& x, const Axes& axes, bool keepdims) {
  return reduce(ReduceKind::any, cast(x, DType::boolean), axes, keepdims);
}
Tensor all(const Tensor& x, const Axes& axes, bool keepdims) {
  return reduce(ReduceKind::all, cast(x, DType::boolean), axes, keepdims);
}

/// The variance of complex numbers is real: the mean of squared distances from the mean.
Tensor variance(const Tensor& x, const Axes& axes, bool keepdims) {
  if (x.dtype() == DType::complex64)
    return mean(square(abs(x - mean(x, axes, true))), axes, keepdims);
  return apply_in_wide_dtype(x, [&](const Tensor& values) {
    return mean(square(values - mean(values, axes, true)), axes, keepdims);
  });
}

/// The standard deviation; where it is 0, its gradient is 0 too.
Tensor std(const Tensor& x, const Axes& axes, bool keepdims) {
  const auto standard_deviation = [&](const Tensor& values) {
    const Tensor squared_deviation = variance(values, axes, keepdims),
                 is_zero = equal(squared_deviation, 0);
    return where(is_zero, 0.0, sqrt(where(is_zero, 1.0, squared_deviation)));
  };
  return x.dtype() == DType::complex64 ? standard_deviation(x)
                                       : apply_in_wide_dtype(x, standard_deviation);
}

Tensor norm(const Tensor& x, const Axes& axes, bool keepdims) {
  return apply_in_wide_dtype(
      x, [&](const Tensor& values) { return sqrt(sum(square(values), axes, keepdims)); });
}

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdims) {
  if (has_empty_reduced_axis(x, axes))
    return sum(as_floating(x), axes, keepdims) - std::numeric_limits<double>::infinity();
  return apply_in_wide_dtype(
      x, [&](const Tensor& values) { return log_sum_exp(values, axes, keepdims); });
}

Tensor argmax(const Tensor& x, std::optional<int64_t> axis, bool keepdims) {
  return index_of_extreme(true, x, axis, keepdims);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> axis, bool keepdims) {
  return index_of_extreme(false, x, axis, keepdims);
}

Tensors top_k(const Tensor& x, int64_t k) {
  TopK op;
  op.k = k;
  Tensors result = apply(op, {with_small_integers_widened(x)});
  result[0] = cast(result[0], x.dtype());
  return result;
}

/// Whether fewer than k predictions are larger than the prediction for the target class. False if
/// the target is out of range or a prediction is not finite.
Tensor in_top_k(const Tensor& targets, const Tensor& predictions, int64_t k) {
  if (predictions.rank() != 2 || targets.rank() != 1 ||
      !targets.shape().compatible({predictions.dim(0)})) {
    fail("in_top_k: expected targets (rows,) and predictions (rows, classes), got ",
         targets.shape(), " and ", predictions.shape());
  }
  const Tensor class_indices = expand_dims(cast(targets, DType::int64), 1);
  const int64_t classes = predictions.dim(1);
  const Tensor is_defined = logical_and(greater_equal(class_indices, 0),
                                        less(class_indices, std::max<int64_t>(classes, 1)));
  const Tensor target_scores =
      gather_along_axis(predictions, where(is_defined, class_indices, 0), 1);
  const Tensor larger_count =
      sum(cast(greater(predictions, target_scores), DType::int32), {1}, true);
  return squeeze(
      logical_and(logical_and(is_defined, isfinite(target_scores)), less(larger_count, k)), 1);
}

}  // namespace ops
}  // namespace crescent
