// Files that hold a FeatureSpace in place of a model. The class is written in Lua
// (shell/lua/feature_space.lua); formats that have a word for it have the methods
// load_feature_space and save_feature_space.
#pragma once
#include <lua.hpp>

#include "crescent/base/value.h"

namespace crescent::lua {

/// Pushes the one that a file holds; false when it holds none. `options` are those of load_model.
bool push_feature_space(lua_State* L, const std::string& path, const Dict& options);

/// `space` is what get_config() gave; false when the format of files of this name has none.
bool save_feature_space(const std::string& path, const Dict& space);

}  // namespace crescent::lua
