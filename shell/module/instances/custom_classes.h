// Custom classes: a table {name = class} says which class a name in a file or a configuration
// means, as custom_object_scope of Keras does.
#pragma once
#include <lua.hpp>

#include "crescent/base/value.h"

namespace crescent::lua {

/// Sets the table {name = class} at `index` as the table of custom classes. Later changes to this
/// table have an effect, too.
void set_custom_classes(lua_State* L, int index);
/// The table of the custom classes as a dictionary.
Dict custom_classes(lua_State* L);

}  // namespace crescent::lua
