// Files that contain a FeatureSpace instead of a model. The class FeatureSpace is written in Lua
// (shell/lua/feature_space.lua); file formats that support it have the methods load_feature_space
// and save_feature_space.
#pragma once
#include <lua.hpp>

#include "crescent/base/value.h"

namespace crescent::lua {

/// Pushes the FeatureSpace that a file contains; returns false if the file contains none. `options`
/// are those of load_model.
bool push_feature_space(lua_State* L, const std::string& path, const Dict& options);

/// Saves a FeatureSpace with the configuration `space`; returns false if the file format for this
/// path does not support it.
bool save_feature_space(const std::string& path, const Dict& space);

}  // namespace crescent::lua
