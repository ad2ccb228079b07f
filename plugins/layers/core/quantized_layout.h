// The layout of a weight that may be quantized: it determines which elements share a scale.
#pragma once
#include <algorithm>

#include "crescent/layer/layer.h"

namespace crescent {

struct QuantizedLayout {
  Shape shape;  ///< the shape of the weight as floats
  /// the axes along which the elements share a scale, in ascending order
  std::vector<int> summed_axes;
  std::vector<int> other_axes;  ///< the other axes, in the order of the scale's axes
  /// The sizes of the axes in `other_axes`; 1 for further axes of the layer's result.
  Shape scale_shape;
  /// whether the weight is the table of a reversed embedding, whose blocks are those of the forward
  /// table; Keras stores this table by columns
  bool is_reverse = false;

  /// Whether each row has a scale, as in embedding tables, from which single rows are read.
  bool is_table() const { return shape.rank() == 2 && summed_axes.front() == 1; }
  /// The shape of the weight as a matrix whose rows are the axes over which products sum and whose
  /// columns are the other axes; a table keeps its shape.
  inline Shape matrix() const;
  /// Converts scales with the axes of the weight, of size 1 along summed axes, to scales with the
  /// axes of the layer's result.
  inline Tensor as_scale(const Tensor& value_scales) const;
  /// The inverse of as_scale().
  inline Tensor scale_of_values(const Tensor& scale) const;
};

Shape QuantizedLayout::matrix() const {
  if (is_table()) return shape;
  int64_t rows = 1;
  for (int axis : summed_axes) rows *= shape[axis];
  return {rows, rows == 0 ? 0 : shape.size() / rows};
}

Tensor QuantizedLayout::as_scale(const Tensor& value_scales) const {
  std::vector<int> axis_order = other_axes;
  axis_order.insert(axis_order.end(), summed_axes.begin(), summed_axes.end());
  return ops::reshape(ops::transpose(value_scales, axis_order), scale_shape);
}

Tensor QuantizedLayout::scale_of_values(const Tensor& scale) const {
  Shape scale_dims, result_dims;
  std::vector<int> axis_order;  // for each axis of the scale, the axis of the weight
  for (int axis : other_axes) scale_dims.append(shape[axis]);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto other_axis = std::find(other_axes.begin(), other_axes.end(), axis);
    result_dims.append(other_axis == other_axes.end() ? 1 : shape[axis]);
    if (other_axis != other_axes.end())
      axis_order.push_back(static_cast<int>(other_axis - other_axes.begin()));
  }
  return ops::reshape(ops::transpose(ops::reshape(scale, scale_dims), axis_order), result_dims);
}

/// A variable of a quantized weight. Its name is `ending` if is_own_name is true, else the name of
/// the weight followed by `ending`.
struct QuantizedComponent {
  std::string ending;
  Shape shape;
  std::optional<DType> dtype{};  ///< nullopt: the dtype of the layer's variables
  bool is_own_name = false;
};
using QuantizedComponents = std::vector<QuantizedComponent>;

}  // namespace crescent
