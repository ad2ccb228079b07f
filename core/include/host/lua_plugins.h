// What core and who has a state of Lua, the shell, have in common on plugins in Lua. Plugins do not
// see it, so their stamps say nothing of it, and it is not installed.
#pragma once
#include <functional>
#include <string>

#include "crescent/base/export.h"

namespace crescent {

/// Runs a file of Lua, which registers its classes.
using LuaRunner = std::function<void(const std::string& path)>;
/// Sets what runs plugins in Lua in this process.
CRESCENT_API void set_lua_runner(LuaRunner runner);
/// What the first line of a plugin in Lua says of it; empty for other files.
CRESCENT_API std::string doc_of_lua_plugin(const std::string& path);

}  // namespace crescent
