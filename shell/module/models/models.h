// Models as Lua sees them.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_model_types(ObjectTypes& types, const HandleType& layer);
/// The functions of cr.models: load_model, from_config, clone_model, ...
const std::vector<CallablePtr>& model_functions();

}  // namespace crescent::lua
