// Plugins that are written in Lua: NAME.lua or NAME/init.lua in a folder of the search path. Its
// first lines describe such a plugin, so that it is listed and found without being run:
//
//   -- acme.swish 0.1.0: A smooth rectifier with a learned slope.
//   -- provides: layer Swish, loss Quartic
#pragma once
#include <functional>
#include <lua.hpp>
#include <string>
#include <utility>
#include <vector>

#include "crescent/base/value.h"

namespace crescent::lua {

struct LuaPlugin {
  std::string name, version, doc, path;
  std::string refused;  ///< the reason why it is not run; empty if it may be
  std::vector<std::pair<std::string, std::string>> classes;  ///< (kind, class name)
  bool loaded = false;
};

/// The plugins on the search path, sorted by folder and name. A plugin with the name of an earlier
/// one is refused.
std::vector<LuaPlugin> lua_plugins();
/// The plugin as a dictionary for a listing.
Dict described(const LuaPlugin& plugin);
/// Runs the plugin of this name, once; false if there is none. Fails if it is refused.
bool load_lua_plugin(lua_State* L, const std::string& name);
/// Runs the plugin that provides this class; false if there is none that may be run.
bool load_lua_plugin_for(lua_State* L, const std::string& kind, const std::string& class_name);
/// Runs work of C++ as if Lua had called it, so that it may make and call classes that are written
/// in Lua.
int as_called_by_lua(lua_State* L, const std::function<int()>& work);

}  // namespace crescent::lua
