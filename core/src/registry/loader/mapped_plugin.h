// A library of a plugin in the memory of this process.
#pragma once
#include <string>

#include "crescent/registry/registry.h"
#include "crescent/registry/stamp.h"

namespace crescent {

/// A plugin in memory: its stamp, and its C table if it has one.
struct MappedPlugin {
  const PluginInfo& info;
  const void* table = nullptr;
};

/// Maps the library whose file has this stamp. Fails if the library in memory declares another
/// plugin.
MappedPlugin map_library(const std::string& path, const PluginInfo& stamp);

/// Calls the setup function of the plugin, or reads its table, to fill `staging`.
void run_setup(const MappedPlugin& plugin, Registry& staging);

}  // namespace crescent
