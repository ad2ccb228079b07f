// Which plugin an address is in: a table that a signal handler may read.
#pragma once
#include <cstdint>

#include "crescent/base/export.h"

namespace crescent {

/// Notes that the library of a plugin lies between these addresses; a table that is full takes no
/// more.
void note_plugin_code(uintptr_t begin, uintptr_t end, const char* plugin);

/// The name of the plugin whose library has this address; null for code of core and of others.
const char* plugin_at(const void* address);

}  // namespace crescent
