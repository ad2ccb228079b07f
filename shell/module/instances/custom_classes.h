// Custom classes: classes that files and configurations name otherwise, as in Keras'
// custom_object_scope.
#pragma once
#include <lua.hpp>

#include "crescent/base/value.h"

namespace crescent::lua {

/// Makes the table at `index`, {name = class}, that of the custom classes. The table may change
/// later.
void set_custom_classes(lua_State* L, int index);
/// The names of the custom classes by the names in files.
Dict custom_classes(lua_State* L);

}  // namespace crescent::lua
