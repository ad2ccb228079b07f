// The names in a new plugin that are derived from its name.
#pragma once
#include <string>

namespace crescent::program {

/// For "acme.two_steps": file two_steps, class TwoSteps, target acme_two_steps, prefix acme. A name
/// without a '.' is also the prefix.
struct PluginNames {
  std::string name, file, class_name, target, prefix;
};

/// Derives the names; fails for a name that is reserved or not allowed for plugins.
PluginNames plugin_names(const std::string& name);

}  // namespace crescent::program
