#include "inventory.h"

#include "../src/seal.h"

namespace crescent::hdf5 {

Inventory::Inventory(const std::vector<std::string>& lines) {
  members_[""];
  for (const std::string& line : lines) {
    std::string path(sealed_name(line));
    entries_[path] = line;
    if (path.ends_with('/')) path.pop_back(), members_[path];
    while (!path.empty()) {
      const size_t slash = path.rfind('/');
      const std::string group = slash == path.npos ? "" : path.substr(0, slash);
      if (!members_[group].insert(path.substr(slash + 1)).second) break;
      path = group;
    }
  }
}

bool Inventory::contains_line(const std::string& line) const {
  const auto entry = entries_.find(std::string(sealed_name(line)));
  return entry != entries_.end() && entry->second == line;
}

}  // namespace crescent::hdf5
