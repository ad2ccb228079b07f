// How processes that share batches begin a run: they compare what they were given, and start from
// the numbers of rank 0.
#pragma once
#include "training/input/process_group.h"
#include "training/state/training.h"

namespace crescent {

/// Fails with the names of what differs between the processes: `facts` has the same keys in all.
void expect_equal(const ProcessGroup& group, const Dict& facts);
/// Gives all processes the values that these variables have at rank 0.
void take_from_first(const ProcessGroup& group, const Variables& variables);
/// The weights of the model, the states of its generators and its optimizer.
Variables state_of(Model& model);

}  // namespace crescent
