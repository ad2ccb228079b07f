// The types of objects in Lua, from Object to Sequential, and their members.
#pragma once
#include <deque>

#include "classes/declared.h"
#include "classes/type.h"

namespace crescent::lua {

struct ObjectType {
  Type type;
  bool (*matches)(const Object* object);
};
/// The types of objects, bases before derived ones; the type of an object is the last one that
/// matches.
using ObjectTypes = std::deque<ObjectType>;
/// The types of the module, which adds them when it is first opened.
ObjectTypes& object_types();

template <class T>
concept DeclaresMembers = requires(Schema<T>& schema) {
  T::describe_members(schema);
};

/// Adds a type with the members that T declares.
template <class T>
Type& add_type(ObjectTypes& types, const std::string& name, const Type* parent) {
  types.emplace_back(Type(name, parent), [](const Object* object) {
    return dynamic_cast<const T*>(object) != nullptr;
  });
  Type& type = types.back().type;
  if constexpr (DeclaresMembers<T>) add_members<T>(type);
  return type;
}

/// The type of an object: that of its most derived base, with the members that its class declares.
const Type& object_type(const Object& object);
/// Gives a new handle, on top of the stack, the metatable and the user values of the object's type
/// and class.
void initialize_handle(lua_State* L, const ObjectPtr& object);

/// Adds the type Object, whose members all objects have.
Type& add_object_type(ObjectTypes& types);

}  // namespace crescent::lua
