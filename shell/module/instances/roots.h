// Roots are the handles that the registry keeps alive. The attributes of an instance of a Lua class
// belong to its handle, so the garbage collector can free a model and its layers that refer to each
// other. But it does not see owners in C++. So a handle becomes a root as soon as C++ may own its
// object, and at the end of every cycle of the collector the roots are updated: an object that only
// its handle owns needs none; one that only layers with handles own is referenced by those handles;
// all others keep their root.
#pragma once
#include "lua/handle.h"

namespace crescent::lua {

/// Makes the handle at `index`, and those of objects that its object owns, roots, because C++ may
/// own them from now on.
void root(lua_State* L, int index, Object& object);
/// Lets the new handle on top of the stack refer to the instances that its object owns.
void hold_instances(lua_State* L, Object& object);
/// Must be called when an owner may have released its object: the next update then recomputes the
/// roots.
void roots_changed();
void update_roots(lua_State* L);
/// Updates the roots after every cycle of the garbage collector of this state.
void watch_cycles(lua_State* L);

}  // namespace crescent::lua
