#include "inventory.h"

#include "../src/seal.h"

namespace crescent::hdf5 {

Inventory::Inventory(const std::vector<std::string>& texts) {
  members_[""];
  for (const std::string& text : texts) {
    std::string path(sealed_name(text));
    entries_[path] = text;
    if (path.ends_with('/')) path.pop_back(), members_[path];
    while (!path.empty()) {
      const size_t slash = path.rfind('/');
      const std::string group = slash == path.npos ? "" : path.substr(0, slash);
      if (!members_[group].insert(path.substr(slash + 1)).second) break;
      path = group;
    }
  }
}

bool Inventory::has(const std::string& text) const {
  const auto entry = entries_.find(std::string(sealed_name(text)));
  return entry != entries_.end() && entry->second == text;
}

}  // namespace crescent::hdf5
