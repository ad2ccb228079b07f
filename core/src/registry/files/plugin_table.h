// Plugins that are described by a C table (crescent_plugin.h) instead of a C++ stamp. Every build
// of Crescent that can read their version of the table can load them.
#pragma once
#include <optional>
#include <string>

#include "crescent/registry/stamp.h"
#include "registry/elf/elf_file.h"

namespace crescent {

/// Returns the name and version in the table of the file as a stamp; nullopt for a library without
/// a table.
std::optional<PluginInfo> read_table_stamp(const ElfFile& file);
/// Whether the stamp was made by read_table_stamp().
bool is_table(const PluginInfo& stamp);
/// Returns the reason why this build of Crescent cannot read the table; empty if it can.
std::string table_mismatch(const PluginInfo& stamp);

/// Returns the table in a mapped library; null if it does not agree with the stamp.
const void* find_table(void* library, const PluginInfo& stamp);
/// Starts the plugin and registers its classes. The code for that is in libcrescent_c.so, which is
/// loaded on first use.
void register_table(const void* table, Registry& registry);

}  // namespace crescent
