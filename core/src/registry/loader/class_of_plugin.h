// Classes that settings or files name, whose plugin may not be loaded yet.
#pragma once
#include "crescent/registry/registry.h"

namespace crescent {

/// The class of this name, or the first of the kind that the plugin of this name has. Fails with a
/// suggestion for an unknown name.
std::shared_ptr<const ClassInfo> class_or_plugin(std::string_view kind, std::string_view name);

/// Makes the names of classes in plugins on the search path known (Registry::names), for which
/// libraries that were never seen are tried in processes of their own.
void look_for_plugins();

}  // namespace crescent
