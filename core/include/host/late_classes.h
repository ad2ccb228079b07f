// Classes of a host (the shell), which are added to the registry as late as those of core. Plugins
// do not see this header, so it is not part of their stamps and is not installed.
#pragma once
#include "crescent/base/export.h"

namespace crescent {

class Registry;

/// Calls `add` when the registry is first asked for a class that it lacks, after the classes of
/// core were added and the index of plugins was read; at once if it has been asked for one before.
CRESCENT_API void add_classes_late(void (*add)(Registry& registry));

}  // namespace crescent
