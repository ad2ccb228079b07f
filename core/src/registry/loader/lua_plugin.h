// Plugins that are written in Lua: NAME.lua or NAME/init.lua in a folder of the search path. What
// such a file is stands in its first lines, so that its classes are found before it is run:
//
//   -- acme.swish 0.1.0: A smooth rectifier with a learned slope.
//   -- provides: layer Swish, loss Quartic
//
// Core reads these lines; who has a state of Lua runs the file.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crescent/registry/loader.h"
#include "registry/loader/plugin_index.h"

namespace crescent {

struct LuaPlugin {
  IndexedPlugin plugin;
  std::string doc;
  std::string refused;  ///< the reason why it cannot be run; empty if it can
};

/// Whether the path is that of a file of Lua.
inline bool is_lua(const std::string& path) { return path.ends_with(".lua"); }
/// What the first lines of a file say; nothing of a file without a title, which is a script.
std::optional<LuaPlugin> read_lua_plugin(const std::string& path);
/// The sorted paths of the plugins in Lua of a folder.
std::vector<std::string> lua_plugins_in(const std::string& directory);

/// Runs a plugin; fails where nothing can, or if it lacks a class that it says it provides.
void run_lua_plugin(const PluginRecord& plugin);

}  // namespace crescent
