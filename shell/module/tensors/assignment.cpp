// Assignment to elements of a tensor: t[key] = value.
#include <algorithm>

#include "crescent/ops/elementwise.h"
#include "crescent/program/element_writing.h"
#include "crescent/tensor/strings.h"
#include "lua/state_lock.h"
#include "tensors/indexing.h"
#include "tensors/selected_copies.h"
#include "tensors/selectors.h"

namespace crescent::lua {
namespace {

/// The elements selected along some of the axes: their shape, and their offsets from the element at
/// index 0 of these axes.
struct AxisIndices {
  Shape shape;
  std::vector<int64_t> offsets;
};

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()), 1);
  for (int i = shape.rank() - 1; i-- > 0;)
    strides[static_cast<size_t>(i)] = strides[static_cast<size_t>(i) + 1] * shape[i + 1];
  return strides;
}

/// The offsets of the elements at which a mask over some axes is true; `stride` is the stride of
/// the last of these axes.
Tensor offsets_of_mask(const Tensor& mask_tensor, int64_t stride) {
  const Tensor mask = mask_tensor.to(nullptr);
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < mask.size(); ++i)
    if (mask.data<bool>()[i]) offsets.push_back(i * stride);
  return Tensor::from(offsets, {static_cast<int64_t>(offsets.size())});
}

/// The elements of a tensor that a key selects, in the order and shape in which reading with that
/// key returns them.
class Selection {
 public:
  Selection(const Selectors& selectors, const Shape& shape) {
    const std::vector<int64_t> strides = strides_of(shape);
    int axis = 0;
    for (const Selector& selector : selectors) {
      const int last_axis = axis + selector.axes() - 1;
      add(selector, shape, axis, last_axis < 0 ? 1 : strides[static_cast<size_t>(last_axis)]);
      axis = last_axis + 1;
    }
    if (list_offsets_) insert_list_axis();
  }
  Shape shape() const {
    Shape result;
    for (const AxisIndices& indices : axes_) result = result.concat(indices.shape);
    return result;
  }
  /// The selection as runs of contiguous elements. Returns the offsets at which the runs begin and
  /// their length, which is the same for all runs.
  std::pair<std::vector<int64_t>, int64_t> runs() const;

 private:
  void add(const Selector& selector, const Shape& shape, int axis, int64_t stride) {
    if (selector.kind == Selector::Kind::position)
      begin_offset_ += offset_of(selector.first, shape, axis) * stride;
    else if (selector.kind == Selector::Kind::range)
      add_range(range_of(selector.first, selector.last, selector.step, shape, axis), stride);
    else
      add_list_or_mask(selector, shape, axis, stride);
  }
  void add_range(const AxisRange& range, int64_t stride) {
    AxisIndices indices{{range.count}, {}};
    for (int64_t i = 0; i < range.count; ++i)
      indices.offsets.push_back((range.first + i * range.step) * stride);
    axes_.push_back(std::move(indices));
  }
  /// Adds a list or a mask. Several lists in one key select element by element, as in NumPy, so
  /// their offsets are added.
  void add_list_or_mask(const Selector& selector, const Shape& shape, int axis, int64_t stride) {
    const bool is_mask = selector.kind == Selector::Kind::mask;
    if (is_mask) expect_mask_fits(selector.tensor, shape, axis);
    const Tensor offsets = is_mask ? offsets_of_mask(selector.tensor, stride)
                                   : offsets_of(selector.tensor, shape, axis) * stride;
    if (list_offsets_ && list_axis_ != axes_.size()) list_axis_ = 0;
    if (!list_offsets_) list_axis_ = axes_.size();
    list_offsets_ = list_offsets_ ? list_offsets_ + offsets : offsets;
  }
  void insert_list_axis() {
    const Tensor offsets = ops::cast(list_offsets_, DType::int64).to(nullptr);
    const auto* first_offset = offsets.data<int64_t>();
    axes_.insert(axes_.begin() + static_cast<ptrdiff_t>(list_axis_),
                 {offsets.shape(), {first_offset, first_offset + offsets.size()}});
  }

  std::vector<AxisIndices> axes_;
  int64_t begin_offset_ = 0;
  Tensor list_offsets_;
  size_t list_axis_ = 0;  ///< the index in axes_ at which the axis of the elements selected by
                          ///< lists is inserted
};

std::pair<std::vector<int64_t>, int64_t> Selection::runs() const {
  const auto are_contiguous = [](const std::vector<int64_t>& offsets, int64_t run_length) {
    for (size_t i = 0; i < offsets.size(); ++i)
      if (offsets[i] != offsets[0] + static_cast<int64_t>(i) * run_length) return false;
    return !offsets.empty();
  };
  std::vector<int64_t> starts{begin_offset_};
  int64_t run_length = 1;
  size_t outer_axis_count = axes_.size();
  for (; outer_axis_count > 0 && are_contiguous(axes_[outer_axis_count - 1].offsets, run_length);
       --outer_axis_count) {
    starts[0] += axes_[outer_axis_count - 1].offsets[0];
    run_length *= static_cast<int64_t>(axes_[outer_axis_count - 1].offsets.size());
  }
  for (size_t i = 0; i < outer_axis_count; ++i) {
    std::vector<int64_t> next_starts;
    next_starts.reserve(starts.size() * axes_[i].offsets.size());
    for (const int64_t start : starts)
      for (const int64_t offset : axes_[i].offsets) next_starts.push_back(start + offset);
    starts = std::move(next_starts);
  }
  return {std::move(starts), run_length};
}

/// Whether the value at `index` is an integer in the range of the dtype.
bool is_element(lua_State* L, int index, DType dtype) {
  int is_whole = 0;
  const lua_Integer number = lua_tointegerx(L, index, &is_whole);
  const bool is_signed = dtype != DType::uint8;
  const int bits = 8 * static_cast<int>(size_of(dtype)) - is_signed;
  const lua_Integer max_value = bits == 63 ? LUA_MAXINTEGER : (lua_Integer{1} << bits) - 1;
  return is_whole && number <= max_value && number >= (is_signed ? -max_value - 1 : 0);
}

/// Fails if the value, or a number in the table, would have to be rounded or clamped to the integer
/// dtype.
void expect_elements(lua_State* L, int index, DType dtype) {
  if (lua_type(L, index) == LUA_TNUMBER && !is_element(L, index, dtype))
    fail("an element of ", name_of(dtype), " is an integer that fits, got ", describe(L, index),
         "; cast() makes a tensor of another dtype");
  if (!is_plain_table(L, index)) return;
  luaL_checkstack(L, 4, "a table in a table in a table ...");
  for (lua_Integer i = 1; i <= static_cast<lua_Integer>(lua_rawlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    expect_elements(L, lua_gettop(L), dtype);
    lua_pop(L, 1);
  }
}

Tensor elements_at(lua_State* L, int index, DType dtype) {
  if (lua_isnil(L, index)) fail("elements of a tensor cannot be nil");
  if (is_integer(dtype)) expect_elements(L, index, dtype);
  if (lua_type(L, index) == LUA_TSTRING && dtype == DType::string) {
    const std::string text = text_of(L, index);
    return string_tensor({&text, 1}, {});
  }
  return to_tensor(L, index, dtype);
}

/// Returns `value` as complex numbers. If its last axis has pairs (real, imaginary), the form in
/// which complex tensors are read, the pairs are joined.
Tensor as_complex(const Tensor& value, const Shape& shape) {
  const bool has_pairs = value.rank() == shape.rank() + 1 && value.dim(-1) == 2;
  return has_pairs ? ops::view_as_complex(ops::real(value)) : value;
}

/// Returns `value` broadcast to the shape of the selected elements.
Tensor broadcast_to_selection(const Tensor& value, const Shape& shape) {
  if (value.is_abstract()) expect_writable(value);
  if (value.shape() == shape) return value;
  const bool fits =
      value.rank() <= shape.rank() &&
      std::equal(value.shape().begin(), value.shape().end(), shape.end() - value.rank(),
                 [](int64_t from, int64_t to) { return from == to || from == 1; });
  if (!fits)
    fail("a value of shape ", value.shape(), " cannot be assigned to elements of shape ", shape);
  return ops::broadcast_to(value, shape);
}

/// If the tensor shares the storage of a recorded copy, reads the elements of the copy from its
/// source again. Fails if elements of the source cannot be written.
void refresh_copy(const Tensor& tensor) {
  const auto found = selected_copy(tensor);
  if (!found) return;
  expect_writable(found->source);
  refresh_copy(found->source);
  const int64_t start = 0;
  write_elements(found->copy, {&start, 1}, found->copy.size(),
                 read_elements(found->source, found->selectors));
}

/// If the tensor shares the storage of a recorded copy, writes the elements of the copy to its
/// source.
void write_copy_back(const Tensor& tensor) {
  const auto found = selected_copy(tensor);
  if (!found) return;
  const auto [starts, run_length] = Selection(found->selectors, found->source.shape()).runs();
  write_elements(found->source, starts, run_length, found->copy);
  write_copy_back(found->source);
}

void write(const Tensor& tensor, const Selectors& selectors, const Tensor& value, bool has_pairs) {
  expect_writable(tensor);
  for (const Selector& selector : selectors)
    if (selector.tensor && selector.tensor.is_abstract()) expect_writable(selector.tensor);
  const Selection selection(selectors, tensor.shape());
  const Shape shape = selection.shape();
  const Tensor elements =
      broadcast_to_selection(has_pairs ? as_complex(value, shape) : value, shape);
  const auto [starts, run_length] = selection.runs();
  refresh_copy(tensor);
  write_elements(tensor, starts, run_length, elements);
  write_copy_back(tensor);
}

}  // namespace

int assign_elements(lua_State* L) {
  const Variable* variable = to_handle<Variable>(L, 1);
  // a step in the background may read the elements that are written
  StateLock::instance().await_batch_end();
  Tensor tensor = to_tensor(L, 1);
  if (tensor.is_abstract()) expect_writable(tensor);
  const Selectors selectors = selectors_at(L, 2, tensor.shape());
  const Tensor value = elements_at(L, 3, tensor.dtype());
  if (variable) tensor = tensor.clone();
  const bool may_have_pairs = tensor.dtype() == DType::complex64 && is_plain_table(L, 3);
  write(tensor, selectors, value, may_have_pairs);
  if (variable) variable->assign(tensor);
  return 0;
}

}  // namespace crescent::lua
