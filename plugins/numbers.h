// An option that is a number or nested lists of numbers, for example one for each feature.
#pragma once
#include <string>
#include <vector>

#include "crescent/ops/ops.h"

namespace crescent {

struct Numbers {
  Shape shape;  ///< shape of the nested lists; without axes for a single number
  std::vector<double> values;

  Tensor tensor(DType dtype) const { return ops::cast(Tensor::from(values, shape), dtype); }
};

/// Reads the numbers in a value, which may also be a tensor. Fails for lists of different lengths
/// and for items that are not numbers.
inline Numbers numbers_in(const Value& value, const char* option) {
  if (value.is_number()) return {{}, {value.as_float()}};
  if (auto boxed = value.object_as<BoxedTensor>())
    return {boxed->tensor.shape(), boxed->tensor.to_vector()};
  if (!value.is_list()) fail(option, ": expected a number or a list of numbers, got ", value);
  Numbers result;
  Shape item_shape;
  for (const Value& item : value.as_list()) {
    const Numbers item_numbers = numbers_in(item, option);
    if (!result.values.empty() && item_numbers.shape != item_shape)
      fail(option, ": expected lists of one length, got ", value);
    item_shape = item_numbers.shape;
    result.values.insert(result.values.end(), item_numbers.values.begin(),
                         item_numbers.values.end());
  }
  result.shape = Shape{int64_t(value.as_list().size())}.concat(item_shape);
  return result;
}

/// Converts the numbers to the value in a configuration: a number or nested lists.
inline Value value_of(const Numbers& numbers) {
  size_t next_index = 0;
  const auto nested_list = [&](auto&& self, int axis) -> Value {
    if (axis == numbers.shape.rank()) return numbers.values[next_index++];
    List items;
    for (int64_t i = 0; i < numbers.shape[axis]; ++i) items.push_back(self(self, axis + 1));
    return items;
  };
  return nested_list(nested_list, 0);
}

/// Whether an array of shape `from` can be broadcast to the shape `to`.
inline bool broadcasts(const Shape& from, const Shape& to) {
  bool fits = from.rank() <= to.rank();
  for (int i = 1; fits && i <= from.rank(); ++i) fits = from[-i] == 1 || from[-i] == to[-i];
  return fits;
}

}  // namespace crescent
