// What a study consists of in this process.
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
  explicit State(StudyOptions given)
      : options(std::move(given)), journal(options.journal, options.sync) {
    if (!options.pruner.is_null()) pruner = Pruner::from(options.pruner);
  }

  /// Reads what is new, within a Lock of the journal.
  void read();
  /// Appends a record and takes it into the history, within a Lock after read().
  void write(const Dict& record);
  /// Whether the trial can be suggested now.
  bool ready(int64_t number) const;

  using Clock = std::chrono::steady_clock;
  StudyOptions options;
  std::optional<Pruner> pruner;
  Journal journal;
  TrialHistory history;
  bool has_header = false;
  std::map<int64_t, Clock::time_point> held;  ///< trials of this object, and when they began
  std::set<int64_t> running;                  ///< trials of all processes
  int64_t first_unasked = 1;
};

}  // namespace crescent
