// What a class declares in its schema, methods and properties, as members of its objects in Lua.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

/// The type of objects of this class: `base` with what the class declares; `base` itself when that
/// is nothing.
const Type& declared_type(const ClassPtr& info, const Type& base);

}  // namespace crescent::lua
