// index.json beside the built-in plugins says which library has which class, so a library is loaded
// only when it is needed.
//
//   {"crescent": "0.2.0", "plugins": [{"library": "losses.so", "bytes": 91234, "name": "losses",
//   "version": "0.2.0",
//     "classes": [{"kind": "loss", "name": "MeanSquaredError", "aliases": ["mse"],
//      "traits": {}}]}]}
#pragma once
#include <string>
#include <vector>

#include "crescent/base/value.h"

namespace crescent {

struct IndexedClass {
  std::string kind, name;
  std::vector<std::string> aliases;
  Dict traits;  ///< Schema::trait
};

struct IndexedPlugin {
  std::string path, name, version;
  std::vector<IndexedClass> classes;
};

/// The entry of a plugin, which has the file name of the library only, and the plugin of an entry
/// for a library in `directory`.
Dict index_entry(const IndexedPlugin& plugin);
IndexedPlugin plugin_of_entry(const Dict& entry, const std::string& directory);

/// The entries that still describe the libraries in `directory` (same size, same version of
/// Crescent); empty without an index.
std::vector<IndexedPlugin> read_index(const std::string& directory);
void write_index(const std::string& directory, const std::vector<IndexedPlugin>& plugins);

}  // namespace crescent
