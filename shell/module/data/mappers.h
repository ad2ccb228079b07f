// The mappers of map, filter and interleave: a function of the script, on its own thread or on
// workers, or a layer.
#pragma once
#include "crescent/data/stream.h"
#include "lua/state.h"

namespace crescent::lua {

/// The mapping for the function or the layer at `index`; `training` is for layers.
Mapping mapping_at(lua_State* L, int index, int64_t workers, std::optional<bool> training,
                   const char* name);

}  // namespace crescent::lua
