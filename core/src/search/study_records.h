// The records of a study's journal: the record for each event, and the changes of the history that
// follow from it.
//
//   {"study": {...options...}}                                 the first record
//   {"ask": 3, "suggested": {...}, "rest": "drawn"}            trial 3 begins; values that the
//                                                              oracle does not suggest are drawn
//   {"parameter": {...}}                                       a hyperparameter, numbered from 0
//   {"values": 3, "of": [0, 2], "are": [0.1, "adam"]}          values of trial 3
//   {"report": 3, "step": 1, "value": 0.5}                     trial 3 reports a value at step 1
//   {"attribute": 3, "name": "note", "value": "x"}             an attribute of trial 3
//   {"tell": 3, "state": "complete", "score": 0.4, "seconds": 1.5}   trial 3 ends
#pragma once
#include "crescent/search/oracle.h"

namespace crescent {

Dict ask_record(int64_t number, const Suggestion& suggestion);
Dict values_record(int64_t number, const std::vector<size_t>& parameters, const List& values);
Dict tell_record(const TrialRecord& ended_trial);

/// Returns the state of this name; fails unless it is one in which a trial ends: complete, pruned
/// or failed.
TrialRecord::State end_state_named(const std::string& name);

/// Applies a record to the history. Fails for a record of an unknown kind.
void apply_record(TrialHistory& history, const Dict& record);

}  // namespace crescent
