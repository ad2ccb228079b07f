#include "tensors/selectors.h"

#include <algorithm>
#include <limits>

#include "values/convert.h"

namespace crescent::lua {
namespace {

Selector list_or_mask(const Tensor& tensor) {
  if (tensor.dtype() == DType::boolean) return {.kind = Selector::Kind::mask, .tensor = tensor};
  if (!is_integer(tensor.dtype()))
    fail("a tensor of positions has a dtype of integers, a mask bool; got ", tensor.spec(),
         ": cast it");
  return {.kind = Selector::Kind::list, .tensor = tensor};
}

int64_t position_at(lua_State* L, int index) {
  int is_exact = 0;
  const lua_Integer position = lua_tointegerx(L, index, &is_exact);
  if (!is_exact || lua_type(L, index) != LUA_TNUMBER)
    fail("a position of a tensor is an integer, got ", describe(L, index));
  return position;
}

/// The numbers of the list at `index`.
std::vector<int64_t> positions_at(lua_State* L, int index) {
  check_list(L, index);
  reserve(L, 4);
  std::vector<int64_t> positions;
  for (lua_Integer i = 1; i <= static_cast<lua_Integer>(lua_rawlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    positions.push_back(position_at(L, lua_gettop(L)));
    lua_pop(L, 1);
  }
  return positions;
}

/// The selector for a table in a key: {} is the whole axis, {a} one position, {a, b} and {a, b,
/// step} are ranges.
Selector range_at(lua_State* L, int index) {
  const std::vector<int64_t> ends = positions_at(L, index);
  if (ends.size() > 3)
    fail("a range is {first, last, step}, got ", ends.size(),
         " numbers; a list of positions is a tensor of integers: cr.tensor({1, 3}, \"int32\")");
  Selector range;
  if (!ends.empty()) range.first = range.last = ends[0];
  if (ends.size() > 1) range.last = ends[1];
  if (ends.size() > 2) range.step = ends[2];
  if (range.step == 0) fail("the step of a range must not be 0");
  return range;
}

Selector selector_at(lua_State* L, int index) {
  if (lua_type(L, index) == LUA_TNUMBER) {
    const int64_t position = position_at(L, index);
    return {.kind = Selector::Kind::position, .first = position, .last = position};
  }
  if (is_tensor_like(L, index)) return list_or_mask(to_tensor(L, index));
  if (is_plain_table(L, index)) return range_at(L, index);
  fail_expected(L, index, "a position, a range {first, last} or a tensor of positions");
}

Selectors items_at(lua_State* L, int index) {
  if (!is_plain_table(L, index)) return {selector_at(L, index)};
  check_list(L, index);
  reserve(L, 4);
  Selectors selectors;
  for (lua_Integer i = 1; i <= static_cast<lua_Integer>(lua_rawlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    selectors.push_back(selector_at(L, lua_gettop(L)));
    lua_pop(L, 1);
  }
  return selectors;
}

void expect_axes(const Selectors& selectors, const Shape& shape) {
  int axis_count = 0;
  for (const Selector& selector : selectors) axis_count += selector.axes();
  if (axis_count <= shape.rank()) return;
  if (shape.rank() == 0) fail("a scalar has no positions: use t:item()");
  fail("a key for ", axis_count, " axes does not fit shape ", shape,
       selectors.size() > 1 ? "; {i, j} is a position for each axis, a list of rows is a tensor of "
                              "integers: cr.tensor({1, 3}, \"int32\")"
                            : "");
}

}  // namespace

Selectors selectors_at(lua_State* L, int index, const Shape& shape) {
  Selectors selectors = items_at(L, index);
  expect_axes(selectors, shape);
  int axis_count = 0;
  for (const Selector& selector : selectors) axis_count += selector.axes();
  selectors.resize(selectors.size() + static_cast<size_t>(shape.rank() - axis_count));
  return selectors;
}

int64_t offset_of(int64_t position, const Shape& shape, int axis) {
  const int64_t count = shape[axis], zero_based = position > 0 ? position - 1 : position + count;
  if (position == 0 || zero_based < 0 || zero_based >= count)
    fail("position ", position, " is outside of axis ", axis, " of shape ", shape, kFromOne);
  return zero_based;
}

Tensor offsets_of(const Tensor& list, const Shape& shape, int axis) {
  const int64_t count = shape[axis];
  const Tensor integers =
      ops::cast(list, list.dtype() == DType::int64 ? DType::int64 : DType::int32);
  if (list.is_abstract() || count < 0)
    return ops::where(
        ops::greater(integers, 0), integers - 1,
        ops::where(ops::equal(integers, 0), std::numeric_limits<int32_t>::max(), integers));
  const Tensor positions = ops::cast(integers, DType::int64).to(nullptr);
  std::vector<int64_t> indices(static_cast<size_t>(positions.size()));
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = offset_of(positions.data<int64_t>()[i], shape, axis);
  return Tensor::from(indices, list.shape());
}

void expect_mask_fits(const Tensor& mask, const Shape& shape, int axis) {
  if (!(shape.slice(axis, axis + mask.rank()).compatible(mask.shape())))
    fail("a mask of shape ", mask.shape(), " does not fit shape ", shape, " from axis ", axis);
}

AxisRange range_of(int64_t first, int64_t last, int64_t step, const Shape& shape, int axis) {
  const int64_t count = shape[axis], limit = count + 1;
  const int64_t begin = std::clamp(first, -limit, limit), end = std::clamp(last, -limit, limit);
  const int64_t from = begin > 0 ? begin - 1 : begin + count;
  const int64_t to = end > 0 ? end - 1 : end == 0 ? -1 : end + count;
  const int64_t length = step > 0 ? to - from + 1 : from - to + 1;
  const int64_t lowest = std::min(from, to), highest = std::max(from, to);
  const bool is_inside =
      length == 0 ? lowest >= -1 && highest <= count : length > 0 && lowest >= 0 && highest < count;
  if (first == 0 || from < 0 || !is_inside)
    fail("positions ", first, " to ", last, " are outside of axis ", axis, " of shape ", shape,
         kFromOne, ", both ends are included");
  const int64_t stride = std::clamp(step, -limit, limit);
  return {from, length == 0 ? 0 : (length - 1) / std::abs(stride) + 1, stride};
}

}  // namespace crescent::lua
