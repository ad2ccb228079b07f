// Where plugins are looked for, and whom the files may belong to.
#pragma once
#include <string>
#include <vector>

namespace crescent {

/// lib/crescent/plugins beside libcrescent.so: plugins that came with it.
const std::string& installed_plugin_directory();

/// Paths of the libraries in a directory, sorted; none when it is not there.
std::vector<std::string> libraries_in(const std::string& directory);

/// Why a file or directory is not to be trusted: someone other than root, the user and the owner of
/// libcrescent.so can change it or a directory above it. Empty when it is, or is not there.
std::string distrust(const std::string& path);

struct SearchPlace {
  std::string directory;
  std::string left_out;  ///< why it is not searched, else empty
};
/// $CRESCENT_PLUGIN_PATH (unless the process has more rights than its user), the user's, the
/// installed directory.
std::vector<SearchPlace> search_places();

}  // namespace crescent
