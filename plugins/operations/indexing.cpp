// Elements by position: reading them, writing them, numbering them.
#include <algorithm>

#include "crescent/registry/registration.h"
#include "families.h"
#include "kernels/part_update.h"
#include "segments.h"

namespace crescent::operations {
namespace {

using Sizes = std::vector<int64_t>;

/// Negative ones count from the end; those before the first stay, for the check that names them.
Tensor wrapped(const Tensor& indices, int64_t size) {
  const bool known = !indices.is_abstract() && is_integer(indices.dtype()) && indices.size() > 0;
  if (known && ops::min(indices).item() >= 0) return indices;
  const Tensor whole = is_integer(indices.dtype()) && indices.dtype() != DType::uint8
                           ? indices
                           : ops::cast(indices, DType::int32);
  if (size < 0) return whole;
  const Tensor from_end = ops::logical_and(ops::less(whole, 0), ops::greater_equal(whole, -size));
  return ops::where(from_end, whole + size, whole);
}

Tensor take(const Tensor& given, const Tensor& indices, std::optional<int64_t> axis) {
  const auto [x, along] = flat_without(given, axis);
  return ops::take(x, wrapped(indices, x.dim(along)), along);
}

Tensor take_along_axis(const Tensor& given, const Tensor& indices, std::optional<int64_t> axis) {
  const auto [x, along] = flat_without(given, axis);
  const Tensor places = wrapped(axis ? indices : ops::reshape(indices, {-1}), x.dim(along));
  Shape shape = x.shape(), of_places = places.shape();
  if (of_places.rank() != shape.rank())
    fail("take_along_axis: expected indices of ", shape.rank(), " axes, got shape ", of_places);
  shape.set(along, 1), of_places.set(along, 1);
  const Shape common = broadcast_shapes(shape, of_places, "take_along_axis");
  Shape wide_x = common, wide_places = common;
  wide_x.set(along, x.dim(along)), wide_places.set(along, places.dim(along));
  const auto widened = [](const Tensor& t, const Shape& wide) {
    return t.shape() == wide ? t : ops::broadcast_to(t, wide);
  };
  return ops::take_along_axis(widened(x, wide_x), widened(places, wide_places), along);
}

// ---- x[key]

/// A number of a slice: {start=1, stop=3, step=2}, with Keras' class around it or not.
struct Range {
  std::optional<int64_t> start, stop, step;
};

std::optional<int64_t> number_in(const Dict& dict, const char* name) {
  const Value* value = dict.find(name);
  return value ? Codec<std::optional<int64_t>>::decode(*value) : std::nullopt;
}

std::optional<Range> range_in(const Value& item) {
  if (!item.is_dict()) return std::nullopt;
  const Value* config = item.as_dict().find("config");
  const Dict& parts = config && config->is_dict() ? config->as_dict() : item.as_dict();
  for (const DictEntry& entry : parts)
    if (entry.key != "start" && entry.key != "stop" && entry.key != "step")
      fail("get_item: a slice has start, stop and step, got '", entry.key, "'");
  return Range{number_in(parts, "start"), number_in(parts, "stop"), number_in(parts, "step")};
}

/// As in Python: what is out of range is cut off.
Tensor range_of(const Tensor& x, int axis, const Range& range) {
  const int64_t n = x.dim(axis), step = range.step.value_or(1);
  if (step == 0) fail("get_item: the step of a slice must not be 0");
  if (range.start.value_or(0) == 0 && !range.stop && step == 1) return x;
  if (n < 0) fail("get_item: axis ", axis, " of shape ", x.shape(), " has no known size to slice");
  if (step < 0) {
    // From the last to the first is the reverse of what a slice forwards gives.
    const auto at = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, -1, n - 1); };
    const int64_t first = at(range.start.value_or(n - 1));
    const int64_t last = range.stop ? at(*range.stop) : -1;
    const int64_t count = first > last ? (first - last - step - 1) / -step : 0;
    if (count == 0) return ops::slice_axis(x, axis, 0, 0);
    const int64_t low = first + (count - 1) * step;
    return ops::flip(ops::slice_axis(x, axis, low, first + 1, -step), {axis});
  }
  const auto at = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  const int64_t first = at(range.start.value_or(0)), last = at(range.stop.value_or(n));
  return ops::slice_axis(x, axis, first, std::max(first, last), step);
}

bool is_ellipsis(const Value& item) {
  if (item == Value("...")) return true;
  const Value* name = item.is_dict() ? item.as_dict().find("class_name") : nullptr;
  return name && (*name == Value("__ellipsis__") || *name == Value("Ellipsis"));
}

/// What a key has for each axis; slices of everything in place of the ellipsis.
List key_items(const Value& key, int rank) {
  const List items = key.is_list() ? key.as_list() : List{key};
  List all;
  int named = 0;
  for (const Value& item : items) named += !item.is_null() && !is_ellipsis(item);
  if (named > rank) fail("get_item: ", named, " positions for ", rank, " axes");
  for (const Value& item : items) {
    if (is_ellipsis(item))
      all.insert(all.end(), static_cast<size_t>(rank - named), Dict{{"start", Value()}});
    else
      all.push_back(item);
  }
  return all;
}

/// The elements of some axes where a mask over them is true, in one axis.
Tensor chosen(const Tensor& x, const Tensor& mask, int axis) {
  const int end = axis + mask.rank();
  if (end > x.rank() || !(x.shape().slice(axis, end) == mask.shape()))
    fail("get_item: a mask of shape ", mask.shape(), " does not fit shape ", x.shape(),
         " from axis ", axis);
  const Shape rest = x.shape().slice(end, x.rank());
  const Tensor flat = ops::reshape(x, x.shape().slice(0, axis).concat({mask.size()}).concat(rest));
  return ops::take(flat, nonzero(ops::reshape(mask, {-1})).front(), axis);
}

/// Integers, slices {start, stop, step}, "..." and null (a new axis), tensors of positions, masks.
Tensor get_item(const Tensor& given, const Value& key) {
  Tensor x = given;
  int axis = 0;
  for (const Value& item : key_items(key, x.rank())) {
    if (item.is_null()) {
      x = ops::expand_dims(x, axis++);
    } else if (item.is_int()) {
      const int64_t n = x.dim(axis), i = item.as_int();
      if (n >= 0 && (i >= n || i < -n))
        fail("get_item: position ", i, " is out of range for axis ", axis, " of shape ", x.shape());
      const int64_t at = i < 0 && n >= 0 ? i + n : i;
      x = ops::squeeze(ops::slice_axis(x, axis, at, at + 1), axis);
    } else if (auto range = range_in(item)) {
      x = range_of(x, axis++, *range);
    } else if (const Tensor places = Codec<Tensor>::decode(item);
               places.dtype() == DType::boolean) {
      x = chosen(x, places, axis++);
    } else {
      x = ops::take(x, wrapped(places, x.dim(axis)), axis);
      axis += places.rank();
    }
  }
  return x;
}

/// Where a slice starts along each axis: numbers, or a tensor of them.
struct Start {
  Sizes numbers;
  Tensor tensor;
};
Start start_in(const char* name, const Value& value, const Tensor& x) {
  if (value.is_list() || value.is_int()) return {Codec<Sizes>::decode(value), {}};
  if (!value.is_object())
    fail(name, ": expected start_indices that are integers or a tensor, got ", value);
  const Tensor start = Codec<Tensor>::decode(value);
  if (start.rank() != 1 || start.dim(0) != x.rank())
    fail(name, ": expected a start for each axis of shape ", x.shape(), ", got shape ",
         start.shape());
  return {{}, start};
}
/// The places `size` from a start on along an axis, as much further to the front as they fit.
Tensor places_from(const Tensor& start, int axis, int64_t size, int64_t whole) {
  const Tensor first = ops::slice_axis(start, 0, axis, axis + 1);
  return ops::clip(first, 0, whole - size) + ops::arange(size);
}

/// -1 in `shape` is the rest of an axis. Axes that numbers do not reach are taken whole.
Tensor slice(const Tensor& x, const Value& start_indices, Sizes shape) {
  auto [start, moving] = start_in("slice", start_indices, x);
  const auto rank = static_cast<size_t>(x.rank());
  if (moving ? shape.size() != rank : shape.size() > rank || start.size() != shape.size())
    fail("slice: expected a start and a size for each axis of shape ", x.shape());
  if (!moving) {
    start.resize(rank, 0), shape.resize(rank, -1);
    return ops::slice(x, start, shape);
  }
  Tensor result = x;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t size = shape[static_cast<size_t>(i)];
    if (size < 0 || size > x.dim(i))
      fail("slice: ", size, " elements do not fit axis ", i, " of shape ", x.shape());
    result = ops::take(result, places_from(moving, i, size, x.dim(i)), i);
  }
  return result;
}

Tensor scatter_update(const Tensor& x, const Tensor& indices, const Tensor& given,
                      const std::optional<std::string>& reduction);

/// The same with a start that only a tensor knows: every element of the updates has its place.
Tensor moving_update(const Tensor& x, const Tensor& start, const Tensor& updates) {
  Tensors places;
  for (int i = 0; i < x.rank(); ++i) {
    if (updates.dim(i) > x.dim(i))
      fail("slice_update: updates of shape ", updates.shape(), " do not fit shape ", x.shape());
    Shape shape(std::vector<int64_t>(static_cast<size_t>(x.rank()), 1));
    shape.set(i, updates.dim(i));
    const Tensor along = places_from(start, i, updates.dim(i), x.dim(i));
    places.push_back(ops::broadcast_to(ops::reshape(along, shape), updates.shape()));
  }
  return scatter_update(x, ops::stack(places, -1), updates, std::nullopt);
}

Tensor slice_update(const Tensor& x, const Value& start_indices, const Tensor& updates) {
  const auto [start, moving] = start_in("slice_update", start_indices, x);
  if (moving && updates.rank() == x.rank()) return moving_update(x, moving, updates);
  if (static_cast<int>(start.size()) != x.rank() || updates.rank() != x.rank())
    fail("slice_update: expected a start for each axis of shape ", x.shape(),
         " and updates of as many axes, got ", updates.shape());
  return with_part(x, ops::cast(updates, x.dtype()), start);
}

// ---- writing by position

/// Positions (..., k) in the first k axes of a shape, as numbers of its flattened rows.
Tensor row_numbers(const char* name, const Tensor& indices, const Shape& shape) {
  const int64_t k = indices.rank() == 0 ? 0 : indices.dim(-1);
  if (k < 1 || k > shape.rank())
    fail(name, ": indices of shape ", indices.shape(), " do not fit shape ", shape);
  Tensor number;
  int i = 0;
  for (const Tensor& part : ops::split(indices, Sizes(static_cast<size_t>(k), 1), -1)) {
    const Tensor place =
        ops::check_indices(wrapped(ops::squeeze(part, -1), shape[i]), shape[i],
                           concat(name, ": index"), concat("axis ", i, " of shape ", shape));
    number = number ? number * shape[i] + place : place;
    ++i;
  }
  return ops::reshape(number, {-1});
}

struct RowUpdates {
  Tensor numbers, updates;
  int64_t count;
  Shape of_row;
};

RowUpdates row_updates(const char* name, const Tensor& indices, const Tensor& updates,
                       const Shape& shape) {
  const auto k = static_cast<int>(indices.dim(-1));
  const Tensor numbers = row_numbers(name, indices, shape);
  const Shape of_row = shape.slice(k, shape.rank());
  return {numbers, ops::reshape(updates, Shape{numbers.dim(0)}.concat(of_row)),
          shape.slice(0, k).size(), of_row};
}

Tensor scatter(const Tensor& indices, const Tensor& values, const Shape& shape) {
  const RowUpdates rows = row_updates("scatter", indices, values, shape);
  return ops::reshape(segment_sum(rows.updates, rows.numbers, rows.count), shape);
}

Tensor scatter_update(const Tensor& x, const Tensor& indices, const Tensor& given,
                      const std::optional<std::string>& reduction) {
  const RowUpdates rows =
      row_updates("scatter_update", indices, ops::cast(given, x.dtype()), x.shape());
  if (rows.numbers.dim(0) == 0) return x;
  const auto reduced = [&](SegmentKind kind) {
    return ops::reshape(segment(kind, rows.updates, rows.numbers, rows.count), x.shape());
  };
  if (!reduction) {
    // The last update of a row counts.
    const Tensor order = ops::arange(rows.numbers.dim(0)) + 1;
    const Tensor last = ops::maximum(segment(SegmentKind::max, order, rows.numbers, rows.count), 0);
    const Tensor chosen = ops::take(rows.updates, ops::maximum(last - 1, 0), 0);
    Shape mask = Shape{rows.count};
    for (int i = 0; i < rows.of_row.rank(); ++i) mask.append(1);
    const Tensor old = ops::reshape(x, Shape{rows.count}.concat(rows.of_row));
    return ops::reshape(ops::where(ops::greater(ops::reshape(last, mask), 0), chosen, old),
                        x.shape());
  }
  const auto as_x = [&](const Tensor& result) { return ops::cast(result, x.dtype()); };
  if (*reduction == "add")
    return as_x(x + ops::reshape(segment_sum(rows.updates, rows.numbers, rows.count), x.shape()));
  if (*reduction == "mul") return as_x(x * reduced(SegmentKind::prod));
  if (*reduction == "max") return ops::maximum(x, reduced(SegmentKind::max));
  if (*reduction == "min") return ops::minimum(x, reduced(SegmentKind::min));
  const std::vector<std::string> known{"add", "mul", "max", "min"};
  fail("scatter_update: unknown reduction '", *reduction, "'", did_you_mean(*reduction, known));
}

// ---- classes as vectors

Tensor one_hot(const Tensor& x, int64_t classes, int axis, std::optional<DType> dtype,
               bool sparse) {
  if (sparse) fail("one_hot: sparse=True is not supported: there are no sparse tensors");
  const Tensor whole = is_integer(x.dtype()) ? x : ops::cast(x, DType::int32);
  const Tensor hot = ops::one_hot(whole, classes, dtype.value_or(DType::float32));
  const int along = axis_of(hot, axis);
  std::vector<int> order;
  for (int i = 0; i + 1 < hot.rank(); ++i) order.push_back(i);
  order.insert(order.begin() + along, hot.rank() - 1);
  return ops::transpose(hot, order);
}

Tensor multi_hot(const Tensor& x, std::optional<int64_t> classes, int axis,
                 std::optional<DType> dtype, bool sparse) {
  if (!classes) fail("multi_hot: missing argument 'num_classes'");
  const Tensor hot = one_hot(x, *classes, axis, dtype, sparse);
  return ops::cast(ops::max(hot, {x.rank() > 1 ? 1 : 0}), hot.dtype());
}

Tensors unravel_index(const Tensor& indices, const Shape& shape) {
  Tensors places(static_cast<size_t>(shape.rank()));
  Tensor rest = ops::check_indices(wrapped(indices, shape.size()), shape.size(),
                                   "unravel_index: index", concat("shape ", shape));
  for (int i = shape.rank(); i-- > 0;) {
    places[static_cast<size_t>(i)] = ops::mod(rest, shape[i]);
    rest = ops::floor_divide(rest, shape[i]);
  }
  return places;
}

}  // namespace

CRESCENT_REGISTER(indexing) {
  Operations(registry, "keras.src.ops.core")
      .add("Slice", "slice(inputs, @start_indices, shape)", &slice,
           "A part of a shape from these indices on.")
      .add("SliceUpdate", "slice_update(inputs, @start_indices, updates)", &slice_update,
           "The inputs with a part from these indices on replaced.")
      .add("Scatter", "scatter(indices, values, shape)", &scatter,
           "Zeros with values at these indices.")
      .add("ScatterUpdate", "scatter_update(inputs, indices, updates, reduction=None)",
           &scatter_update,
           "The inputs with elements at indices replaced, or added to, multiplied, ...");
  Operations(registry, "keras.src.ops.nn")
      .add("OneHot", "one_hot(x, num_classes, axis=-1, dtype=None, sparse=False)", &one_hot,
           "A row of zeros with a one for each class number.")
      .add("MultiHot", "multi_hot(inputs, num_classes=None, axis=-1, dtype=None, sparse=False)",
           &multi_hot, "A row of zeros with ones at all the class numbers of a row.");
  Operations(registry, "keras.src.ops.numpy")
      .add("GetItem", "get_item(x, @key)", &get_item,
           "x[key]: positions from 0, {start, stop, step}, '...', null for a new axis.")
      .add("Take", "take(x, indices, axis=None)", &take, "The parts at indices along an axis.")
      .add("TakeAlongAxis", "take_along_axis(x, indices, axis=None)", &take_along_axis,
           "The elements at indices along an axis, an index for each.")
      .add("UnravelIndex", "unravel_index(indices, shape)", &unravel_index,
           "Indices of a flat tensor as indices of each axis.");
}

}  // namespace crescent::operations
