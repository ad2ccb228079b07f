// The types of objects, from Object down to Sequential: which one an object is, and their members.
#pragma once
#include <deque>

#include "classes/declared.h"
#include "classes/type.h"

namespace crescent::lua {

struct ObjectType {
  Type type;
  bool (*matches)(const Object* object);
};
/// Bases come before what derives from them; the last one that matches is an object's type.
using ObjectTypes = std::deque<ObjectType>;
/// Those of the module, which fills them when it is first opened.
ObjectTypes& object_types();

template <class T>
concept DeclaresMembers = requires(Schema<T>& schema) {
  T::describe_members(schema);
};

/// With the members that T declares.
template <class T>
Type& add_type(ObjectTypes& types, const std::string& name, const Type* parent) {
  types.emplace_back(Type(name, parent), [](const Object* object) {
    return dynamic_cast<const T*>(object) != nullptr;
  });
  Type& type = types.back().type;
  if constexpr (DeclaresMembers<T>) add_members<T>(type);
  return type;
}

/// That of the most derived base, with what the object's class declares.
const Type& object_type(const Object& object);
/// What a new handle of the object, on top of the stack, has from its type and its class.
void dress_object(lua_State* L, const ObjectPtr& object);

/// Object itself: what every object has.
Type& add_object_type(ObjectTypes& types);

}  // namespace crescent::lua
