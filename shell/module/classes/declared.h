// Binds the methods and properties that the schema of a class or a base class declares to objects
// in Lua.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

/// The type of objects of this class: `base` with the members that the class declares, or `base`
/// itself if it declares none.
const Type& declared_type(const ClassPtr& info, const Type& base);

/// Returns the object at stack index 1 as the class that declares the members; fails for another
/// value.
using DeclaringObject = std::shared_ptr<void> (*)(lua_State* L);
/// Adds the members that a base class declares (members_of).
void add_members(Type& type, const SchemaData& members, DeclaringObject self);
template <class T>
void add_members(Type& type) {
  add_members(type, members_of<T>(), [](lua_State* L) -> std::shared_ptr<void> {
    return Read<std::shared_ptr<T>>::from(L, 1);
  });
}

}  // namespace crescent::lua
