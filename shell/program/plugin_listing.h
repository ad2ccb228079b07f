// Texts about plugins for `crescent plugins` and `crescent info`.
#pragma once
#include <string>

#include "crescent/registry/loader.h"

namespace crescent::program {

/// The state of a plugin: "loaded", "loaded on first use", or "refused: " and the reason.
std::string state_of_plugin(const PluginRecord& plugin);

/// The description of a plugin (given by name or path) and its classes, made in a child process.
/// `child_survived` becomes false if loading the plugin ends the child, or if the plugin does not
/// exist.
std::string describe_in_child(const std::string& plugin, bool& child_survived);

}  // namespace crescent::program
