// Code that all normalization layers use.
#pragma once
#include <algorithm>

#include "crescent/layer/layer.h"

namespace crescent {

/// Casts to at least float32, in which statistics are computed: squares exceed float16.
inline Tensor at_least_float32(const Tensor& x) {
  return ops::cast(x, promote(x.dtype(), DType::float32));
}

/// Casts integers and booleans to `dtype`.
inline Tensor as_floating(const Tensor& x, DType dtype) {
  return is_floating(x.dtype()) ? x : ops::cast(x, dtype);
}

/// The base of layers with gamma and beta, whose values are not cast to the narrower dtype in mixed
/// precision.
class ScaledLayer : public UnaryLayer {
 protected:
  template <class T>
  static void describe_center_scale(Schema<T>& s) {
    s.field("center", &ScaledLayer::center_, "Add a learned offset beta.")
        .field("scale", &ScaledLayer::scale_, "Multiply by a learned scale gamma.");
  }
  template <class T>
  static void describe_initializers(Schema<T>& s) {
    s.initializers(kScaleWeights<T>);
  }
  template <class T>
  static void describe_penalties(Schema<T>& s) {
    s.regularizers(kScaleWeights<T>).constraints(kScaleWeights<T>);
  }
  void build_scale(const Shape& shape) {
    if (scale_) gamma_ = add_weight("gamma", shape, gamma_rules_, /*autocast=*/false);
    if (center_) beta_ = add_weight("beta", shape, beta_rules_, /*autocast=*/false);
    parameter_shape_ = shape;
  }
  Tensor gamma() const {
    return scale_ ? gamma_.value() : ops::ones(parameter_shape_, variable_dtype());
  }
  Tensor beta() const {
    return center_ ? beta_.value() : ops::zeros(parameter_shape_, variable_dtype());
  }

  bool center_ = true, scale_ = true;
  WeightRules beta_rules_{"zeros"}, gamma_rules_{"ones"};
  Variable gamma_, beta_;
  Shape parameter_shape_;

 private:
  template <class T>
  static constexpr NamedWeight<T, WeightRules> kScaleWeights[] = {
      {"beta", &ScaledLayer::beta_rules_, "beta"}, {"gamma", &ScaledLayer::gamma_rules_, "gamma"}};
};

/// The axes of a shape as non-negative numbers, in the order of the signed numbers: -1 comes before
/// 1. As in Keras, this is the order of the axes of a weight, whose elements are reshaped, without
/// a transposition, to the order of the axes of the inputs.
inline std::vector<int> axes_in(const Shape& shape, std::vector<int64_t> axes) {
  std::sort(axes.begin(), axes.end());
  std::vector<int> positions;
  for (const int64_t axis : axes) positions.push_back(shape.axis(int(axis)));
  return positions;
}

/// The sizes of some axes, which must be known.
inline Shape dims_of(const Shape& shape, const std::vector<int>& axes) {
  Shape dims;
  for (int axis : axes) dims.append(shape[axis]);
  if (!dims.is_known())
    fail("the normalised axes ", Value(std::vector<int64_t>(axes.begin(), axes.end())),
         " must have known sizes, got shape ", shape);
  return dims;
}

/// A shape with the sizes of x along some axes and 1 along the others.
inline Shape broadcast_shape(const Tensor& x, const std::vector<int>& axes) {
  Shape broadcast;
  for (int i = 0; i < x.rank(); ++i)
    broadcast.append(std::find(axes.begin(), axes.end(), i) == axes.end() ? 1 : x.dim(i));
  return broadcast;
}

}  // namespace crescent
