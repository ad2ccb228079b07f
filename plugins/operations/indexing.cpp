// Operations that read, write or compute indices of elements.
#include "crescent/ops/indexing.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

using Sizes = std::vector<int64_t>;

bool has_tensor(const Value& value) {
  return value.is_list() &&
         std::any_of(value.as_list().begin(), value.as_list().end(),
                     [](const Value& item) { return item.object_as<BoxedTensor>() != nullptr; });
}

/// The tensor of indices that a list of integers and scalar tensors gives.
Tensor stack_indices(const List& indices) {
  Tensors tensors;
  for (const Value& index : indices) tensors.push_back(Codec<Tensor>::decode(index));
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i].is_int()) tensors[i] = ops::cast(tensors[i], DType::int32);
  return ops::stack(tensors);
}

/// The start of a slice along each axis, given as numbers or as a tensor of numbers.
struct SliceStart {
  Sizes numbers;
  Tensor tensor;
};
SliceStart start_in(const char* name, const Value& value) {
  if (has_tensor(value)) return {{}, stack_indices(value.as_list())};
  if (value.is_list() || value.is_int()) return {Codec<Sizes>::decode(value), {}};
  if (!value.is_object())
    fail(name, ": expected start_indices that are integers or a tensor, got ", value);
  return {{}, Codec<Tensor>::decode(value)};
}

Tensor slice(const Tensor& x, const Value& start_indices, const Sizes& shape) {
  const auto [start, start_tensor] = start_in("slice", start_indices);
  return start_tensor ? ops::slice(x, start_tensor, shape) : ops::slice(x, start, shape);
}

Tensor slice_update(const Tensor& x, const Value& start_indices, const Tensor& updates) {
  const auto [start, start_tensor] = start_in("slice_update", start_indices);
  return start_tensor ? ops::slice_update(x, start_tensor, updates)
                      : ops::slice_update(x, start, updates);
}

void refuse_sparse(const char* name, bool is_sparse) {
  if (is_sparse) fail(name, ": sparse = true is not supported: there are no sparse tensors");
}

Tensor one_hot(const Tensor& x, int64_t classes, int axis, std::optional<DType> dtype,
               bool sparse) {
  refuse_sparse("one_hot", sparse);
  return ops::one_hot(x, classes, axis, dtype);
}

Tensor multi_hot(const Tensor& x, std::optional<int64_t> classes, int axis,
                 std::optional<DType> dtype, bool sparse) {
  if (!classes) fail("multi_hot: missing argument 'num_classes'");
  refuse_sparse("one_hot", sparse);
  return ops::multi_hot(x, *classes, axis, dtype);
}

}  // namespace

CRESCENT_REGISTER(indexing) {
  Operations(registry, "keras.src.ops.core")
      .add("Slice", "slice(inputs, @start_indices, shape)", &slice,
           "A part of x of the given shape, beginning at the given indices (from 0).")
      .add("SliceUpdate", "slice_update(inputs, @start_indices, updates)", &slice_update,
           "The inputs with a part, beginning at the given indices (from 0), replaced by updates.")
      .add("Scatter", "scatter(indices, values, shape)", &ops::scatter,
           "A tensor of zeros with the given values at the given indices (from 0); values of equal "
           "indices "
           "are added.")
      .add("ScatterUpdate", "scatter_update(inputs, indices, updates, reduction=None)",
           &ops::scatter_update,
           "The inputs with elements at indices (from 0) replaced by updates, or combined with "
           "them by "
           "addition, multiplication, maximum or minimum.");
  Operations(registry, "keras.src.ops.nn")
      .add("OneHot", "one_hot(x, num_classes, axis=-1, dtype=None, sparse=False)", &one_hot,
           "For each class number, from 0, a vector with a one at the class and zeros elsewhere.")
      .add("MultiHot", "multi_hot(inputs, num_classes=None, axis=-1, dtype=None, sparse=False)",
           &multi_hot,
           "For each row of class numbers, from 0, a vector with ones at these classes and zeros "
           "elsewhere.");
  Operations(registry, "keras.src.ops.numpy")
      .add("GetItem", "get_item(x, @key)", &ops::get_item,
           "Indexing as in NumPy, x[key]: positions from 0, {start, stop, step}, '...', null for a "
           "new axis, lists of positions and masks; two lists select pairs.")
      .add("Take", "take(x, indices, axis=None)", &ops::take,
           "The slices of x at the given indices along an axis, which count from 0.")
      .add(
          "TakeAlongAxis", "take_along_axis(x, indices, axis=None)", &ops::take_along_axis,
          "The elements at the given indices along an axis, which count from 0, with one index for "
          "each result.")
      .add(
          "UnravelIndex", "unravel_index(indices, shape)", &ops::unravel_index,
          "Converts indices of the flattened tensor to one index for each axis; all count from 0.");
}

}  // namespace crescent::operations
