// What a file of ours was saved with: the list crescent_contents of its root (seal.h).
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

namespace crescent::hdf5 {

class Inventory {
 public:
  explicit Inventory(const std::vector<std::string>& texts);

  /// The texts, by the paths that they are about.
  const std::map<std::string, std::string>& entries() const { return entries_; }
  bool has(const std::string& text) const;
  /// Of every group, the root among them, the names in it; groups on the way to others too.
  const std::map<std::string, std::set<std::string>>& members() const { return members_; }

 private:
  std::map<std::string, std::string> entries_;
  std::map<std::string, std::set<std::string>> members_;
};

}  // namespace crescent::hdf5
