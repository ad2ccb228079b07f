// The folders of plugins, and the permissions that their files must have.
#pragma once
#include <string>
#include <vector>

namespace crescent {

/// The sorted paths of the libraries in a folder; empty if it does not exist.
std::vector<std::string> libraries_in(const std::string& directory);

/// The libraries in a folder and the plugins written in Lua.
std::vector<std::string> plugins_in(const std::string& directory);

/// Returns the reason why a file or folder is not trusted: a user other than root, the current user
/// and the owner of libcrescent.so can change it or a folder above it. Empty if it is trusted or
/// does not exist.
std::string reason_not_trusted(const std::string& path);

/// The folders of $CRESCENT_PLUGIN_PATH (ignored if the process has more rights than its user) and
/// the plugin folder of the user, whether or not they exist. A folder that is named twice is listed
/// once, under its first name.
std::vector<std::string> search_directories();

struct SearchDirectory {
  std::string directory;
  std::string exclusion_reason;  ///< why the folder is not searched; empty if it is
};
/// The folders of search_directories() and the folder of the built-in plugins.
std::vector<SearchDirectory> checked_search_directories();

}  // namespace crescent
