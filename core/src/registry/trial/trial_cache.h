// Results of trials of libraries on the search path, stored in a file of the user's cache, so that
// each library is tried once and not by every process that looks for a class.
#pragma once
#include <map>
#include <string>

#include "registry/elf/file_state.h"
#include "registry/files/plugin_index.h"

namespace crescent {

/// The result of trying one library.
struct TriedLibrary {
  FileState state;  ///< state of the file that was tried
  IndexedPlugin plugin;
  std::string refusal_reason;  ///< why the library is refused; empty if it is not
};
using TriedLibraries = std::map<std::string, TriedLibrary>;  // keys are paths

/// The path of the cache, plugins.json in $XDG_CACHE_HOME/crescent; empty in a process without a
/// cache folder of its user.
std::string trial_cache_path();
/// Reads the cache. The result is empty if the file is damaged, was written by another build of
/// Crescent, or is writable for other users.
TriedLibraries read_trial_cache();
/// Writes the entries of libraries whose files have not changed; a failure to write is ignored.
void write_trial_cache(const TriedLibraries& libraries);

}  // namespace crescent
