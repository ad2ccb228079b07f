#include "handle.h"

#include "convert.h"
#include "instance.h"
#include "object_types.h"
#include "roots.h"

namespace crescent::lua {
namespace {

const char handles_key = 0;  // weak table: address of the object -> its userdata

}  // namespace

void push_handles(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &handles_key) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &handles_key);
}

namespace {

/// A new userdata for the object, with the Lua side of instances of Lua classes.
void push_new_handle(lua_State* L, const ObjectPtr& object) {
  new (lua_newuserdatauv(L, sizeof(ObjectPtr), kUserValues)) ObjectPtr(object);
  push_object_metatable(L, object_type(*object));
  lua_setmetatable(L, -2);
  hold_instances(L, *object);
  auto* instance = dynamic_cast<Instance*>(object.get());
  if (!instance || instance->is_function()) return;
  lua_newtable(L);
  lua_setiuservalue(L, -2, kAttributes);
  instance->push_class(L);
  lua_setiuservalue(L, -2, kClass);
}

}  // namespace

Object* peek_object(lua_State* L, int index) {
  const Type* type = type_of(L, index);
  return type && is_object_type(*type) ? static_cast<ObjectPtr*>(lua_touserdata(L, index))->get()
                                       : nullptr;
}

Object* to_object(lua_State* L, int index) {
  Object* object = peek_object(L, index);
  if (object) root(L, index, *object);
  return object;
}

void push_object(lua_State* L, const ObjectPtr& object) {
  if (!object) return lua_pushnil(L);
  reserve(L, 12);
  push_handles(L);
  if (lua_rawgetp(L, -1, object.get()) == LUA_TUSERDATA) return lua_remove(L, -2);
  lua_pop(L, 1);
  push_new_handle(L, object);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, -3, object.get());
  lua_remove(L, -2);
}

std::string describe_handle(lua_State* L, int index) {
  if (auto* tensor = to_handle<Tensor>(L, index))
    return *tensor ? concat("a tensor ", tensor->shape()) : "an empty tensor";
  if (auto* variable = to_handle<Variable>(L, index))
    return concat("variable '", variable->name(), "'");
  if (auto* symbol = to_handle<Symbol>(L, index)) return to_text(*symbol);
  if (auto* info = to_handle<ClassPtr>(L, index)) return concat("the class ", (*info)->name);
  if (Object* object = to_object(L, index)) return concat("<", object->class_name(), ">");
  if (const Type* type = type_of(L, index)) return concat("a ", type->name());
  return "userdata";
}

}  // namespace crescent::lua
