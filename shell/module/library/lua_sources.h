// The part of the module that is written in Lua (shell/lua), as texts.
#pragma once
#include <string_view>

namespace crescent::lua {

struct LuaSource {
  std::string_view name;  ///< "applications/resnet"
  std::string_view text;
};
/// Fails when there is none of this name.
const LuaSource& lua_source(std::string_view name);

}  // namespace crescent::lua
