// Maps code addresses to plugins, by a table that a signal handler may read.
#pragma once
#include <cstdint>

#include "crescent/base/export.h"

namespace crescent {

/// Records the address range of a plugin's library; does nothing if the table is full.
void note_plugin_code(uintptr_t begin, uintptr_t end, const char* plugin);

/// The name of the plugin whose library contains this address; null if no plugin contains it.
const char* plugin_at(const void* address);

}  // namespace crescent
