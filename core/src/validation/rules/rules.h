// What each op computes, in plain loops over float64, and how far its result may be off: by the
// errors of its inputs and by its own roundings.
#pragma once
#include <functional>
#include <span>

#include "crescent/device/lowered_ops.h"
#include "validation/rules/bounded.h"

namespace crescent::validation {

struct Request {
  const Op& op;
  std::span<const BoundedPtr> inputs;
  std::span<const TensorSpec> outputs;
  Rounding rounding;

  const Bounded& in(size_t i) const { return *inputs[i]; }
  double roundoff(size_t output = 0) const {
    return unit_roundoff(outputs[output].dtype, rounding);
  }
  double tiny() const { return smallest(outputs[0].dtype, rounding); }
  /// The same of a sum of so many terms: what is too small for a normal number on the way is 0.
  double tiny_sum(double terms) const {
    const DType dtype = outputs[0].dtype;
    return tiny() + terms * smallest(dtype == DType::float64 ? dtype : DType::float32, rounding);
  }
  template <class T>
  const T& as() const {
    return static_cast<const T&>(op);
  }
};
/// Appends the results; the caller settles them.
using Rule = std::vector<Bounded> (*)(const Request& request);

struct RuleRow {
  std::string_view op;
  Rule rule;
};
std::span<const RuleRow> elementwise_rules();  // unary binary select cast stop_gradient
std::span<const RuleRow> movement_rules();     // what moves elements, and fill, iota, one_hot
std::span<const RuleRow> indexing_rules();     // gather take_along scatter_add one_hot
std::span<const RuleRow> reduction_rules();    // reduce arg_reduce cumulative top_k
std::span<const RuleRow> product_rules();      // matmul
std::span<const RuleRow> convolution_rules();  // conv conv_backward_data conv_backward_kernel
std::span<const RuleRow> pooling_rules();      // pool pool_backward pool_argmax(+backward)

/// For ops without a rule that compute: the op itself runs in float64 (or its own dtypes, where it
/// takes no others) on its inputs and on some that are off by what they may be off; the results'
/// spread is the bound.
std::vector<Bounded> sample(const OpPtr& op, std::span<const BoundedPtr> inputs,
                            const TensorSpecs& outputs, Rounding rounding);

/// Per element of a tensor that `from` is broadcast to, the element of `from`.
std::vector<size_t> broadcast_places(const Shape& from, const Shape& to);

/// A shape as (before, along, behind) an axis.
struct AxisExtents {
  int64_t before = 1, along = 1, behind = 1;
  AxisExtents(const Shape& shape, int axis) {
    const int at = axis < 0 ? axis + shape.rank() : axis;
    for (int i = 0; i < shape.rank(); ++i) (i < at ? before : i == at ? along : behind) *= shape[i];
  }
};

}  // namespace crescent::validation
