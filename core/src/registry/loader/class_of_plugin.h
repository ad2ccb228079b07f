// Classes that settings or files name, whose plugin may not be loaded yet.
#pragma once
#include "crescent/registry/registry.h"

namespace crescent {

/// The class of this name, or the first class of this kind in the plugin of this name. Fails with a
/// suggestion for an unknown name.
/// suggestion for an unknown name.
std::shared_ptr<const ClassInfo> class_or_plugin(std::string_view kind, std::string_view name);

/// Finds the classes of plugins on the search path, so that Registry::names lists them. Libraries
/// that were never tried are loaded in child processes for that.
void look_for_plugins();

}  // namespace crescent
