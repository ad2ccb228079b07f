// Tensor memory is outside of Lua's heap, so its collector does not see it. It is charged here:
// when tensors have grown by more than the larger of a floor, half of what survived the last
// collection, and Lua's own heap, a collection runs. A generational collector looks through what is
// new long before that, which costs it next to nothing: results then lie where those before them
// lay, in memory that a cache still holds.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Starts watching the memory of tensors; `prepare` is called before each collection.
void watch_tensor_memory(void (*prepare)(lua_State*));
/// Notes which kind of collector the state has.
void watch_collector(lua_State* L);
bool collection_is_due();
/// Collects what is new, and everything if that is not enough; called where no C++ object is alive.
void collect(lua_State* L);

}  // namespace crescent::lua
