// Triggers garbage collections by the memory of tensors, which is outside of the heap of Lua: a
// collection runs when tensors have grown by more than a minimum, half of the bytes that survived
// the last collection, and the size of the heap. A generational collector also collects young
// objects, at little cost, after a much smaller growth, so new results reuse memory that is still
// in the cache.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Starts watching the memory of tensors; `prepare` is called before each collection.
void watch_tensor_memory(void (*prepare)(lua_State*));
/// Notes the mode of the garbage collector of the state.
void watch_collector(lua_State* L);
bool collection_is_due();
/// Collects young objects, and all objects if that is not enough; called where no C++ object is
/// alive.
void collect(lua_State* L);

}  // namespace crescent::lua
