// A tour of the prompt, whose entries are typed and evaluated like those of a user.
#pragma once
#include <lua.hpp>

namespace crescent::program {

/// Shows the tour in a Lua state that has the libraries, in a temporary folder. There are no pauses
/// if `is_fast` is true or there is no terminal. Returns false if a signal that ends the program
/// ended the tour.
bool run_tour(lua_State* L, bool is_fast);

}  // namespace crescent::program
