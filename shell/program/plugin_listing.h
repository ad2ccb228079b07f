// What `crescent plugins` and `crescent info` tell of plugins.
#pragma once
#include <string>

#include "crescent/registry/loader.h"

namespace crescent::program {

/// "loaded", "loaded on first use", or "refused: " and the reason.
std::string state_of_plugin(const PluginRecord& plugin);

/// What the plugin of this name or path and its classes are, told by a process of its own, which
/// the plugin may end; then `survived` is false, as for a plugin that is not there.
std::string describe_in_child(const std::string& plugin, bool& survived);

}  // namespace crescent::program
