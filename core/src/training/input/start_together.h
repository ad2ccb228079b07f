// How processes that share batches begin a run: they compare their models and options, and start
// from the values of rank 0.
#pragma once
#include "training/input/process_group.h"
#include "training/state/training.h"

namespace crescent {

/// Fails if a value in `facts` differs between the processes, naming its key, with a sentence that
/// says what they are to have in common. All processes must pass the same keys.
void expect_equal(const ProcessGroup& group, const Dict& facts, const char* in_common);
/// Sets these variables to their values in the process of rank 0; divided ones to those of the
/// first process that has the part.
void take_from_first(const ProcessGroup& group, const Variables& variables);
/// The weights of the model and the states of its random generators and its optimizer.
Variables state_of(Model& model);

}  // namespace crescent
