// The origin of classes that Lua code defines: the plugin written in Lua that is running, if one
// is.
#pragma once
#include "crescent/registry/loader.h"
#include "crescent/registry/registry.h"

namespace crescent::lua {

/// While an object of this class lives, classes that Lua code defines on this thread are those of
/// the plugin.
class RunningLuaPlugin {
 public:
  explicit RunningLuaPlugin(const PluginRecord& plugin);
  ~RunningLuaPlugin();
  RunningLuaPlugin(const RunningLuaPlugin&) = delete;

 private:
  const PluginRecord* outer_plugin_;
};

/// Sets origin, plugin and version of a class that Lua code defines now. Files record them.
void set_lua_origin(ClassInfo& info);

}  // namespace crescent::lua
