// Functions by which programs find, check and load plugins. Authors of plugins include plugin.h.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "crescent/base/export.h"

namespace crescent {

/// The description of a loaded or refused plugin, for listings.
struct PluginRecord {
  std::string name, version, path;
  std::string refused;  ///< why the plugin was refused; empty if it is loaded or can be loaded
  bool loaded = false;
  std::vector<std::pair<std::string, std::string>>
      classes;  ///< (kind, class name) of each class; from the index if not loaded
};

/// Loads a library by its path. A library that was built with other headers or another compiler
/// registers nothing; the error names the difference and the command to rebuild the library.
CRESCENT_API PluginRecord load_plugin(const std::string& path);
/// Loads the plugin of this name ("acme.scale") from the search path; the error lists the paths
/// that were tried.
CRESCENT_API PluginRecord load_plugin_by_name(const std::string& name);
/// The folders of $CRESCENT_PLUGIN_PATH, the folder of the user and that of installed plugins;
/// folders to which other users may write are left out.
CRESCENT_API std::vector<std::string> plugin_search_path();
/// All plugins: the loaded ones, those in the index, those found on the search path, and the
/// refused ones. To list the classes of a new library on the search path, a child process loads the
/// library, unless its file or its stamp is refused before.
CRESCENT_API std::vector<PluginRecord> list_plugins();
/// Loads every library of `directory` and writes index.json, which maps class names to libraries;
/// the build calls it.
CRESCENT_API void write_plugin_index(const std::string& directory);

}  // namespace crescent
