// A tour of the prompt, whose entries are typed and run as those of a user are.
#pragma once
#include <lua.hpp>

namespace crescent::program {

/// Shows the tour in a state that has the libraries, in a temporary folder; fast, or where nobody
/// sits at a terminal, without pauses. False when a signal ended it that ends the program.
bool run_tour(lua_State* L, bool is_fast);

}  // namespace crescent::program
