// The list of all objects that a file contained when Crescent saved it, from the attribute
// crescent_contents of the root (seal.h).
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

namespace crescent::hdf5 {

class Inventory {
 public:
  explicit Inventory(const std::vector<std::string>& lines);

  /// The line of text that describes each object, by the path of the object.
  const std::map<std::string, std::string>& entries() const { return entries_; }
  bool contains_line(const std::string& line) const;
  /// The names of the members of every group, including the root and groups that only contain
  /// groups.
  const std::map<std::string, std::set<std::string>>& members() const { return members_; }

 private:
  std::map<std::string, std::string> entries_;
  std::map<std::string, std::set<std::string>> members_;
};

}  // namespace crescent::hdf5
