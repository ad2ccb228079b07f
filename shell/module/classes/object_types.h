// The types of objects in Lua, from Object to Sequential, and their members.
#pragma once
#include <deque>

#include "classes/declared.h"
#include "classes/handle_type.h"

namespace crescent::lua {

struct ObjectType {
  HandleType type;
  bool (*matches)(const Object* object);
};
/// The types of objects, each after the types from which it derives; the type of an object is the
/// last one that matches it.
using ObjectTypes = std::deque<ObjectType>;
/// The list of types in the process; the module fills it when it is first opened.
ObjectTypes& object_types();

template <class T>
concept DeclaresMembers = requires(Schema<T>& schema) {
  T::describe_members(schema);
};

/// Adds a type with the members that T declares.
template <class T>
HandleType& add_type(ObjectTypes& types, const std::string& name, const HandleType* parent) {
  types.emplace_back(HandleType(name, parent), [](const Object* object) {
    return dynamic_cast<const T*>(object) != nullptr;
  });
  HandleType& type = types.back().type;
  if constexpr (DeclaresMembers<T>) add_members<T>(type);
  return type;
}

/// The type of an object: the most derived type that matches it, with the members that the object's
/// class declares.
const HandleType& object_type(const Object& object);
/// Sets the metatable of the new handle on top of the stack to that of the object's type, and its
/// user values as the object's class requires.
void initialize_handle(lua_State* L, const ObjectPtr& object);

/// Adds the type Object, whose members all objects have.
HandleType& add_object_type(ObjectTypes& types);

}  // namespace crescent::lua
