// Pushing C++ results onto the Lua stack.
#pragma once
#include <functional>
#include <lua.hpp>
#include <tuple>

#include "lua/handle.h"
#include "lua/lists.h"
#include "values/convert.h"

namespace crescent::lua {

/// The result type of functions that have already pushed their result.
struct OnStack {};
/// A list that is pushed as its item if it has one, as a table if it has several, and as nil if it
/// is empty.
template <class T>
struct OneOrMore {
  std::vector<T> items;
};

inline void push(lua_State*, OnStack) {}
inline void push(lua_State* L, bool b) { lua_pushboolean(L, b); }
template <std::integral T>
requires(!std::same_as<T, bool>) void push(lua_State* L, T n) {
  lua_pushinteger(L, static_cast<lua_Integer>(n));
}
inline void push(lua_State* L, double x) { push_float(L, x); }
inline void push(lua_State* L, const char* text) { lua_pushstring(L, text); }
inline void push(lua_State* L, const std::string& text) { push_string(L, text); }
inline void push(lua_State* L, DType dtype) { lua_pushstring(L, name_of(dtype)); }
inline void push(lua_State* L, const Shape& shape) { push_shape(L, shape); }
inline void push(lua_State* L, const Value& value) { push_value(L, value); }
inline void push(lua_State* L, const List& list) { push_value(L, Value(list)); }
inline void push(lua_State* L, const Dict& dict) { push_value(L, Value(dict)); }
inline void push(lua_State* L, const Tensor& tensor) {
  tensor ? push_handle(L, tensor) : lua_pushnil(L);
}
inline void push(lua_State* L, const Variable& variable) {
  variable ? push_handle(L, variable) : lua_pushnil(L);
}
inline void push(lua_State* L, const Symbol& symbol) { push_handle(L, symbol); }
inline void push(lua_State* L, const NodePtr& node) { push_handle(L, node); }
inline void push(lua_State* L, const InputSpec& spec) { push_handle(L, spec); }
inline void push(lua_State* L, const ClassPtr& info) { push_handle(L, info); }
template <std::derived_from<Object> T>
void push(lua_State* L, const std::shared_ptr<T>& object) {
  push_object(L, object);
}
template <class T>
void push(lua_State* L, const std::optional<T>& value);
/// Types of items that users read by their position in a list: layers, metrics, weights, sizes,
/// shapes.
template <class T>
concept ReadByPosition = std::same_as<T, Variable> || std::convertible_to<T, ObjectPtr> ||
    std::same_as<T, int64_t> || std::same_as<T, Shape>;
template <class T>
void push(lua_State* L, const std::vector<T>& items) {
  reserve(L, 4);
  lua_createtable(L, static_cast<int>(items.size()), 0);
  lua_Integer i = 0;
  for (const auto& item : items) {
    push(L, item);
    lua_rawseti(L, -2, ++i);
  }
  if constexpr (ReadByPosition<T>) mark_list(L);
}
template <class T>
void push(lua_State* L, const std::optional<T>& value) {
  value ? push(L, *value) : lua_pushnil(L);
}
template <class T>
void push(lua_State* L, const OneOrMore<T>& result) {
  if (result.items.empty()) return lua_pushnil(L);
  result.items.size() == 1 ? push(L, result.items.front()) : push(L, result.items);
}

template <class R>
int push_results(lua_State* L, const R& result) {
  push(L, result);
  return 1;
}
template <class... R>
int push_results(lua_State* L, const std::tuple<R...>& results) {
  std::apply([L](const auto&... result) { (push(L, result), ...); }, results);
  return sizeof...(R);
}

}  // namespace crescent::lua
