// A mapping of names in a file to names in a model: {["encoder_*"] = "enc_*"}. The * in a pattern
// matches any text, which replaces the * in the new name.
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
  /// `map` is a table {pattern = new name}, each with at most one *; null renames nothing. Fails
  /// for other values.
  explicit Renaming(const Value& map);

  bool empty() const { return patterns_.empty(); }
  /// The new name for `name`, by the first entry whose pattern matches; `name` itself if none
  /// matches.
  std::string operator()(const std::string& name) const;
  /// Fails if an entry matches none of `names`, the names in the file at `path`.
  void expect_all_match(const std::string& path, const std::vector<std::string>& names) const;

 private:
  std::vector<std::pair<std::string, std::string>> patterns_;
};

}  // namespace crescent::keras
