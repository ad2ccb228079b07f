// Pruner: ends trials that are worse, at the same step, than most of those before them.
#pragma once
#include "crescent/search/oracle.h"

namespace crescent {

/// A trial is pruned when its best report is worse than this percentile of what complete trials had
/// reported at the same step.
struct Pruner {
  double percentile = 50;  ///< of the reports from the best one on
  int64_t n_startup_trials = 5, n_warmup_steps = 0;

  static void describe(Schema<Pruner>& s);
  /// The pruner for an option: "median" or a Dict of fields.
  static Pruner from(const Value& option);
  Dict options() const;
  /// Whether to prune the trial at this step, by the results of trials up to the horizon of its
  /// number and by its own reports up to the step: a trial that goes on after a cut has later ones.
  bool prunes(const TrialHistory& history, const TrialRecord& trial, int64_t step) const;
};

}  // namespace crescent
