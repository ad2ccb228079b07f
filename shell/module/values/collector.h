// Tensor memory is outside of Lua's heap, so its collector does not see it. It is charged here:
// when tensors have grown by more than the larger of a floor, half of what survived the last
// collection, and Lua's own heap, a collection runs.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Starts watching the memory of tensors; `prepare` is called before each collection.
void watch_tensor_memory(void (*prepare)(lua_State*));
bool collection_is_due();
/// A full collection; called where no C++ object is alive.
void collect(lua_State* L);

}  // namespace crescent::lua
