// The part of the module that is written in Lua (shell/lua/session.lua), as text.
#pragma once
#include <cstddef>

namespace crescent::lua {

extern const char kSessionLua[];
extern const size_t kSessionLuaSize;

}  // namespace crescent::lua
