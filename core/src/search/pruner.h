// Pruner: ends trials that are worse than most earlier trials were at the same step.
#pragma once
#include "crescent/search/oracle.h"

namespace crescent {

/// Prunes a trial if its best report so far is worse than a percentile of what complete trials
/// reported at the same step.
struct Pruner {
  double percentile = 50;  ///< percentage of the complete trials, from the best one on
  int64_t n_startup_trials = 5, n_warmup_steps = 0;

  static void describe(Schema<Pruner>& s);
  /// The pruner for an option: "median" or a Dict of fields.
  static Pruner from(const Value& option);
  Dict options() const;
  /// Whether to prune the trial at this step, by its own reports up to the step and by the reports
  /// of complete trials up to its horizon. A trial that was interrupted and runs again may have
  /// later reports, which do not count.
  bool should_prune(const TrialHistory& history, const TrialRecord& trial, int64_t step) const;
};

}  // namespace crescent
