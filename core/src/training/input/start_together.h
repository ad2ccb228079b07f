// The beginning of a run in processes that share batches: they compare their models and options,
// and start from the values of rank 0.
#pragma once
#include "training/input/process_group.h"
#include "training/state/training.h"

namespace crescent {

/// Fails if a value in `facts` differs between the processes; the message names its key and ends
/// with `in_common`, a sentence that says what the processes must have in common. All processes
/// must pass the same keys. Returns the number `own` of each process, which is sent together with
/// the facts in one exchange.
std::vector<double> expect_equal(const ProcessGroup& group, const Dict& facts,
                                 const char* in_common, double own = 0);
/// Sets these variables to their values in the process of rank 0. Each part of a divided variable
/// is set to the value in the first process that has this part.
void copy_from_rank_0(const ProcessGroup& group, const Variables& variables);
/// The weights of the model and the states of its random generators and its optimizer.
Variables state_of(Model& model);

}  // namespace crescent
