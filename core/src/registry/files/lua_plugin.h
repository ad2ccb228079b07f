// Plugins that are written in Lua: NAME.lua or NAME/init.lua in a folder of the search path. The
// first lines of such a file describe the plugin, so that its classes are found before it is run:
//
//   -- acme.swish 0.1.0: A smooth rectifier with a learned slope.
//   -- provides: layer Swish, loss Quartic
//
// Core reads these lines; a program that has a Lua state runs the file.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crescent/registry/loader.h"
#include "registry/files/plugin_index.h"

namespace crescent {

struct LuaPlugin {
  IndexedPlugin plugin;
  std::string doc;
  std::string refusal_reason;  ///< why the plugin is refused; empty if it may run
};

/// Whether the path is that of a Lua file.
inline bool is_lua(const std::string& path) { return path.ends_with(".lua"); }
/// Returns the description in the first lines of a Lua file; nullopt for a file without the title
/// line of a plugin, which is an ordinary script.
std::optional<LuaPlugin> read_lua_plugin(const std::string& path);
/// The sorted paths of the plugins written in Lua in a folder.
std::vector<std::string> lua_plugins_in(const std::string& directory);

/// Runs a plugin written in Lua. Fails in a program that cannot run Lua, and if the plugin does not
/// register a class that its first lines announce.
void run_lua_plugin(const PluginRecord& plugin);

}  // namespace crescent
