// Indexing as in NumPy, by keys of positions, slices, lists of positions and masks.
#include <limits>

#include "crescent/ops/indexing.h"
#include "crescent/ops/sorting.h"
#include "ops/arrangement/positions.h"

namespace crescent::ops {
namespace {

/// A slice, given as {start=1, stop=3, step=2} or in the form of Keras, which has these numbers
/// under "config".
struct SliceBounds {
  std::optional<int64_t> start, stop, step;
};

std::optional<int64_t> number_in(const Dict& dict, const char* name) {
  const Value* value = dict.find(name);
  return value ? Codec<std::optional<int64_t>>::decode(*value) : std::nullopt;
}

std::optional<SliceBounds> slice_bounds_in(const Value& item) {
  if (!item.is_dict()) return std::nullopt;
  const Value* config = item.as_dict().find("config");
  const Dict& bounds_dict = config && config->is_dict() ? config->as_dict() : item.as_dict();
  for (const DictEntry& entry : bounds_dict)
    if (entry.key != "start" && entry.key != "stop" && entry.key != "step")
      fail("get_item: a slice has start, stop and step, got '", entry.key, "'");
  return SliceBounds{number_in(bounds_dict, "start"), number_in(bounds_dict, "stop"),
                     number_in(bounds_dict, "step")};
}

/// A slice of an axis; as in Python, bounds out of range are clipped.
Tensor slice_of_axis(const Tensor& x, int axis, const SliceBounds& bounds) {
  const int64_t n = x.dim(axis), step = bounds.step.value_or(1);
  if (step == 0) fail("get_item: the step of a slice must not be 0");
  if (bounds.start.value_or(0) == 0 && !bounds.stop && step == 1) return x;
  if (n < 0) fail("get_item: axis ", axis, " of shape ", x.shape(), " has no known size to slice");
  if (step < 0) {
    // A slice with a negative step is the reverse of a slice with a positive one.
    const auto clamp_index = [&](int64_t i) {
      return std::clamp<int64_t>(i < 0 ? i + n : i, -1, n - 1);
    };
    const int64_t first_index = clamp_index(bounds.start.value_or(n - 1));
    const int64_t stop_index = bounds.stop ? clamp_index(*bounds.stop) : -1;
    const int64_t count =
        first_index > stop_index ? (first_index - stop_index - step - 1) / -step : 0;
    if (count == 0) return slice_axis(x, axis, 0, 0);
    const int64_t lowest_index = first_index + (count - 1) * step;
    return flip(slice_axis(x, axis, lowest_index, first_index + 1, -step), {axis});
  }
  const auto clamp_index = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  const int64_t first_index = clamp_index(bounds.start.value_or(0)),
                stop_index = clamp_index(bounds.stop.value_or(n));
  return slice_axis(x, axis, first_index, std::max(first_index, stop_index), step);
}

bool is_ellipsis(const Value& item) {
  if (item == Value("...")) return true;
  const Value* name = item.is_dict() ? item.as_dict().find("class_name") : nullptr;
  return name && (*name == Value("__ellipsis__") || *name == Value("Ellipsis"));
}

/// Returns an item of a key as a tensor if it is a list of positions or a mask; an empty Tensor for
/// other items, such as slices.
Tensor index_list_in(const Value& item) {
  const bool is_other_key = item.is_null() || item.is_int() || item.is_dict() || is_ellipsis(item);
  return is_other_key ? Tensor() : Codec<Tensor>::decode(item);
}

bool is_mask(const Tensor& list) { return list.dtype() == DType::boolean; }

/// The number of axes of x that an item of a key selects from.
int selected_axis_count(const Value& item) {
  if (item.is_null() || is_ellipsis(item)) return 0;
  const Tensor list = index_list_in(item);
  return list && is_mask(list) ? list.rank() : 1;
}

/// Returns the items of a key. The ellipsis is replaced by full slices, as many as a tensor with
/// `rank` axes needs.
List expanded_key_items(const Value& key, int rank) {
  const List items = key.is_list() ? key.as_list() : List{key};
  List expanded_items;
  int selected_axes_total = 0;
  for (const Value& item : items) selected_axes_total += selected_axis_count(item);
  if (selected_axes_total > rank)
    fail("get_item: ", selected_axes_total, " positions for ", rank, " axes");
  for (const Value& item : items) {
    if (is_ellipsis(item))
      expanded_items.insert(expanded_items.end(), static_cast<size_t>(rank - selected_axes_total),
                            Dict{{"start", Value()}});
    else
      expanded_items.push_back(item);
  }
  return expanded_items;
}

int64_t expect_position(const Tensor& x, int axis, int64_t i) {
  const int64_t n = x.dim(axis);
  if (n >= 0 && (i >= n || i < -n))
    fail("get_item: position ", i, " is out of range for axis ", axis, " of shape ", x.shape());
  return i < 0 && n >= 0 ? i + n : i;
}

void expect_mask_fits(const Tensor& x, const Tensor& mask, int axis) {
  const int end_axis = axis + mask.rank();
  if (end_axis > x.rank() || !(x.shape().slice(axis, end_axis) == mask.shape()))
    fail("get_item: a mask of shape ", mask.shape(), " does not fit shape ", x.shape(),
         " from axis ", axis);
}

/// Selects the elements where a mask is true. The mask covers some axes of x, from `axis` on; in
/// the result, one axis replaces them.
Tensor masked_elements(const Tensor& x, const Tensor& mask, int axis) {
  expect_mask_fits(x, mask, axis);
  const Shape trailing_dims = x.shape().slice(axis + mask.rank(), x.rank());
  const Tensor flat_x =
      reshape(x, x.shape().slice(0, axis).concat({mask.size()}).concat(trailing_dims));
  return gather(flat_x, nonzero(reshape(mask, {-1})).front(), axis);
}

/// Lists of positions, one list for each of several axes of x. The lists broadcast against each
/// other; each element of the broadcast lists selects one part of x.
struct IndexLists {
  std::vector<int> axes;
  Tensors lists;
};

/// Adds the list of positions that an item of a key gives for axis `axis` of x; a mask gives a list
/// for each of its axes.
void add_index_lists(IndexLists& lists_by_axis, const Value& item, const Tensor& x, int axis) {
  Tensors lists{index_list_in(item)};
  if (item.is_int())
    lists = {
        Tensor::scalar(static_cast<double>(expect_position(x, axis, item.as_int())), DType::int32)};
  if (is_mask(lists[0])) expect_mask_fits(x, lists[0], axis), lists = nonzero(lists[0]);
  for (const Tensor& list : lists) {
    lists_by_axis.lists.push_back(check_indices(nonnegative_indices(list, x.dim(axis)), x.dim(axis),
                                                "get_item: index",
                                                concat("axis ", axis, " of shape ", x.shape())));
    lists_by_axis.axes.push_back(axis++);
  }
}

/// `lists` has a list of positions for each axis of `shape`. Combines them to indices into a
/// flattened array of this shape.
Tensor flat_indices(const Tensors& lists, const Shape& shape) {
  const bool fits_int32 = shape.is_known() && shape.size() <= std::numeric_limits<int32_t>::max();
  Tensor indices;
  for (int i = 0; i < shape.rank(); ++i) {
    const Tensor list =
        cast(lists[static_cast<size_t>(i)], fits_int32 ? DType::int32 : DType::int64);
    indices = indices ? indices * shape[i] + list : list;
  }
  return indices;
}

/// Returns the parts of x that the lists select. As in NumPy, the axes of the broadcast lists
/// replace the axes of x that have lists; if these are not adjacent, the new axes come first.
Tensor gather_lists(const Tensor& x, const IndexLists& lists_by_axis) {
  const int list_count = static_cast<int>(lists_by_axis.axes.size()),
            first_axis = lists_by_axis.axes.front();
  std::vector<int> order = lists_by_axis.axes;
  for (int i = 0; i < x.rank(); ++i)
    if (std::find(lists_by_axis.axes.begin(), lists_by_axis.axes.end(), i) ==
        lists_by_axis.axes.end())
      order.push_back(i);
  const Tensor transposed_x = transpose(x, order);
  const Shape indexed_dims = transposed_x.shape().slice(0, list_count),
              trailing_dims = transposed_x.shape().slice(list_count, x.rank());
  const Shape flattened_shape =
      Shape{indexed_dims.is_known() ? indexed_dims.size() : -1}.concat(trailing_dims);
  const Tensor indices = flat_indices(lists_by_axis.lists, indexed_dims);
  const Tensor gathered_elements = gather(reshape(transposed_x, flattened_shape), indices, 0);
  if (lists_by_axis.axes.back() != first_axis + list_count - 1) return gathered_elements;
  std::vector<int> inverse_order;
  for (int i = 0; i < first_axis; ++i) inverse_order.push_back(indices.rank() + i);
  for (int i = 0; i < indices.rank(); ++i) inverse_order.push_back(i);
  for (int i = indices.rank() + first_axis; i < gathered_elements.rank(); ++i)
    inverse_order.push_back(i);
  return transpose(gathered_elements, inverse_order);
}

/// Whether the key has several lists, which are then combined elementwise as in NumPy; single
/// positions beside a list count as lists.
bool combines_lists(const List& items) {
  const auto is_list = [](const Value& item) { return bool(index_list_in(item)); };
  const auto list_count = std::count_if(items.begin(), items.end(), is_list);
  const auto position_count =
      std::count_if(items.begin(), items.end(), [](const Value& item) { return item.is_int(); });
  return list_count > 0 && list_count + position_count > 1;
}

}  // namespace

Tensor get_item(const Tensor& input, const Value& key) {
  Tensor x = input;
  const List items = expanded_key_items(key, x.rank());
  const bool has_combined_lists = combines_lists(items);
  IndexLists lists_by_axis;
  int axis = 0;
  for (const Value& item : items) {
    if (item.is_null()) {
      x = expand_dims(x, axis++);
    } else if (auto bounds = slice_bounds_in(item)) {
      x = slice_of_axis(x, axis++, *bounds);
    } else if (has_combined_lists) {
      add_index_lists(lists_by_axis, item, x, axis);
      axis += selected_axis_count(item);
    } else if (item.is_int()) {
      const int64_t position = expect_position(x, axis, item.as_int());
      x = squeeze(slice_axis(x, axis, position, position + 1), axis);
    } else if (const Tensor list = index_list_in(item); is_mask(list)) {
      x = masked_elements(x, list, axis++);
    } else {
      x = gather(x, nonnegative_indices(list, x.dim(axis)), axis);
      axis += list.rank();
    }
  }
  return has_combined_lists ? gather_lists(x, lists_by_axis) : x;
}

}  // namespace crescent::ops
