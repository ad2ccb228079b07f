// Names in a file that stand for other names in a model: {["encoder_*"] = "enc_*"}, where * is any
// text, kept in the new name.
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
  /// Null: nothing is renamed. Fails when it is no dictionary of texts with at most one * each.
  explicit Renaming(const Value& map);

  bool empty() const { return rows_.empty(); }
  /// By the first row that fits.
  std::string operator()(const std::string& name) const;
  /// Fails when a row fits none of these names of the file at `path`.
  void check(const std::string& path, const std::vector<std::string>& names) const;

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

}  // namespace crescent::keras
