// The sources in Lua of the module (shell/lua), as texts.
#pragma once
#include <string_view>

namespace crescent::lua {

struct LuaSource {
  std::string_view name;  ///< "applications/resnet"
  std::string_view text;
};
/// The source of the Lua library with this name; fails if there is none.
const LuaSource& lua_source(std::string_view name);

}  // namespace crescent::lua
