// Regular expressions that users write to select layers by name and weights by path.
#pragma once
#include <memory>
#include <string>

#include "crescent/base/export.h"

namespace crescent {

/// A regular expression of ECMAScript without back references, which for most patterns is Python's
/// syntax too. Matching takes polynomial time, even for a pattern that comes from an untrusted
/// file.
class CRESCENT_API Pattern {
 public:
  /// Fails when `text` is not a regular expression; `option` is the name of the option in the
  /// message.
  Pattern(const std::string& text, const std::string& option);

  /// Whether the expression matches the whole of `name`.
  bool matches(const std::string& name) const;
  /// Whether the expression matches some substring of `name`.
  bool found_in(const std::string& name) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace crescent
