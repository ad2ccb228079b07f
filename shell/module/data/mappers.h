// The functions that map, filter and interleave apply to elements: a Lua function, which runs on
// the script's thread or on worker threads, or a layer.
#pragma once
#include "crescent/data/stream.h"
#include "lua/state.h"

namespace crescent::lua {

/// The Mapping that calls the Lua function or the layer at `index`; `training` is passed to a
/// layer.
Mapping mapping_at(lua_State* L, int index, int64_t worker_count, std::optional<bool> training,
                   const char* name);

}  // namespace crescent::lua
