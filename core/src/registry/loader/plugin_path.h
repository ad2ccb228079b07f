// The folders of plugins, and the permissions that their files must have.
#pragma once
#include <string>
#include <vector>

namespace crescent {

/// The sorted paths of the libraries in a folder; empty if it does not exist.
std::vector<std::string> libraries_in(const std::string& directory);

/// These and the plugins in Lua of the folder.
std::vector<std::string> plugins_in(const std::string& directory);

/// The reason not to trust a file or folder: a user other than root, the current one and the owner
/// of libcrescent.so can change it or a folder above it. Empty if it is trusted or does not exist.
std::string distrust(const std::string& path);

/// The folders of $CRESCENT_PLUGIN_PATH (unless the process has more rights than its user) and the
/// folder of the user, whether or not they are there; a folder stands once, by its first name.
std::vector<std::string> search_directories();

struct SearchDirectory {
  std::string directory;
  std::string left_out;  ///< the reason why it is not searched; empty if it is
};
/// These folders and the installed one.
std::vector<SearchDirectory> checked_search_directories();

}  // namespace crescent
