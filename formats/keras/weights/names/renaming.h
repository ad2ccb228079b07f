// A mapping of names in a file to names in a model: {["encoder_*"] = "enc_*"}, where * matches any
// text, which the new name contains.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

class CRESCENT_KERAS_API Renaming {
 public:
  Renaming() = default;
  /// Null renames nothing. Fails unless the value is a dictionary of texts with at most one * each.
  explicit Renaming(const Value& map);

  bool empty() const { return rows_.empty(); }
  /// Renames by the first entry that matches.
  std::string operator()(const std::string& name) const;
  /// Fails if an entry matches none of these names in the file at `path`.
  void check(const std::string& path, const std::vector<std::string>& names) const;

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

}  // namespace crescent::keras
