// Roots are the handles that the Lua registry keeps alive. The attributes of an instance of a Lua
// class belong to its handle, so the garbage collector can free a model and layers that refer to
// each other; but the collector does not see owners in C++. Therefore a handle becomes a root as
// soon as C++ may own its object. At the end of every cycle of the collector the roots are updated:
// a handle stays a root unless only the handle itself owns its object, or only layers that have
// handles do, which then refer to this handle.
#pragma once
#include "lua/handle.h"

namespace crescent::lua {

/// Makes roots of the handle at `index` and of the handles of objects that its object owns, because
/// C++ may own these objects from now on.
void make_root(lua_State* L, int index, Object& object);
/// Makes the new handle on top of the stack refer to the handles of the instances that its object
/// owns.
void reference_owned_instances(lua_State* L, Object& object);
/// Must be called when an owner may have released its object. The next update then computes the
/// roots again.
void mark_roots_outdated();
void update_roots(lua_State* L);
/// Updates the roots after every cycle of the garbage collector of this state.
void watch_cycles(lua_State* L);

}  // namespace crescent::lua
