#include "instances/lua_origin.h"

namespace crescent::lua {
namespace {

constexpr const char* kLua = "Lua";
thread_local const PluginRecord* running_plugin = nullptr;

}  // namespace

RunningLuaPlugin::RunningLuaPlugin(const PluginRecord& plugin) : outer_plugin_(running_plugin) {
  running_plugin = &plugin;
}
RunningLuaPlugin::~RunningLuaPlugin() { running_plugin = outer_plugin_; }

void set_lua_origin(ClassInfo& info) {
  info.origin = kLua;
  info.plugin = running_plugin ? running_plugin->name : kLua;
  info.plugin_version = running_plugin ? running_plugin->version : "";
}

}  // namespace crescent::lua
