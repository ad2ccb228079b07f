// A tour of the prompt, whose entries are typed and evaluated like those of a user.
#pragma once
#include <lua.hpp>

namespace crescent::program {

/// Shows the tour in a state that has the libraries, in a temporary folder; without pauses if it is
/// fast or not at a terminal. Returns false if a signal ended it that ends the program.
bool run_tour(lua_State* L, bool is_fast);

}  // namespace crescent::program
