// The state of a study in this process.
#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "crescent/search/study.h"
#include "search/journal.h"
#include "search/pruner.h"

namespace crescent {

struct Study::State {
  explicit State(StudyOptions study_options)
      : options(std::move(study_options)), journal(options.journal, options.sync) {
    if (!options.pruner.is_null()) pruner = Pruner::from(options.pruner);
  }

  /// Reads the new records of the journal; must be called within a Lock of the journal.
  void read();
  /// Appends a record and applies it to the history; must be called after read(), within the same
  /// Lock.
  void write(const Dict& record);
  /// Whether all results of earlier trials are known on which the suggestion for this trial and its
  /// pruning depend.
  bool is_ready(int64_t number) const;

  using Clock = std::chrono::steady_clock;
  StudyOptions options;
  std::optional<Pruner> pruner;
  Journal journal;
  TrialHistory history;
  bool has_header = false;
  /// The trials that this object runs, and when they began.
  std::map<int64_t, Clock::time_point> own_trials;
  std::set<int64_t> running_trials;  ///< the running trials of all processes
  int64_t first_unasked = 1;
};

}  // namespace crescent
