#include "quantized_layout.h"

#include <algorithm>

#include "crescent/ops/ops.h"

namespace crescent {

Shape QuantizedLayout::matrix() const {
  if (is_table()) return shape;
  int64_t rows = 1;
  for (int axis : summed) rows *= shape[axis];
  return {rows, rows == 0 ? 0 : shape.size() / rows};
}

Tensor QuantizedLayout::as_scale(const Tensor& of_values) const {
  std::vector<int> order = kept;
  order.insert(order.end(), summed.begin(), summed.end());
  return ops::reshape(ops::transpose(of_values, order), scale_shape);
}

Tensor QuantizedLayout::scale_of_values(const Tensor& scale) const {
  Shape kept_dims, dims;
  std::vector<int> order;  // for each axis of the scale, the axis of the weight
  for (int axis : kept) kept_dims.append(shape[axis]);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto at = std::find(kept.begin(), kept.end(), axis);
    dims.append(at == kept.end() ? 1 : shape[axis]);
    if (at != kept.end()) order.push_back(static_cast<int>(at - kept.begin()));
  }
  return ops::reshape(ops::transpose(ops::reshape(scale, kept_dims), order), dims);
}

}  // namespace crescent
