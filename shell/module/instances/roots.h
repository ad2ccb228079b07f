// Which handles the registry keeps alive. The attributes of an instance of a Lua class hang on its
// handle, where the collector sees them, so that a model and its layers may refer to each other and
// still go. But owners in C++ are nothing that the collector sees. So the registry keeps a handle
// from the moment that C++ is given its object, and at the end of every cycle of the collector the
// roots are settled: what only its handle owns needs none; what only layers own that Lua has
// handles of is held by those handles; everything else keeps its root.
#pragma once
#include "lua/handle.h"

namespace crescent::lua {

/// C++ is given the object, whose handle is at `index`: from here on it may own it and those below.
void root(lua_State* L, int index, Object& object);
/// A new handle is on top of the stack: it holds the instances that its object owns already.
void hold_instances(lua_State* L, Object& object);
/// An owner may have gone: the next settling has something to do.
void roots_changed();
void settle_roots(lua_State* L);
/// Settles the roots after every cycle of the collector of this state.
void watch_cycles(lua_State* L);

}  // namespace crescent::lua
