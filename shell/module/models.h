// Models in Lua.
#pragma once
#include "object_types.h"

namespace crescent::lua {

void add_model_types(ObjectTypes& types, const Type& layer);
/// cr.models: load_model, from_config, clone_model, ...
const std::vector<CallablePtr>& model_functions();
/// Model{inputs=, outputs=, name=} and Sequential{...}: class table, arguments.
int make_functional(lua_State* L);
int make_sequential(lua_State* L);

}  // namespace crescent::lua
