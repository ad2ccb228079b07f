// Handles: C++ values as Lua userdata. Values (Tensor, Variable, Symbol, Node, InputSpec, class)
// get a userdata each time; an Object has one userdata for as long as Lua holds it, so the same
// object is the same value in Lua.
#pragma once
#include <lua.hpp>
#include <new>

#include "crescent/layer/input_spec.h"
#include "crescent/layer/node.h"
#include "crescent/registry/registry.h"
#include "crescent/tensor/variable.h"
#include "lua/stack.h"

namespace crescent::lua {

using ObjectPtr = std::shared_ptr<Object>;
using ClassPtr = std::shared_ptr<const ClassInfo>;

/// What a kind of handle is in messages, and (by its address) the key of its metatable.
template <class T>
extern const char* const kHandleText;
template <>
inline constexpr const char* const kHandleText<Tensor> = "a tensor";
template <>
inline constexpr const char* const kHandleText<Variable> = "a variable";
template <>
inline constexpr const char* const kHandleText<Symbol> = "a symbol";
template <>
inline constexpr const char* const kHandleText<NodePtr> = "a node";
template <>
inline constexpr const char* const kHandleText<InputSpec> = "an InputSpec";
template <>
inline constexpr const char* const kHandleText<ClassPtr> = "a class";

template <class T>
const void* handle_key() {
  return &kHandleText<T>;
}

/// True when the userdata at `index` has the metatable stored under `key`.
inline bool has_metatable(lua_State* L, int index, const void* key) {
  if (!lua_getmetatable(L, index)) return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, key);
  const bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

/// Null when the value at `index` is something else.
template <class T>
T* to_handle(lua_State* L, int index) {
  void* memory = lua_touserdata(L, index);
  return memory && lua_type(L, index) == LUA_TUSERDATA && has_metatable(L, index, handle_key<T>())
             ? static_cast<T*>(memory)
             : nullptr;
}

template <class T>
void push_handle(lua_State* L, T value) {
  new (lua_newuserdatauv(L, sizeof(T), 0)) T(std::move(value));
  lua_rawgetp(L, LUA_REGISTRYINDEX, handle_key<T>());
  lua_setmetatable(L, -2);
}

// User values of an object's userdata.
inline constexpr int kAttributes = 1, kClass = 2, kOptions = 3, kHeld = 4, kTraced = 5,
                     kUserValues = 5;

/// What the rooms above do with handles of objects.
struct ObjectSide {
  void (*dress)(lua_State* L, const ObjectPtr& object);  ///< gives a new one, on top, its metatable
  void (*given)(lua_State* L, int index, Object& object);  ///< C++ may own the object from here on
};
void set_object_side(const ObjectSide& side);
/// Marks the metatable on top of the stack as one of objects.
void mark_objects(lua_State* L);

/// Null when the value at `index` is no object. C++ may own the object from here on.
Object* to_object(lua_State* L, int index);
/// The same for a look that leaves nothing behind.
Object* peek_object(lua_State* L, int index);
template <class T>
std::shared_ptr<T> object_as(lua_State* L, int index) {
  auto* object = dynamic_cast<T*>(to_object(L, index));
  return object ? std::dynamic_pointer_cast<T>(object->shared_from_this()) : nullptr;
}
/// The weak table: address of an object -> its userdata.
void push_handles(lua_State* L);
/// The one userdata of the object; nil for none.
void push_object(lua_State* L, const ObjectPtr& object);

std::string describe_handle(lua_State* L, int index);

}  // namespace crescent::lua
