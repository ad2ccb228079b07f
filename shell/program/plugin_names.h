// The names in a new plugin that are derived from its name.
#pragma once
#include <string>

namespace crescent::program {

/// The names in a new plugin. For the plugin "acme.two_steps": file two_steps, class TwoSteps,
/// target acme_two_steps, prefix acme. If the name has no '.', the prefix is the name.
struct PluginNames {
  std::string name, file, class_name, target, prefix;
};

/// Derives the names; fails for a name that is reserved or not allowed for plugins.
PluginNames plugin_names(const std::string& name);

}  // namespace crescent::program
