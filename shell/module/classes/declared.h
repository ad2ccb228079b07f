// Gives objects in Lua the methods and properties that the schema of their class, or of a base
// class, declares.
#pragma once
#include "classes/handle_type.h"

namespace crescent::lua {

/// The type of objects of this class: `base` extended by the members that the class declares, or
/// `base` itself if it declares none.
const HandleType& declared_type(const ClassPtr& info, const HandleType& base);

/// A function that returns the object at stack index 1, converted to the class that declares the
/// members; it fails for other values.
using SelfReader = std::shared_ptr<void> (*)(lua_State* L);
/// Adds the members that a base class declares (see members_of) to a type.
void add_members(HandleType& type, const SchemaData& members, SelfReader self);
template <class T>
void add_members(HandleType& type) {
  add_members(type, members_of<T>(), [](lua_State* L) -> std::shared_ptr<void> {
    return Read<std::shared_ptr<T>>::from(L, 1);
  });
}

}  // namespace crescent::lua
