// What core and a program with a Lua state (the shell) share about plugins written in Lua. Plugins
// do not see this header: it is not installed, and the hash of headers in their stamps (stamp.h)
// leaves it out.
#pragma once
#include <functional>
#include <string>

#include "crescent/base/export.h"

namespace crescent {

struct PluginRecord;

/// Runs the Lua file of a plugin, which registers the classes of the plugin.
using LuaRunner = std::function<void(const PluginRecord& plugin)>;
/// Sets the function that runs plugins written in Lua in this process.
CRESCENT_API void set_lua_runner(LuaRunner runner);
/// The description of a plugin that the first line of its Lua file gives; empty for other files.
CRESCENT_API std::string doc_of_lua_plugin(const std::string& path);

}  // namespace crescent
