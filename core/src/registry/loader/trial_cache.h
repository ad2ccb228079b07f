// What the trials of libraries on the search path gave, in a file of the user's cache, so that a
// library is tried once and not by every process that looks for a name.
#pragma once
#include <map>
#include <string>

#include "registry/elf/file_state.h"
#include "registry/loader/plugin_index.h"

namespace crescent {

/// The result of trying one library.
struct TriedLibrary {
  FileState state;  ///< of the file that was tried
  IndexedPlugin plugin;
  std::string refused;  ///< the reason why it cannot be loaded; empty if it can
};
using TriedLibraries = std::map<std::string, TriedLibrary>;  // by path

/// plugins.json in $XDG_CACHE_HOME/crescent; empty where a process has no cache of its user.
std::string trial_cache_path();
/// The content of that file. It is empty if the file is damaged, of another Crescent, or writable
/// for others.
TriedLibraries read_trial_cache();
/// Writes the entries of libraries whose files are unchanged; failures to write are ignored.
void write_trial_cache(const TriedLibraries& libraries);

}  // namespace crescent
