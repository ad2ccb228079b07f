// Reports the progress of check_plugin to programs that limit the time of a check.
#pragma once
#include <string>

#include "host/plugin_checks.h"

namespace crescent::check {

/// While an object of this class lives, checks on this thread report to the given CheckProgress.
class ProgressScope {
 public:
  explicit ProgressScope(const CheckProgress& progress);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
};

/// Reports that the checks of this class begin.
void announce_class(const std::string& class_name);
/// Reports that this check of the class begins.
void announce(const std::string& check);
/// Reports that the checks of a class have ended.
void announce_end(const CheckReport& report);

}  // namespace crescent::check
