#include "tensors/indexing.h"

#include <algorithm>

#include "crescent/layer/operation.h"
#include "crescent/program/element_writing.h"
#include "tensors/selected_copies.h"
#include "tensors/selectors.h"

namespace crescent::lua {
namespace {

const Value& whole_axis() {
  static const Value range(Dict{{"start", Value()}});
  return range;
}

/// The key of get_item for a range along an axis whose length is unknown.
Value open_range(const Selector& range) {
  if (range.first == 1 && range.last == -1 && range.step == 1) return whole_axis();
  const auto from_zero = [](int64_t position) { return position > 0 ? position - 1 : position; };
  const int64_t end = from_zero(range.last) + (range.step > 0 ? 1 : -1);
  const bool reaches_end = range.step > 0 ? range.last == -1 : range.last == 1;
  return Dict{{"start", from_zero(range.first)},
              {"stop", reaches_end ? Value() : Value(end)},
              {"step", range.step}};
}

Value closed_range(const Selector& selector, const Shape& shape, int axis) {
  const auto [first, count, step] =
      range_of(selector.first, selector.last, selector.step, shape, axis);
  if (step == 1 && count == shape[axis]) return whole_axis();
  if (count == 0) return Dict{{"start", 0}, {"stop", 0}};
  const int64_t last = first + (count - 1) * step, stop = last + (step > 0 ? 1 : -1);
  return Dict{{"start", first}, {"stop", stop < 0 ? Value() : Value(stop)}, {"step", step}};
}

/// The item of a get_item key that stands for a position or a range along one axis.
Value basic_item(const Selector& selector, const Shape& shape, int axis) {
  const bool is_known_size = shape[axis] >= 0;
  if (selector.kind == Selector::Kind::range)
    return is_known_size ? closed_range(selector, shape, axis) : open_range(selector);
  if (is_known_size) return offset_of(selector.first, shape, axis);
  if (selector.first == 0)
    fail("position 0 is outside of axis ", axis, " of shape ", shape, kFromOne);
  return selector.first > 0 ? selector.first - 1 : selector.first;
}

/// Two keys for get_item: the first selects by the positions and ranges, the second selects by the
/// lists from the result of the first.
struct SplitKey {
  List range_key, list_key;
  bool has_ranges = false, has_lists = false;
};

SplitKey split_key(const Selectors& selectors, const Shape& shape) {
  SplitKey keys;
  int axis = 0;
  for (const Selector& selector : selectors) {
    if (selector.is_list_or_mask()) {
      keys.has_lists = true;
      keys.range_key.insert(keys.range_key.end(), static_cast<size_t>(selector.axes()),
                            whole_axis());
      if (selector.kind == Selector::Kind::mask) expect_mask_fits(selector.tensor, shape, axis);
      keys.list_key.push_back(Codec<Tensor>::encode(
          selector.kind == Selector::Kind::mask ? selector.tensor
                                                : offsets_of(selector.tensor, shape, axis)));
    } else {
      keys.range_key.push_back(basic_item(selector, shape, axis));
      keys.has_ranges = keys.has_ranges || !(keys.range_key.back() == whole_axis());
      if (selector.kind == Selector::Kind::range) keys.list_key.push_back(whole_axis());
    }
    axis += selector.axes();
  }
  return keys;
}

Value get_item(const Value& x, List key) {
  return (*get<Operation>(Value("get_item")))({{"x", x}, {"key", std::move(key)}});
}

Value read(const Value& x, const Selectors& selectors, const Shape& shape) {
  SplitKey keys = split_key(selectors, shape);
  const Value selection = keys.has_ranges ? get_item(x, std::move(keys.range_key)) : x;
  return keys.has_lists ? get_item(selection, std::move(keys.list_key)) : selection;
}

/// The selected elements as a view without a copy. This works for positions followed by at most one
/// range, whose elements are contiguous; for other keys returns an empty Tensor.
Tensor view_of(const Tensor& tensor, const Selectors& selectors) {
  Tensor view = tensor;
  size_t axis = 0;
  for (; axis < selectors.size() && selectors[axis].kind == Selector::Kind::position; ++axis) {
    const int64_t row = offset_of(selectors[axis].first, tensor.shape(), static_cast<int>(axis));
    view = view.view_rows(row, 1).view(view.shape().slice(1, view.rank()));
  }
  for (size_t later_axis = axis; later_axis < selectors.size(); ++later_axis) {
    const Selector& selector = selectors[later_axis];
    if (selector.is_list_or_mask() || selector.kind == Selector::Kind::position) return {};
    const AxisRange range = range_of(selector.first, selector.last, selector.step, tensor.shape(),
                                     static_cast<int>(later_axis));
    const bool is_whole_axis =
        range.step == 1 && range.count == tensor.dim(static_cast<int>(later_axis));
    if (!is_whole_axis && (later_axis > axis || range.step != 1)) return {};
    if (!is_whole_axis) view = view.view_rows(range.first, range.count);
  }
  return view;
}

Tensor read(const Tensor& tensor, const Selectors& selectors) {
  if (is_followed(tensor)) return read_elements(tensor, selectors);
  if (const Tensor view = view_of(tensor, selectors)) return view;
  const Tensor copy = read_elements(tensor, selectors);
  const bool has_lists = std::any_of(selectors.begin(), selectors.end(),
                                     [](const Selector& s) { return s.is_list_or_mask(); });
  if (!has_lists && copy.rank() > 0 && copy.storage() != tensor.storage())
    record_copy(copy, tensor, selectors);
  return copy;
}

[[noreturn]] void fail_no_attribute(lua_State* L) {
  const HandleType* type = type_of(L, 1);
  std::vector<std::string> names = type->property_names();
  for (std::string& name : type->method_names()) names.push_back(std::move(name));
  const std::string name = text_of(L, 2);
  fail(type->name(), ": no attribute '", name, "'", did_you_mean(name, names));
}

/// Whether the key is the position behind the last one, for which ipairs() expects nil.
bool is_one_past_end(lua_State* L, const Shape& shape) {
  return lua_isinteger(L, 2) && shape.rank() > 0 && shape[0] >= 0 &&
         lua_tointeger(L, 2) == shape[0] + 1;
}

/// The metamethod __index of symbols, whose first axis is the batch.
int index_symbol(lua_State* L) {
  if (lua_type(L, 2) == LUA_TSTRING) fail_no_attribute(L);
  const Symbol symbol = Read<Symbol>::from(L, 1);
  const Shape& shape = symbol.shape();
  if (is_one_past_end(L, shape)) return lua_pushnil(L), 1;
  const Value x(std::make_shared<BoxedSymbol>(symbol));
  return push_value(L, read(x, selectors_at(L, 2, shape), shape)), 1;
}

}  // namespace

Tensor read_elements(const Tensor& tensor, const Selectors& selectors) {
  return Codec<Tensor>::decode(read(Codec<Tensor>::encode(tensor), selectors, tensor.shape()));
}

int index_tensor(lua_State* L) {
  if (lua_type(L, 2) == LUA_TSTRING) fail_no_attribute(L);
  const Tensor tensor = to_tensor(L, 1);
  if (is_one_past_end(L, tensor.shape())) return lua_pushnil(L), 1;
  const Tensor selection = read(tensor, selectors_at(L, 2, tensor.shape()));
  if (selection.rank() == 0 && !is_followed(selection)) return push_numbers(L, selection), 1;
  return push(L, selection), 1;
}

void add_tensor_indexing(HandleType& type) {
  type.missing_key_handler(raw("index", index_tensor));
  type.position_setter(raw("newindex", assign_elements));
}

void add_symbol_indexing(HandleType& type) { type.missing_key_handler(raw("index", index_symbol)); }

}  // namespace crescent::lua
