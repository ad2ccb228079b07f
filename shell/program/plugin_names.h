// The names that follow from the name of a new plugin.
#pragma once
#include <string>

namespace crescent::program {

/// "acme.two_steps": file two_steps, class TwoSteps, target acme_two_steps, prefix acme. A name
/// without a '.' is its own prefix.
struct PluginNames {
  std::string name, file, class_name, target, prefix;
};

/// Fails for a name that no plugin can have, or that is reserved.
PluginNames plugin_names(const std::string& name);

}  // namespace crescent::program
