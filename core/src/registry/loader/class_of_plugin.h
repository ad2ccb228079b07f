// Finds classes that settings or files name and whose plugins may not be loaded yet.
#pragma once
#include "crescent/registry/registry.h"

namespace crescent {

/// Returns the class of this name, or the first class of this kind in the plugin of this name.
/// Fails for an unknown name, with a suggestion.
std::shared_ptr<const ClassInfo> class_or_plugin(std::string_view kind, std::string_view name);

/// Finds the classes of plugins on the search path, so that Registry::names lists them. Libraries
/// that are not known yet are loaded in child processes to find out their classes.
void look_for_plugins();

}  // namespace crescent
