// index.json beside the built-in plugins says which library has which class, so a library is loaded
// only when it is needed.
//
//   {"crescent": "0.2.0", "plugins": [{"library": "losses.so", "bytes": 91234, "name": "losses",
//   "version": "0.2.0",
//     "classes": [{"kind": "loss", "name": "MeanSquaredError", "aliases": ["mse"],
//      "traits": "{...}"}]}]}
//
// Traits are JSON in a string, because every process that needs a class parses the index, but asks
// for the traits of few classes.
#pragma once
#include <string>
#include <vector>

#include "crescent/base/value.h"

namespace crescent {

struct IndexedClass {
  std::string kind, name;
  std::vector<std::string> aliases;
  std::string traits;  ///< the values set by Schema::trait, as JSON; empty without traits
};

struct IndexedPlugin {
  std::string path, name, version;
  std::vector<IndexedClass> classes;
};

/// index_entry() returns the entry of a plugin, which contains the file name of the library without
/// its folder; plugin_of_entry() returns the plugin of an entry, for a library in `directory`.
Dict index_entry(const IndexedPlugin& plugin);
IndexedPlugin plugin_of_entry(const Dict& entry, const std::string& directory);

/// Reads the index in `directory`. An entry is left out if the size of its library has changed. The
/// result is empty if there is no index, or if another version of Crescent wrote it.
std::vector<IndexedPlugin> read_index(const std::string& directory);
void write_index(const std::string& directory, const std::vector<IndexedPlugin>& plugins);

}  // namespace crescent
