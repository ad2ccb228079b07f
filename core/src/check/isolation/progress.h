// Reports the progress of check_plugin to programs that limit the time of a check.
#pragma once
#include <string>
#include <vector>

#include "host/plugin_checks.h"

namespace crescent::check {

/// While an object of this class lives, checks on this thread report to the given CheckProgress.
class ProgressScope {
 public:
  explicit ProgressScope(const CheckProgress& progress);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
};

/// Reports that the checks of this class begin: first, an object of it may be made.
void announce_class(const KindAndName& kind_and_name);
/// Reports that this check of the class begins.
void announce(const std::string& check);
/// Reports that the checks of the class have ended, unless an earlier process gave its report.
void announce_end(const CheckReport& report);
/// Whether an earlier process gave the report of the class.
bool is_reported(const KindAndName& kind_and_name);
/// The result of a check of the class that has ended an earlier process; null if none has.
const CheckResult* fatal_result_of(const KindAndName& kind_and_name);

/// While an object of this class lives, checks of these names do not run on this thread. The name
/// "gradients" stands for all whose names begin with "gradient".
class ExcludedChecks {
 public:
  explicit ExcludedChecks(const std::vector<std::string>& names);
  ~ExcludedChecks();
  ExcludedChecks(const ExcludedChecks&) = delete;

  /// Whether a check of this name is not to run.
  static bool contain(const std::string& check);
  /// The checks that would have run.
  const std::vector<std::string>& met_checks() const { return met_checks_; }

 private:
  const std::vector<std::string>& names_;
  std::vector<std::string> met_checks_;
};

}  // namespace crescent::check
