// Finding, judging and loading plugins: what programs that use plugins need. Authors of plugins
// include plugin.h.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "crescent/base/export.h"

namespace crescent {

/// What a loaded or refused plugin is, for listings.
struct PluginRecord {
  std::string name, version, path;
  std::string refused;  ///< why, empty when loaded or loadable
  bool loaded = false;
  std::vector<std::pair<std::string, std::string>>
      classes;  ///< (kind, class name), known from the index or after loading
};

/// Loads one library by path. Fails (nothing registered) with both sides named and the rebuild
/// command.
CRESCENT_API PluginRecord load_plugin(const std::string& path);
/// Loads by plugin name ("acme.scale") along the search path; the error lists what was tried.
CRESCENT_API PluginRecord load_plugin_by_name(const std::string& name);
/// $CRESCENT_PLUGIN_PATH, the user's directory, the installed one; directories others may write are
/// left out.
CRESCENT_API std::vector<std::string> plugin_search_path();
/// Loaded, indexed and refused plugins of this process; reads stamps of files on the search path,
/// runs none of them.
CRESCENT_API std::vector<PluginRecord> list_plugins();
/// Loads every library of `directory` and writes its index.json (type name -> library); used by the
/// build.
CRESCENT_API void write_plugin_index(const std::string& directory);

}  // namespace crescent
