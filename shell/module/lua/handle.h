// Handles are C++ values in Lua userdata. A value (Tensor, InputSpec) gets a new userdata each time
// it is pushed. An object, a variable, a symbol, a node and a class have one userdata while Lua
// refers to it, so that they are the same value and the same key of a table wherever Lua reads
// them.
#pragma once
#include <lua.hpp>
#include <new>
#include <type_traits>

#include "crescent/layer/input_spec.h"
#include "crescent/layer/node.h"
#include "crescent/registry/registry.h"
#include "crescent/tensor/variable.h"
#include "lua/stack.h"

namespace crescent::lua {

using ObjectPtr = std::shared_ptr<Object>;
using ClassPtr = std::shared_ptr<const ClassInfo>;

/// The name of a type of handles in messages. The address of this constant is also the key of the
/// metatable in the Lua registry.
template <class T>
extern const char* const kHandleTypeName;
template <>
inline constexpr const char* const kHandleTypeName<Tensor> = "a tensor";
template <>
inline constexpr const char* const kHandleTypeName<Variable> = "a variable";
template <>
inline constexpr const char* const kHandleTypeName<Symbol> = "a symbol";
template <>
inline constexpr const char* const kHandleTypeName<NodePtr> = "a node";
template <>
inline constexpr const char* const kHandleTypeName<InputSpec> = "an InputSpec";
template <>
inline constexpr const char* const kHandleTypeName<ClassPtr> = "a class";

template <class T>
const void* handle_key() {
  return &kHandleTypeName<T>;
}

/// Whether the userdata at `index` has the metatable stored under `key`.
inline bool has_metatable(lua_State* L, int index, const void* key) {
  if (!lua_getmetatable(L, index)) return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, key);
  const bool is_same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return is_same;
}

/// Waits for the end of the batch if a step in the background computes that may use the variable or
/// the object. Called before Lua code uses a variable or an object.
void await_step_that_uses(const Variable& variable);
void await_step_that_uses(Object& object);

/// The C++ value in the handle at `index`; null if the value at `index` is no handle of a T.
template <class T>
T* to_handle(lua_State* L, int index) {
  void* memory = lua_touserdata(L, index);
  if (!memory || lua_type(L, index) != LUA_TUSERDATA || !has_metatable(L, index, handle_key<T>()))
    return nullptr;
  T* value = static_cast<T*>(memory);
  if constexpr (std::is_same_v<T, Variable>) await_step_that_uses(*value);
  return value;
}

/// The address that is the same for all copies of a value, and different for other values; null if
/// every copy is a value of its own.
template <class T>
const void* identity_of(const T&) {
  return nullptr;
}
inline const void* identity_of(const Variable& variable) { return variable.id(); }
inline const void* identity_of(const Symbol& symbol) {
  return symbol ? &symbol.abstract() : nullptr;
}
inline const void* identity_of(const NodePtr& node) { return node.get(); }
inline const void* identity_of(const ClassPtr& info) { return info.get(); }

/// Pushes the userdata of the value with this identity; returns false if Lua refers to none.
bool push_stored_userdata(lua_State* L, const void* identity);
/// Makes push_stored_userdata() find the userdata on top of the stack.
void store_userdata(lua_State* L, const void* identity);

template <class T>
void push_handle(lua_State* L, T value) {
  const void* identity = identity_of(value);
  if (identity && push_stored_userdata(L, identity)) return;
  new (lua_newuserdatauv(L, sizeof(T), 0)) T(std::move(value));
  lua_rawgetp(L, LUA_REGISTRYINDEX, handle_key<T>());
  lua_setmetatable(L, -2);
  if (identity) store_userdata(L, identity);
}

// The numbers of the user values of an object's userdata.
inline constexpr int kAttributes = 1, kClass = 2, kOptions = 3, kOwnedInstances = 4, kTraced = 5,
                     kUserValueCount = 5;

/// Functions that the code for handles calls, but that other folders define. They are set at run
/// time, because this folder does not depend on those folders.
struct ObjectHooks {
  /// Sets the metatable of the new handle on top of the stack.
  void (*initialize)(lua_State* L, const ObjectPtr& object);
  /// Is called when C++ may own the object from now on.
  void (*record_cpp_ownership)(lua_State* L, int index, Object& object);
  /// Returns whether the step that computes in the background may use the variable.
  bool (*uses_variable)(const Variable& variable);
  /// Returns whether the step that computes in the background may use the object.
  bool (*uses_object)(Object& object);
};
void set_object_hooks(const ObjectHooks& hooks);
/// Marks the metatable on top of the stack as a metatable of objects.
void mark_objects(lua_State* L);

/// The object at `index` for callers that may store it, so that C++ may own it from now on; null if
/// the value is no object.
Object* to_object(lua_State* L, int index);
/// The object at `index` for callers that neither store nor change it; null if the value is no
/// object. It does not wait for a step in the background, which leaves the members of objects as
/// they are.
Object* peek_object(lua_State* L, int index);
template <class T>
std::shared_ptr<T> object_as(lua_State* L, int index) {
  auto* object = dynamic_cast<T*>(to_object(L, index));
  return object ? std::dynamic_pointer_cast<T>(object->shared_from_this()) : nullptr;
}
/// Pushes the weak table {address of object = userdata}.
void push_handles(lua_State* L);
/// Pushes the userdata of the object; pushes nil for a null pointer.
void push_object(lua_State* L, const ObjectPtr& object);

std::string describe_handle(lua_State* L, int index);

}  // namespace crescent::lua
