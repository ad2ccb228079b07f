// Classes that are named in settings, before anything has loaded their plugin.
#pragma once
#include "crescent/registry/registry.h"

namespace crescent {

/// The class; when nobody registered it, the plugin of this name is loaded to do so. Fails with a
/// suggestion.
std::shared_ptr<const ClassInfo> class_or_plugin(std::string_view kind, std::string_view name);

}  // namespace crescent
