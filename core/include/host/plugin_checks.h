// check_plugin() with callbacks that report its progress. Plugins do not see this header, so it is
// not part of their stamps and is not installed.
#pragma once
#include <functional>

#include "crescent/model/check.h"

namespace crescent {

/// Functions that are called while the classes of a plugin are checked; each may be empty.
struct CheckProgress {
  std::function<void(const std::string& class_name, const std::string& check)> begins;
  std::function<void(const CheckReport&)> ended;  ///< called after the last check of a class
};

CRESCENT_API std::vector<CheckReport> check_plugin(const std::string& plugin, const Dict& options,
                                                   const CheckProgress& progress);

}  // namespace crescent
