// Regular expressions that people write for names of layers and paths of weights.
#pragma once
#include <memory>
#include <string>

#include "crescent/base/export.h"

namespace crescent {

/// One of ECMAScript, which are Python's for the most part, without references back: it is compared
/// in polynomial time whatever a file has there.
class CRESCENT_API Pattern {
 public:
  /// Fails when `text` is no regular expression; `option` says in the message what it was for.
  Pattern(const std::string& text, const std::string& option);

  /// All of `name`.
  bool matches(const std::string& name) const;
  /// Some part of `name`.
  bool found_in(const std::string& name) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace crescent
