// The records of a study's journal: what is written for each event, and how the history follows
// from them.
//
//   {"study": {...options...}}                                 the first record
//   {"ask": 3, "suggested": {...}, "rest": "drawn"}            trial 3 begins
//   {"parameter": {...}}                                       a hyperparameter, numbered from 0
//   {"values": 3, "of": [0, 2], "are": [0.1, "adam"]}          values of trial 3
//   {"report": 3, "step": 1, "value": 0.5}
//   {"attribute": 3, "name": "note", "value": "x"}
//   {"tell": 3, "state": "complete", "score": 0.4, "seconds": 1.5}
#pragma once
#include "crescent/search/oracle.h"

namespace crescent {

Dict ask_record(int64_t number, const Suggestion& suggestion);
Dict values_record(int64_t number, const std::vector<size_t>& parameters, const List& values);
Dict tell_record(const TrialRecord& ended);

/// The state of a trial that ended so: complete, pruned or failed.
TrialRecord::State end_named(const std::string& name);

/// Takes what a record says into the history. Fails for a record of an unknown kind.
void apply_record(TrialHistory& history, const Dict& record);

}  // namespace crescent
