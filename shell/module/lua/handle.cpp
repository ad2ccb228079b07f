#include "lua/handle.h"

#include "lua/state_lock.h"

namespace crescent::lua {
namespace {

// the key in the Lua registry of a weak table {address of object = userdata}
const char handles_key = 0;
// the key in the Lua registry of a weak table {identity of value = userdata}
const char values_key = 0;
const char objects_key = 0;  // the key that marks the metatables of objects
ObjectHooks object_hooks{};

/// Pushes the value under the key `identity` in the weak table of `table_key`; returns false if
/// there is none.
bool push_weak_value(lua_State* L, const void* table_key, const void* identity) {
  reserve(L, 6);
  push_weak_table(L, table_key, "v");
  lua_rawgetp(L, -1, identity);
  lua_remove(L, -2);
  if (!lua_isnil(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

/// Stores the userdata on top of the stack under `identity` in the weak table of `table_key`.
void store_weak_value(lua_State* L, const void* table_key, const void* identity) {
  push_weak_table(L, table_key, "v");
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, identity);
  lua_pop(L, 1);
}

}  // namespace

void push_handles(lua_State* L) { push_weak_table(L, &handles_key, "v"); }

bool push_stored_userdata(lua_State* L, const void* identity) {
  return push_weak_value(L, &values_key, identity);
}

void store_userdata(lua_State* L, const void* identity) {
  store_weak_value(L, &values_key, identity);
}

void set_object_hooks(const ObjectHooks& hooks) { object_hooks = hooks; }

void await_step_that_uses(const Variable& variable) {
  StateLock& lock = StateLock::instance();
  if (lock.is_within_step() && object_hooks.uses_variable(variable)) lock.await_batch_end();
}

void await_step_that_uses(Object& object) {
  StateLock& lock = StateLock::instance();
  if (lock.is_within_step() && object_hooks.uses_object(object)) lock.await_batch_end();
}

void mark_objects(lua_State* L) {
  lua_pushboolean(L, true);
  lua_rawsetp(L, -2, &objects_key);
}

Object* peek_object(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return nullptr;
  const bool is_object = lua_rawgetp(L, -1, &objects_key) != LUA_TNIL;
  lua_pop(L, 2);
  return is_object ? static_cast<ObjectPtr*>(lua_touserdata(L, index))->get() : nullptr;
}

Object* to_object(lua_State* L, int index) {
  Object* object = peek_object(L, index);
  if (!object) return nullptr;
  await_step_that_uses(*object);
  object_hooks.record_cpp_ownership(L, index, *object);
  return object;
}

void push_object(lua_State* L, const ObjectPtr& object) {
  if (!object) return lua_pushnil(L);
  reserve(L, 12);
  if (push_weak_value(L, &handles_key, object.get())) return;
  new (lua_newuserdatauv(L, sizeof(ObjectPtr), kUserValueCount)) ObjectPtr(object);
  object_hooks.initialize(L, object);
  store_weak_value(L, &handles_key, object.get());
}

std::string describe_handle(lua_State* L, int index) {
  if (auto* tensor = to_handle<Tensor>(L, index))
    return *tensor ? concat("a tensor ", tensor->shape()) : "an empty tensor";
  if (auto* variable = to_handle<Variable>(L, index))
    return concat("variable '", variable->name(), "'");
  if (auto* symbol = to_handle<Symbol>(L, index)) return to_text(*symbol);
  if (auto* info = to_handle<ClassPtr>(L, index)) return concat("the class ", (*info)->name);
  if (Object* object = to_object(L, index)) return concat("<", object->class_name(), ">");
  if (to_handle<NodePtr>(L, index)) return kHandleTypeName<NodePtr>;
  if (to_handle<InputSpec>(L, index)) return kHandleTypeName<InputSpec>;
  return "userdata";
}

}  // namespace crescent::lua
