// Texts of Lua values, for messages.
#pragma once
#include <lua.hpp>
#include <string>

namespace crescent::lua {

/// The description of an argument in messages: "a string", "a tensor (2, 3)", "nil".
std::string describe(lua_State* L, int index);
/// tostring() without metamethods.
std::string text_of(lua_State* L, int index);

}  // namespace crescent::lua
