// Adds classes of a program (the shell) to the registry on first need, as core adds its own
// classes. Plugins do not see this header: it is not installed, and the hash of headers in their
// stamps (stamp.h) leaves it out.
#pragma once
#include "crescent/base/export.h"

namespace crescent {

class Registry;

/// Calls `add` when the registry is first asked for a class that it lacks, after the classes of
/// core were added and the index of plugins was read. If the registry has been asked for such a
/// class before, calls `add` at once.
CRESCENT_API void add_classes_late(void (*add)(Registry& registry));

}  // namespace crescent
