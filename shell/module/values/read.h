// Converts Lua arguments to C++ parameters: from() reads and checks an argument, pass() passes the
// value to the parameter.
#pragma once
#include <lua.hpp>
#include <span>

#include "crescent/ops/ops.h"
#include "lua/handle.h"
#include "values/convert.h"

namespace crescent {
class Model;
}

namespace crescent::lua {

/// A parameter of any type; the called function reads the value at `index` itself.
struct Any {
  int index;
};
/// A parameter that is the shape of a new tensor.
struct NewShape : Shape {};
/// A parameter that takes a table with names or nil; such a table is not taken for the keywords of
/// the call.
struct NamedValueTable {
  Dict dict;
};

template <class T>
struct ReadBase {
  static constexpr bool is_list = false, takes_names = false;
  static T& pass(T& value) { return value; }
};

/// Reads a handle or an object.
template <class T>
struct Read : ReadBase<T> {
  static T from(lua_State* L, int index) requires(!std::derived_from<T, Object>) {
    T* handle = to_handle<T>(L, index);
    if (!handle) fail_expected(L, index, kHandleTypeName<T>);
    return *handle;
  }
};

template <class T>
concept HasKind = requires {
  T::kKind;
};
template <class T>
std::string object_text() {
  if constexpr (std::same_as<T, Model>)
    return "a model";
  else if constexpr (HasKind<T>)
    return std::string(std::string_view("aeiou").find(T::kKind[0]) == std::string_view::npos
                           ? "a "
                           : "an ") +
           T::kKind;
  else
    return "an object with a configuration";
}
template <std::derived_from<Object> T>
struct Read<std::shared_ptr<T>> : ReadBase<std::shared_ptr<T>> {
  static std::shared_ptr<T> from(lua_State* L, int index) {
    auto object = object_as<T>(L, index);
    if (!object) fail_expected(L, index, object_text<T>());
    return object;
  }
};
template <std::derived_from<Object> T>
struct Read<T> : ReadBase<T> {
  static std::shared_ptr<T> from(lua_State* L, int index) {
    return Read<std::shared_ptr<T>>::from(L, index);
  }
  static T& pass(std::shared_ptr<T>& object) { return *object; }
};

template <>
struct Read<Any> : ReadBase<Any> {
  static constexpr bool is_list = true, takes_names = true;
  static Any from(lua_State*, int index) { return {index}; }
};
template <>
struct Read<NamedValueTable> : ReadBase<NamedValueTable> {
  static constexpr bool takes_names = true;
  static NamedValueTable from(lua_State* L, int index) { return {to_dict(L, index)}; }
};
template <>
struct Read<bool> : ReadBase<bool> {
  static bool from(lua_State* L, int index) {
    if (!lua_isboolean(L, index)) fail_expected(L, index, "true or false");
    return lua_toboolean(L, index);
  }
};
template <std::integral T>
struct Read<T> : ReadBase<T> {
  static T from(lua_State* L, int index) {
    const int64_t n = to_integer(L, index);
    if (!std::in_range<T>(n)) fail_expected(L, index, "an integer");
    return static_cast<T>(n);
  }
};
template <>
struct Read<double> : ReadBase<double> {
  static double from(lua_State* L, int index) { return to_number(L, index); }
};
template <>
struct Read<std::string> : ReadBase<std::string> {
  static std::string from(lua_State* L, int index) {
    if (lua_type(L, index) != LUA_TSTRING) fail_expected(L, index, "a string");
    return text_of(L, index);
  }
};
template <>
struct Read<DType> : ReadBase<DType> {
  static DType from(lua_State* L, int index) {
    return dtype_named(Read<std::string>::from(L, index));
  }
};
template <class T>
struct Read<std::optional<T>> : ReadBase<std::optional<T>> {
  static constexpr bool is_list = Read<T>::is_list, takes_names = Read<T>::takes_names;
  static std::optional<T> from(lua_State* L, int index) {
    if (lua_isnil(L, index)) return std::nullopt;
    return Read<T>::from(L, index);
  }
};
template <>
struct Read<Tensor> : ReadBase<Tensor> {
  static Tensor from(lua_State* L, int index) {
    if (lua_isnil(L, index)) return {};
    return to_tensor(L, index);
  }
};
template <>
struct Read<ops::Operand> : ReadBase<ops::Operand> {
  static ops::Operand from(lua_State* L, int index) {
    if (lua_isinteger(L, index)) return lua_tointeger(L, index);
    if (lua_type(L, index) == LUA_TNUMBER) return lua_tonumber(L, index);
    return ops::Operand(to_tensor(L, index));
  }
};
template <>
struct Read<Tensors> : ReadBase<Tensors> {
  static constexpr bool is_list = true;
  static Tensors from(lua_State* L, int index) { return to_tensors(L, index); }
};
template <>
struct Read<std::span<const Tensor>> : ReadBase<Tensors> {
  static constexpr bool is_list = true;
  static Tensors from(lua_State* L, int index) { return to_tensors(L, index); }
};
template <>
struct Read<Shape> : ReadBase<Shape> {
  static constexpr bool is_list = true;
  static Shape from(lua_State* L, int index) { return to_shape(L, index); }
};
template <>
struct Read<NewShape> : ReadBase<NewShape> {
  static constexpr bool is_list = true;
  static NewShape from(lua_State* L, int index) { return {to_new_shape(L, index)}; }
};
template <>
struct Read<std::vector<int64_t>> : ReadBase<std::vector<int64_t>> {
  static constexpr bool is_list = true;
  static std::vector<int64_t> from(lua_State* L, int index) { return to_integers(L, index); }
};
template <>
struct Read<std::vector<int>> : ReadBase<std::vector<int>> {
  static constexpr bool is_list = true;
  static std::vector<int> from(lua_State* L, int index) {
    const std::vector<int64_t> numbers = to_integers(L, index);
    for (int64_t n : numbers)
      if (!std::in_range<int>(n)) fail("expected a small integer, got ", n);
    return {numbers.begin(), numbers.end()};
  }
};
template <>
struct Read<ops::Padding> : ReadBase<ops::Padding> {
  static ops::Padding from(lua_State* L, int index) {
    const std::string name = Read<std::string>::from(L, index);
    if (name == "valid") return ops::Padding::valid;
    if (name == "same") return ops::Padding::same;
    if (name == "causal") return ops::Padding::causal;
    fail("expected 'valid', 'same' or 'causal', got '", name, "'");
  }
};
template <>
struct Read<Value> : ReadBase<Value> {
  static constexpr bool takes_names = true;
  static Value from(lua_State* L, int index) { return to_value(L, index); }
};
/// Reads a table of handles or objects, or a single one.
template <class T>
struct Read<std::vector<T>> : ReadBase<std::vector<T>> {
  static constexpr bool is_list = true;
  static std::vector<T> from(lua_State* L, int index) {
    if (!is_plain_table(L, index)) return {Read<T>::from(L, index)};
    check_list(L, index);
    std::vector<T> items;
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, index));
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(L, index, i);
      items.push_back(Read<T>::from(L, lua_gettop(L)));
      lua_pop(L, 1);
    }
    return items;
  }
};

}  // namespace crescent::lua
