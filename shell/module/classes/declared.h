// What is declared in schemas, methods and properties, as members of objects in Lua: by a class, or
// by a base of classes.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

/// The type of objects of this class: `base` with what the class declares; `base` itself when that
/// is nothing.
const Type& declared_type(const ClassPtr& info, const Type& base);

/// The object at 1 as the class that declares members; it fails where the value is another.
using DeclaringObject = std::shared_ptr<void> (*)(lua_State* L);
/// Adds what a base of classes declares (members_of).
void add_members(Type& type, const SchemaData& members, DeclaringObject self);
template <class T>
void add_members(Type& type) {
  add_members(type, members_of<T>(), [](lua_State* L) -> std::shared_ptr<void> {
    return Read<std::shared_ptr<T>>::from(L, 1);
  });
}

}  // namespace crescent::lua
