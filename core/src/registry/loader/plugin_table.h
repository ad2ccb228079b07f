// Plugins that are described by a C table (crescent_plugin.h) instead of the stamp of C++: they fit
// every host that reads their version of the table.
#pragma once
#include <optional>
#include <string>

#include "crescent/registry/stamp.h"
#include "registry/elf/elf_file.h"

namespace crescent {

/// Name and version in the table of the file, as a stamp; none for a library without a table.
std::optional<PluginInfo> read_table_stamp(const ElfFile& file);
/// Whether the stamp is that of a table.
bool is_table(const PluginInfo& stamp);
/// The reason why the table cannot be read here; empty if it can.
std::string table_mismatch(const PluginInfo& stamp);

/// The table in a mapped library; null if it is not what its stamp says.
const void* find_table(void* library, const PluginInfo& stamp);
/// Starts the plugin and registers its classes by libcrescent_c.so, which is loaded on first use.
void register_table(const void* table, Registry& registry);

}  // namespace crescent
