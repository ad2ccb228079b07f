// Pruner: ends trials that are worse than most earlier trials were at the same step.
#pragma once
#include "crescent/search/oracle.h"

namespace crescent {

/// Prunes a trial if its best report so far is worse than a percentile of the values that complete
/// trials reported at the same step.
struct Pruner {
  double percentile = 50;  ///< percentage of the complete trials, from the best one on
  int64_t n_startup_trials = 5, n_warmup_steps = 0;

  static void describe(Schema<Pruner>& s);
  /// The pruner for an option: "median" or a Dict of fields.
  static Pruner from(const Value& option);
  Dict options() const;
  /// Whether to prune the trial at this step. The decision depends on the reports of the trial up
  /// to this step, and on the reports of complete trials that began early enough for their results
  /// to be known (TrialHistory::horizon). Later reports, which a trial may have if it was
  /// interrupted and runs again, do not count.
  bool should_prune(const TrialHistory& history, const TrialRecord& trial, int64_t step) const;
};

}  // namespace crescent
