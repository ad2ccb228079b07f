// Custom classes: a table {name = class} says which class a name in a file or a configuration
// means, as custom_object_scope of Keras does.
#pragma once
#include <lua.hpp>

#include "crescent/base/value.h"

namespace crescent::lua {

/// Makes the table at `index`, {name = class}, that of the custom classes. The table may change
/// later.
void set_custom_classes(lua_State* L, int index);
/// The table of the custom classes as a dictionary.
Dict custom_classes(lua_State* L);

}  // namespace crescent::lua
