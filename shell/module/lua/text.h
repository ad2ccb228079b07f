// Values of Lua as texts, for messages.
#pragma once
#include <lua.hpp>
#include <string>

namespace crescent::lua {

/// "a string", "a tensor (2, 3)", "nil": what an argument is, for messages.
std::string describe(lua_State* L, int index);
/// tostring() without metamethods.
std::string text_of(lua_State* L, int index);

}  // namespace crescent::lua
