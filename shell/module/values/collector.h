// Starts garbage collections according to the memory of tensors, which is outside of the Lua heap.
// A collection runs when tensors have grown by more than each of these: a minimum, half of the
// bytes that survived the last collection, and the size of the Lua heap. A generational collector
// also collects young objects, at little cost, after a much smaller growth, so that new results
// reuse memory that is still in the cache.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Starts counting the memory of tensors; `prepare` is called before each collection.
void watch_tensor_memory(void (*prepare)(lua_State*));
/// Stores the mode of the Lua state's garbage collector.
void watch_collector(lua_State* L);
bool collection_is_due();
/// Collects young objects and, if that is not enough, all objects. Must be called where no C++
/// object is alive.
void collect(lua_State* L);

}  // namespace crescent::lua
