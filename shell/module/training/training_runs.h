// Training runs as Lua sees them.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_run_types(ObjectTypes& types, const HandleType& object);

}  // namespace crescent::lua
