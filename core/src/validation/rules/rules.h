// Rules: for each op, a plain loop that computes the result in float64, and a bound of the result's
// error, which follows from the errors of the inputs and from the rounding errors of the op.
#pragma once
#include <functional>
#include <span>

#include "crescent/device/lowered_ops.h"
#include "validation/rules/bounded.h"

namespace crescent::validation {

struct RuleInput {
  const Op& op;
  std::span<const BoundedPtr> inputs;
  std::span<const TensorSpec> outputs;
  Rounding rounding;

  const Bounded& input(size_t i) const { return *inputs[i]; }
  double roundoff(size_t output = 0) const {
    return unit_roundoff(outputs[output].dtype, rounding);
  }
  /// The largest absolute error of a result that is below the normal range of its dtype.
  double tiny() const { return smallest_number(outputs[0].dtype, rounding); }
  /// The largest absolute error of a sum of `terms` terms from partial sums in float32 or float64
  /// that are below the normal range of the dtype and may be flushed to 0.
  double tiny_sum(double terms) const {
    const DType dtype = outputs[0].dtype;
    return tiny() +
           terms * smallest_number(dtype == DType::float64 ? dtype : DType::float32, rounding);
  }
  template <class T>
  const T& as() const {
    return static_cast<const T&>(op);
  }
};
/// Computes the results of an op and their bounds; the caller calls mark_undecided() on them.
using Rule = std::vector<Bounded> (*)(const RuleInput& request);

struct OpRule {
  std::string_view op;
  Rule rule;
};
// rules of unary, binary, select, cast, stop_gradient
std::span<const OpRule> elementwise_rules();
// rules of ops that move elements, and of fill and iota
std::span<const OpRule> movement_rules();
std::span<const OpRule> indexing_rules();   // rules of gather, take_along, scatter_add, one_hot
std::span<const OpRule> reduction_rules();  // rules of reduce, arg_reduce, cumulative, top_k
std::span<const OpRule> product_rules();    // rules of matmul
// rules of conv, conv_backward_data, conv_backward_kernel
std::span<const OpRule> convolution_rules();
// rules of pool, pool_backward, pool_argmax and its gradient
std::span<const OpRule> pooling_rules();

/// Evaluates an op without a rule: runs it in float64 (or in its own dtypes, if it rejects float64)
/// on its inputs and on inputs that are perturbed within their bounds. The bound is derived from
/// the spread of the results.
std::vector<Bounded> sample(const OpPtr& op, std::span<const BoundedPtr> inputs,
                            const TensorSpecs& outputs, Rounding rounding);

/// For each element of a tensor to which `from` is broadcast, the index of the element of `from`.
std::vector<size_t> broadcast_offsets(const Shape& from, const Shape& to);

/// The size of an axis (`along`), and the products of the sizes of the axes before it and after it.
struct AxisExtents {
  int64_t before = 1, along = 1, after = 1;
  AxisExtents(const Shape& shape, int axis) {
    const int positive_axis = axis < 0 ? axis + shape.rank() : axis;
    for (int i = 0; i < shape.rank(); ++i)
      (i < positive_axis ? before : i == positive_axis ? along : after) *= shape[i];
  }
};

}  // namespace crescent::validation
