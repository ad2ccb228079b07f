// Compiled functions in Lua.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_compiled_type(ObjectTypes& types, const HandleType& object);
/// The function cr.compiled.
CallablePtr compiled_function();

}  // namespace crescent::lua
