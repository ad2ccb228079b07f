// Elements by position: reading and numbering them.
#include "crescent/ops/indexing.h"

#include "crescent/ops/sorting.h"
#include "ops/functions/array_ops.h"
#include "ops/functions/positions.h"

namespace crescent {

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

namespace ops {
namespace {

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
      all.insert(all.end(), rank - named, Dict{{"start", Value()}});
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
  return ops::gather(flat, nonzero(ops::reshape(mask, {-1})).front(), axis);
}

}  // namespace

Tensor take(const Tensor& given, const Tensor& indices, std::optional<int64_t> axis) {
  const auto [x, along] = flat_without(given, axis);
  return ops::gather(x, wrapped(indices, x.dim(along)), along);
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
  return ops::gather_along_axis(widened(x, wide_x), widened(places, wide_places), along);
}

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
      x = ops::gather(x, wrapped(places, x.dim(axis)), axis);
      axis += places.rank();
    }
  }
  return x;
}

Tensor one_hot(const Tensor& x, int64_t classes, int axis, std::optional<DType> dtype) {
  const Tensor whole = is_integer(x.dtype()) ? x : ops::cast(x, DType::int32);
  const Tensor hot = ops::one_hot(whole, classes, dtype.value_or(DType::float32));
  const int along = axis_of(hot, axis);
  std::vector<int> order;
  for (int i = 0; i + 1 < hot.rank(); ++i) order.push_back(i);
  order.insert(order.begin() + along, hot.rank() - 1);
  return ops::transpose(hot, order);
}

Tensor multi_hot(const Tensor& x, int64_t classes, int axis, std::optional<DType> dtype) {
  const Tensor hot = one_hot(x, classes, axis, dtype);
  return ops::cast(ops::max(hot, {x.rank() > 1 ? 1 : 0}), hot.dtype());
}

Tensors unravel_index(const Tensor& indices, const Shape& shape) {
  Tensors places(shape.rank());
  Tensor rest = ops::check_indices(wrapped(indices, shape.size()), shape.size(),
                                   "unravel_index: index", concat("shape ", shape));
  for (int i = shape.rank(); i-- > 0;) {
    places[i] = ops::mod(rest, shape[i]);
    rest = ops::floor_divide(rest, shape[i]);
  }
  return places;
}

}  // namespace ops
}  // namespace crescent
