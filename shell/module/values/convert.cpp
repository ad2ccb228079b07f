#include "values/convert.h"

#include <algorithm>
#include <cmath>

#include "crescent/program/program.h"
#include "crescent/tensor/strings.h"
#include "lua/class_table.h"
#include "lua/handle.h"
#include "lua/lists.h"

namespace crescent::lua {

void check_list(lua_State* L, int index) {
  index = lua_absindex(L, index);
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, index));
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const bool number = lua_isinteger(L, -2);
    if (number && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= length) continue;
    if (number) fail("expected a list of ", length, ", got something at ", text_of(L, -2), " too");
    fail("expected a list, got a table with the name '", text_of(L, -2), "'");
  }
}

namespace {

constexpr int kDeepest = 64;
// key of the metatable of empty dictionaries, which distinguishes them from lists
const char dict_key = 0;

bool is_marked_dict(lua_State* L, int index) { return has_metatable(L, index, &dict_key); }

void mark_dict(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &dict_key) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &dict_key);
  }
  lua_setmetatable(L, -2);
}

Value value_at(lua_State* L, int index, int depth);

/// The number of items if the keys are 1..n, else -1.
int64_t list_length(lua_State* L, int index) {
  int64_t count = 0;
  const auto length = static_cast<int64_t>(lua_rawlen(L, index));
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const bool inside =
        lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= length;
    if (!inside) return lua_pop(L, 2), -1;
    ++count;
  }
  return count == length ? count : -1;
}

List list_at(lua_State* L, int index, int64_t length, int depth) {
  List list;
  for (int64_t i = 1; i <= length; ++i) {
    lua_rawgeti(L, index, i);
    list.push_back(value_at(L, lua_gettop(L), depth + 1));
    lua_pop(L, 1);
  }
  return list;
}

/// The dictionary of a table, sorted by name because a Lua table has no order.
Dict dict_at(lua_State* L, int index, int depth) {
  std::vector<DictEntry> entries;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const int type = lua_type(L, -2);
    if (type != LUA_TSTRING && type != LUA_TNUMBER)
      fail("expected a name or a number as key, got ", describe(L, -2));
    entries.push_back({text_of(L, -2), value_at(L, lua_gettop(L), depth + 1)});
  }
  std::sort(entries.begin(), entries.end(),
            [](const DictEntry& a, const DictEntry& b) { return a.key < b.key; });
  return Dict::from(std::move(entries));
}

Value table_at(lua_State* L, int index, int depth) {
  if (auto info = class_of_table(L, index)) return info->name;
  if (is_class(L, index))
    fail("expected an object or a class, got a base class: derive one with subclass(name)");
  if (depth > kDeepest) fail("a table contains itself or is nested more than ", kDeepest, " deep");
  reserve(L, 8);
  if (is_marked_dict(L, index)) return dict_at(L, index, depth);
  const int64_t length = list_length(L, index);
  return length >= 0 ? Value(list_at(L, index, length, depth)) : Value(dict_at(L, index, depth));
}

Value userdata_at(lua_State* L, int index) {
  if (auto* tensor = to_handle<Tensor>(L, index))
    return Value(std::make_shared<BoxedTensor>(*tensor));
  if (auto* variable = to_handle<Variable>(L, index))
    return Value(std::make_shared<BoxedVariable>(*variable));
  if (auto* symbol = to_handle<Symbol>(L, index))
    return Value(std::make_shared<BoxedSymbol>(*symbol));
  if (auto* info = to_handle<ClassPtr>(L, index)) return (*info)->name;
  if (Object* object = to_object(L, index)) return Value(object->shared_from_this());
  fail("expected a value, got ", describe(L, index));
}

Value value_at(lua_State* L, int index, int depth) {
  switch (lua_type(L, index)) {
    case LUA_TNONE:
    case LUA_TNIL:
    case LUA_TLIGHTUSERDATA:
      return {};
    case LUA_TBOOLEAN:
      return static_cast<bool>(lua_toboolean(L, index));
    case LUA_TNUMBER:
      return lua_isinteger(L, index) ? Value(static_cast<int64_t>(lua_tointeger(L, index)))
                                     : Value(lua_tonumber(L, index));
    case LUA_TSTRING:
      return text_of(L, index);
    case LUA_TTABLE:
      return table_at(L, lua_absindex(L, index), depth);
    case LUA_TFUNCTION:
      return Value(std::make_shared<LuaFunction>(Ref(L, index)));
    case LUA_TUSERDATA:
      return userdata_at(L, index);
    default:
      fail("expected a value, got ", describe(L, index));
  }
}

// ---- numbers and strings in nested tables

/// Collects the elements of nested tables and their shape.
class Elements {
 public:
  explicit Elements(lua_State* L) : L_(L) {}

  void read(int index) {
    find_shape(index);
    collect(index, 0);
  }
  Tensor tensor(std::optional<DType> dtype) const {
    const Shape shape(dims_);
    if (!texts_.empty() || dtype == DType::string) {
      if (dtype.value_or(DType::string) != DType::string)
        fail("expected numbers for ", *dtype, ", got strings");
      if (texts_.size() != values_.size()) fail("expected strings, got numbers");
      return string_tensor(texts_, shape);
    }
    const Tensor exact = Tensor::from(values_, shape);
    if (!dtype)
      return all_boolean_ && !values_.empty() ? ops::cast(exact, DType::boolean)
                                              : ops::cast(exact, DType::float32);
    if (*dtype == DType::int64) return Tensor::from(integers_, shape);
    return ops::cast(exact, *dtype);
  }

 private:
  void find_shape(int index) {
    reserve(L_, 2 * Shape::kMaxRank + 4);
    lua_pushvalue(L_, index);
    int pushed = 1;
    while (is_plain_table(L_, -1)) {
      if (dims_.size() == Shape::kMaxRank)
        fail("expected tables nested at most ", Shape::kMaxRank, " deep");
      dims_.push_back(static_cast<int64_t>(lua_rawlen(L_, -1)));
      lua_rawgeti(L_, -1, 1);
      ++pushed;
    }
    lua_pop(L_, pushed);
  }
  void collect(int index, size_t axis) {
    if (axis == dims_.size()) return element(index);
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
  /// Collects items by lua_next while it visits them in order, as it does for most tables; returns
  /// their number. If it visits all in order, the table has no other keys.
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
  void element(int index) {
    if (lua_isboolean(L_, index)) {
      values_.push_back(lua_toboolean(L_, index));
    } else if (lua_type(L_, index) == LUA_TNUMBER) {
      all_boolean_ = false;
      values_.push_back(lua_tonumber(L_, index));
    } else if (lua_type(L_, index) == LUA_TSTRING && texts_.size() == values_.size()) {
      texts_.push_back(text_of(L_, index));
      values_.push_back(0);
    } else {
      fail("expected a number, got ", describe(L_, index));
    }
    if (!texts_.empty() && texts_.size() != values_.size())
      fail("expected a string, got ", describe(L_, index));
    const double value = values_.back();
    const bool fits = std::abs(value) < 9.2e18;
    integers_.push_back(lua_isinteger(L_, index) ? lua_tointeger(L_, index)
                        : fits                   ? static_cast<int64_t>(value)
                                                 : 0);
  }

  lua_State* L_;
  std::vector<int64_t> dims_;
  std::vector<double> values_;
  std::vector<int64_t> integers_;
  std::vector<std::string> texts_;  ///< the texts of tables of strings
  bool all_boolean_ = true;
};

void push_number(lua_State* L, StringId value) { push_string(L, text_of(value)); }
void push_number(lua_State* L, bool value) { lua_pushboolean(L, value); }
void push_number(lua_State* L, double value) { lua_pushnumber(L, value); }
template <std::integral T>
requires(!std::same_as<T, bool>) void push_number(lua_State* L, T value) {
  lua_pushinteger(L, static_cast<lua_Integer>(value));
}

template <class T>
void push_elements(lua_State* L, const T* values, const Shape& shape, int axis) {
  if (axis == shape.rank()) return push_number(L, *values);
  const int64_t rows = shape[axis];
  int64_t stride = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) stride *= shape[i];
  lua_createtable(L, static_cast<int>(rows), 0);
  for (int64_t i = 0; i < rows; ++i) {
    push_elements(L, values + i * stride, shape, axis + 1);
    lua_rawseti(L, -2, i + 1);
  }
}

}  // namespace

namespace {

/// What people look up by its position: layers, metrics, weights.
bool is_looked_up(const Value& item) {
  return item.object_as<Configurable>() || item.object_as<BoxedVariable>();
}

/// Pushes a list; nulls become cr.null, so the list has no holes.
void push_list(lua_State* L, const List& list) {
  lua_createtable(L, static_cast<int>(list.size()), 0);
  lua_Integer i = 0;
  for (const Value& item : list) {
    item.is_null() ? lua_pushlightuserdata(L, nullptr) : push_value(L, item);
    lua_rawseti(L, -2, ++i);
  }
  if (!list.empty() && is_looked_up(list.front())) mark_list(L);
}

/// Pushes a dictionary without its nulls; an empty one gets a metatable that distinguishes it from
/// a list.
void push_dict(lua_State* L, const Dict& dict) {
  lua_newtable(L);
  bool empty = true;
  for (const DictEntry& entry : dict) {
    if (entry.value.is_null()) continue;
    empty = false;
    push_string(L, entry.key);
    push_value(L, entry.value);
    lua_rawset(L, -3);
  }
  if (empty) mark_dict(L);
}

}  // namespace

bool is_plain_table(lua_State* L, int index) {
  return lua_type(L, index) == LUA_TTABLE && !is_class(L, index);
}

Value to_value(lua_State* L, int index) { return value_at(L, index, 0); }

void push_value(lua_State* L, const Value& value) {
  reserve(L, 4);
  switch (value.kind()) {
    case Value::Kind::null:
      return lua_pushnil(L);
    case Value::Kind::boolean:
      return lua_pushboolean(L, value.as_bool());
    case Value::Kind::integer:
      return lua_pushinteger(L, value.as_int());
    case Value::Kind::real:
      return lua_pushnumber(L, value.as_float());
    case Value::Kind::string:
      return push_string(L, value.as_string());
    case Value::Kind::list:
      return push_list(L, value.as_list());
    case Value::Kind::dict:
      return push_dict(L, value.as_dict());
    case Value::Kind::object:
      if (auto boxed = value.object_as<BoxedVariable>()) return push_handle(L, boxed->variable);
      if (auto boxed = value.object_as<BoxedTensor>()) return push_handle(L, boxed->tensor);
      if (auto boxed = value.object_as<BoxedSymbol>()) return push_handle(L, boxed->symbol);
      if (auto function = value.object_as<LuaFunction>()) return function->function.push(L);
      return push_object(L, value.as_object());
  }
}

Dict to_dict(lua_State* L, int index) {
  if (lua_isnoneornil(L, index)) return {};
  if (!is_plain_table(L, index)) fail_expected(L, index, "a table with names");
  Value value = to_value(L, index);
  if (value.is_dict()) return std::move(value.as_dict());
  if (value.as_list().empty()) return {};
  reserve(L, 8);
  return dict_at(L, lua_absindex(L, index), 0);
}

bool is_tensor_like(lua_State* L, int index) {
  return to_handle<Tensor>(L, index) || to_handle<Variable>(L, index);
}

Tensor to_tensor(lua_State* L, int index, std::optional<DType> dtype) {
  index = lua_absindex(L, index);
  auto converted = [&](const Tensor& tensor) { return dtype ? ops::cast(tensor, *dtype) : tensor; };
  if (auto* tensor = to_handle<Tensor>(L, index)) return converted(*tensor);
  if (auto* variable = to_handle<Variable>(L, index)) return converted(variable->value());
  if (lua_type(L, index) == LUA_TNUMBER) {
    const bool small = lua_isinteger(L, index) && std::in_range<int32_t>(lua_tointeger(L, index));
    return Tensor::scalar(lua_tonumber(L, index),
                          dtype.value_or(small ? DType::int32 : DType::float32));
  }
  if (lua_isboolean(L, index))
    return Tensor::scalar(lua_toboolean(L, index), dtype.value_or(DType::boolean));
  if (is_plain_table(L, index)) {
    Elements elements(L);
    elements.read(index);
    return elements.tensor(dtype);
  }
  if (to_handle<Symbol>(L, index))
    fail(
        "expected a tensor, got a symbol, which has no values: use layers (Lambda, Add, ...) to "
        "build models");
  fail_expected(L, index, "a tensor");
}

namespace {

/// Searches a value for symbols. The limit of depth ends the search in a table that contains
/// itself.
class SymbolSearch {
 public:
  explicit SymbolSearch(lua_State* L) : L_(L) {}
  bool finds(int index, int depth = 0) {
    if (to_handle<Symbol>(L_, index)) return true;
    is_too_deep_ = is_too_deep_ || depth > kDeepest;
    if (!is_plain_table(L_, index) || is_too_deep_) return false;
    Height height(L_);
    index = lua_absindex(L_, index);
    reserve(L_, 4);
    for (lua_pushnil(L_); lua_next(L_, index); lua_pop(L_, 1)) {
      if (finds(-1, depth + 1)) return true;
      if (is_too_deep_ || !is_plain_table(L_, -1)) return false;
    }
    return false;
  }

 private:
  lua_State* L_;
  bool is_too_deep_ = false;
};

}  // namespace

bool is_symbolic(lua_State* L, int index) { return SymbolSearch(L).finds(index); }

Tensors to_tensors(lua_State* L, int index) {
  if (lua_isnoneornil(L, index)) return {};
  if (!is_plain_table(L, index)) return {to_tensor(L, index)};
  index = lua_absindex(L, index);
  check_list(L, index);
  Tensors tensors;
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, index));
  for (lua_Integer i = 1; i <= length; ++i) {
    lua_rawgeti(L, index, i);
    const bool missing = lua_isboolean(L, -1) && !lua_toboolean(L, -1);
    tensors.push_back(missing ? Tensor() : to_tensor(L, -1));
    lua_pop(L, 1);
  }
  return tensors;
}

namespace {

template <class T>
std::vector<T> numbers_at(lua_State* L, int index, std::string_view what,
                          T (*read)(lua_State* L, int index)) {
  if (lua_isnil(L, index)) return {};
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
  int exact = 0;
  const lua_Integer n = lua_type(L, index) == LUA_TNUMBER ? lua_tointegerx(L, index, &exact) : 0;
  if (!exact) fail_expected(L, index, "an integer");
  return n;
}

double to_number(lua_State* L, int index) {
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

/// The size of an axis; null and false, for None of Keras, mean an unknown size.
int64_t to_size(lua_State* L, int index) {
  const bool unknown = lua_islightuserdata(L, index) && !lua_touserdata(L, index);
  if (unknown || (lua_isboolean(L, index) && !lua_toboolean(L, index))) return -1;
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
    fail("expected a shape such as {2, 3}, got ", n, "; shapes are tables: write {", n, "}, or {",
         n, ", ...} with more axes");
  }
  const Shape shape = to_shape(L, index);
  if (!shape.is_known() && !is_tracing())
    fail("expected the size of every axis, got ", Value(List(shape.begin(), shape.end())),
         "; -1 is for reshape only");
  return shape;
}

void push_string(lua_State* L, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
}

void push_shape(lua_State* L, const Shape& shape) {
  lua_createtable(L, shape.rank(), 0);
  for (int i = 0; i < shape.rank(); ++i) {
    lua_pushinteger(L, shape[i]);
    lua_rawseti(L, -2, i + 1);
  }
  mark_list(L);
}

void push_numbers(lua_State* L, const Tensor& given) {
  reserve(L, Shape::kMaxRank + 2);
  const Tensor tensor = given.to(nullptr);
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
