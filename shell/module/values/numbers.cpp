// Converts nested Lua tables to numbers, strings, shapes and tensors. The tables may contain
// tensors.
#include <cmath>

#include "crescent/program/program.h"
#include "crescent/tensor/strings.h"
#include "lua/handle.h"
#include "lua/lists.h"
#include "values/convert.h"

namespace crescent::lua {
namespace {

/// Collects the elements of nested tables and the shape of these tables.
class Elements {
 public:
  explicit Elements(lua_State* L) : L_(L) {}

  void read(int index) {
    find_shape(index);
    collect(index, 0);
  }
  bool has_tensors() const { return has_tensors_; }
  Tensor tensor(std::optional<DType> dtype) const {
    const Shape shape(dims_);
    if (!texts_.empty() || dtype == DType::string) {
      if (dtype.value_or(DType::string) != DType::string)
        fail("expected numbers for ", *dtype, ", got strings");
      if (texts_.size() != values_.size()) fail("expected strings, got numbers");
      return string_tensor(texts_, shape);
    }
    const Tensor doubles = Tensor::from(values_, shape);
    if (!dtype)
      return are_all_booleans_ && !values_.empty() ? ops::cast(doubles, DType::boolean)
                                                   : ops::cast(doubles, floatx());
    if (*dtype == DType::int64) return Tensor::from(integers_, shape);
    return ops::cast(doubles, *dtype);
  }

 private:
  void find_shape(int index) {
    reserve(L_, 2 * Shape::kMaxRank + 4);
    lua_pushvalue(L_, index);
    int pushed_count = 1;
    while (is_plain_table(L_, -1)) {
      if (dims_.size() == Shape::kMaxRank)
        fail("expected tables nested at most ", Shape::kMaxRank, " deep");
      dims_.push_back(static_cast<int64_t>(lua_rawlen(L_, -1)));
      lua_rawgeti(L_, -1, 1);
      ++pushed_count;
    }
    lua_pop(L_, pushed_count);
  }
  void collect(int index, size_t axis) {
    if (axis == dims_.size() || is_tensor_like(L_, index)) return add_element(index);
    if (!is_plain_table(L_, index))
      fail("expected a table of ", dims_[axis], " at depth ", axis + 1, ", got ",
           describe(L_, index));
    const auto length = static_cast<int64_t>(lua_rawlen(L_, index));
    if (length != dims_[axis])
      fail("rows differ in length: expected ", dims_[axis], ", got ", length);
    for (int64_t i = collect_in_order(index, axis) + 1; i <= length; ++i) {
      lua_rawgeti(L_, index, i);
      collect(lua_gettop(L_), axis + 1);
      lua_pop(L_, 1);
    }
  }
  /// Collects items as long as lua_next visits them in the order 1, 2, ..., as it does for most
  /// tables; returns the number of collected items. At the first other key, fails unless the table
  /// is a list.
  int64_t collect_in_order(int index, size_t axis) {
    int64_t count = 0;
    for (lua_pushnil(L_); lua_next(L_, index); lua_pop(L_, 1)) {
      if (!lua_isinteger(L_, -2) || lua_tointeger(L_, -2) != count + 1) {
        lua_pop(L_, 2);
        check_list(L_, index);
        return count;
      }
      collect(lua_gettop(L_), axis + 1);
      ++count;
    }
    return count;
  }
  void add_element(int index) {
    if (lua_isboolean(L_, index)) {
      values_.push_back(lua_toboolean(L_, index));
    } else if (lua_type(L_, index) == LUA_TNUMBER) {
      are_all_booleans_ = false;
      values_.push_back(lua_tonumber(L_, index));
    } else if (lua_type(L_, index) == LUA_TSTRING && texts_.size() == values_.size()) {
      texts_.push_back(text_of(L_, index));
      values_.push_back(0);
    } else if (is_tensor_like(L_, index) || (has_tensors_ && is_plain_table(L_, index))) {
      has_tensors_ = true;
      values_.push_back(0);
    } else {
      fail("expected a number, got ", describe(L_, index));
    }
    if (!texts_.empty() && texts_.size() != values_.size())
      fail("expected a string, got ", describe(L_, index));
    const double value = values_.back();
    const bool fits_int64 = std::abs(value) < 9.2e18;
    integers_.push_back(lua_isinteger(L_, index) ? lua_tointeger(L_, index)
                        : fits_int64             ? static_cast<int64_t>(value)
                                                 : 0);
  }

  lua_State* L_;
  std::vector<int64_t> dims_;
  std::vector<double> values_;
  std::vector<int64_t> integers_;
  std::vector<std::string> texts_;  ///< the strings in the tables
  bool are_all_booleans_ = true, has_tensors_ = false;
};

/// Stacks the items of a table that contains tensors, or tables of tensors. Numbers among them take
/// the dtype of the tensors, as the operands of an operator do.
Tensor stack_items(lua_State* L, int index) {
  reserve(L, 4);
  std::vector<ops::Operand> items;
  for (lua_Integer i = 1; i <= static_cast<lua_Integer>(lua_rawlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    const bool is_number = lua_type(L, -1) == LUA_TNUMBER, is_integer = lua_isinteger(L, -1);
    items.push_back(!is_number   ? ops::Operand(to_tensor(L, -1))
                    : is_integer ? ops::Operand(lua_tointeger(L, -1))
                                 : ops::Operand(lua_tonumber(L, -1)));
    lua_pop(L, 1);
  }
  std::optional<DType> dtype;
  for (const ops::Operand& item : items)
    if (item.tensor) dtype = promote(dtype.value_or(item.tensor.dtype()), item.tensor.dtype());
  for (const ops::Operand& item : items)
    if (!item.tensor) dtype = ops::result_dtype(ops::zeros({}, *dtype), item);
  Tensors tensors;
  for (const ops::Operand& item : items)
    tensors.push_back(item.tensor ? ops::cast(item.tensor, *dtype)
                                  : Tensor::scalar(item.number, *dtype));
  return ops::stack(tensors, 0);
}

void push_number(lua_State* L, StringId value) { push_string(L, text_of(value)); }
void push_number(lua_State* L, bool value) { lua_pushboolean(L, value); }
void push_number(lua_State* L, double value) { push_float(L, value); }
template <std::integral T>
requires(!std::same_as<T, bool>) void push_number(lua_State* L, T value) {
  lua_pushinteger(L, static_cast<lua_Integer>(value));
}

template <class T>
void push_elements(lua_State* L, const T* values, const Shape& shape, int axis) {
  if (axis == shape.rank()) return push_number(L, *values);
  const int64_t row_count = shape[axis];
  int64_t stride = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) stride *= shape[i];
  lua_createtable(L, static_cast<int>(row_count), 0);
  for (int64_t i = 0; i < row_count; ++i) {
    push_elements(L, values + i * stride, shape, axis + 1);
    lua_rawseti(L, -2, i + 1);
  }
}

}  // namespace

bool is_tensor_like(lua_State* L, int index) {
  return to_handle<Tensor>(L, index) || to_handle<Variable>(L, index);
}

Tensor to_tensor(lua_State* L, int index, std::optional<DType> dtype) {
  index = lua_absindex(L, index);
  auto convert = [&](const Tensor& tensor) { return dtype ? ops::cast(tensor, *dtype) : tensor; };
  if (auto* tensor = to_handle<Tensor>(L, index)) return convert(*tensor);
  if (auto* variable = to_handle<Variable>(L, index)) return convert(variable->value());
  if (lua_type(L, index) == LUA_TNUMBER) {
    const bool fits_int32 =
        lua_isinteger(L, index) && std::in_range<int32_t>(lua_tointeger(L, index));
    if (lua_isinteger(L, index) && dtype == DType::int64)
      return Tensor::from(std::vector<int64_t>{lua_tointeger(L, index)}, {});
    return Tensor::scalar(lua_tonumber(L, index),
                          dtype.value_or(fits_int32 ? DType::int32 : floatx()));
  }
  if (lua_isboolean(L, index))
    return Tensor::scalar(lua_toboolean(L, index), dtype.value_or(DType::boolean));
  if (is_plain_table(L, index)) {
    Elements elements(L);
    elements.read(index);
    return elements.has_tensors() ? convert(stack_items(L, index)) : elements.tensor(dtype);
  }
  if (to_handle<Symbol>(L, index))
    fail(
        "expected a tensor, got a symbol, which has no values: use layers (Lambda, Add, ...) to "
        "build models");
  fail_expected(L, index, "a tensor");
}

Tensors to_tensors(lua_State* L, int index) {
  if (lua_isnoneornil(L, index)) return {};
  if (!is_plain_table(L, index)) return {to_tensor(L, index)};
  index = lua_absindex(L, index);
  check_list(L, index);
  Tensors tensors;
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, index));
  for (lua_Integer i = 1; i <= length; ++i) {
    lua_rawgeti(L, index, i);
    const bool is_missing = lua_isboolean(L, -1) && !lua_toboolean(L, -1);
    tensors.push_back(is_missing ? Tensor() : to_tensor(L, -1));
    lua_pop(L, 1);
  }
  return tensors;
}

namespace {

/// Replaces a tensor of numbers with at most `max_rank` axes by its number or the table of its
/// numbers: rates and sizes may be computed with tensors.
void replace_by_numbers(lua_State* L, int index, int max_rank) {
  if (!is_tensor_like(L, index)) return;
  index = lua_absindex(L, index);
  const Tensor tensor = to_tensor(L, index);
  const bool are_numbers = is_floating(tensor.dtype()) || is_integer(tensor.dtype());
  if (!are_numbers || tensor.rank() > max_rank) return;
  push_numbers(L, tensor);
  lua_replace(L, index);
}

template <class T>
std::vector<T> numbers_at(lua_State* L, int index, std::string_view what,
                          T (*read)(lua_State* L, int index)) {
  if (lua_isnil(L, index)) return {};
  replace_by_numbers(L, index, 1);
  if (lua_type(L, index) == LUA_TNUMBER) return {read(L, index)};
  if (!is_plain_table(L, index)) fail_expected(L, index, what);
  check_list(L, index);
  std::vector<T> numbers;
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, index));
  for (lua_Integer i = 1; i <= length; ++i) {
    lua_rawgeti(L, index, i);
    numbers.push_back(read(L, lua_gettop(L)));
    lua_pop(L, 1);
  }
  return numbers;
}

}  // namespace

int64_t to_integer(lua_State* L, int index) {
  int is_exact = 0;
  replace_by_numbers(L, index, 0);
  const lua_Integer n = lua_type(L, index) == LUA_TNUMBER ? lua_tointegerx(L, index, &is_exact) : 0;
  if (!is_exact) fail_expected(L, index, "an integer");
  return n;
}

double to_number(lua_State* L, int index) {
  replace_by_numbers(L, index, 0);
  if (lua_type(L, index) != LUA_TNUMBER) fail_expected(L, index, "a number");
  return lua_tonumber(L, index);
}

std::vector<int64_t> to_integers(lua_State* L, int index) {
  return numbers_at(L, index, "an integer or a table of integers", to_integer);
}

std::vector<double> to_numbers(lua_State* L, int index) {
  return numbers_at(L, index, "a number or a table of numbers", to_number);
}

namespace {

/// The size of an axis; null and false, which stand for None of Keras, mean an unknown size.
int64_t to_size(lua_State* L, int index) {
  const bool is_null = lua_islightuserdata(L, index) && !lua_touserdata(L, index);
  if (is_null || (lua_isboolean(L, index) && !lua_toboolean(L, index))) return -1;
  if (lua_isnil(L, index))
    fail("expected an integer, got nil; a size that is not known is written -1");
  return to_integer(L, index);
}

}  // namespace

Shape to_shape(lua_State* L, int index) {
  if (lua_isnil(L, index)) fail_expected(L, index, "a shape such as {2, 3}");
  return Shape(numbers_at(L, index, "a shape such as {2, 3}", to_size));
}

Shape to_new_shape(lua_State* L, int index) {
  if (lua_type(L, index) == LUA_TNUMBER) {
    const std::string n = text_of(L, index);
    for (int i = index + 1; i <= lua_gettop(L); ++i)
      if (is_plain_table(L, i))
        fail("expected a shape such as {2, 3}, got ", n, "; the shape comes before the numbers");
    fail("expected a shape such as {2, 3}, got ", n, "; shapes are tables: write {", n, "}, or {",
         n, ", ...} with more axes");
  }
  const Shape shape = to_shape(L, index);
  if (!shape.is_known() && !is_tracing())
    fail("expected the size of every axis, got ", Value(List(shape.begin(), shape.end())),
         "; -1 is for reshape only");
  return shape;
}

void push_shape(lua_State* L, const Shape& shape) {
  lua_createtable(L, shape.rank(), 0);
  for (int i = 0; i < shape.rank(); ++i) {
    lua_pushinteger(L, shape[i]);
    lua_rawseti(L, -2, i + 1);
  }
  mark_list(L);
}

void push_numbers(lua_State* L, const Tensor& source) {
  reserve(L, Shape::kMaxRank + 2);
  const Tensor tensor = source.to(nullptr);
  const Shape& shape = tensor.shape();
  switch (tensor.dtype()) {
    case DType::float32:
      return push_elements(L, tensor.data<float>(), shape, 0);
    case DType::float64:
      return push_elements(L, tensor.data<double>(), shape, 0);
    case DType::int32:
      return push_elements(L, tensor.data<int32_t>(), shape, 0);
    case DType::int64:
      return push_elements(L, tensor.data<int64_t>(), shape, 0);
    case DType::uint8:
      return push_elements(L, tensor.data<uint8_t>(), shape, 0);
    case DType::int8:
      return push_elements(L, tensor.data<int8_t>(), shape, 0);
    case DType::int16:
      return push_elements(L, tensor.data<int16_t>(), shape, 0);
    case DType::boolean:
      return push_elements(L, tensor.data<bool>(), shape, 0);
    case DType::string:
      return push_elements(L, tensor.data<StringId>(), shape, 0);
    case DType::complex64:
      return push_numbers(
          L, Tensor::on(tensor.storage(), tensor.offset(), {DType::float32, shape.concat({2})}));
    case DType::bfloat16:
    case DType::float16: {
      const std::vector<double> values = tensor.to_vector();
      return push_elements(L, values.data(), shape, 0);
    }
  }
}

}  // namespace crescent::lua
