// The beginning of a run in processes that share batches: they compare their models and options,
// and start from the values of rank 0.
#pragma once
#include "training/input/process_group.h"
#include "training/state/training.h"

namespace crescent {

/// Fails if a value in `properties` differs between the processes; the message names its key and
/// ends with `requirement`, a sentence that says what the processes must have in common. All
/// processes must pass the same keys. Returns the `own_number` of each process; the processes
/// exchange these numbers together with the properties.
std::vector<double> expect_equal(const ProcessGroup& group, const Dict& properties,
                                 const char* requirement, double own_number = 0);
/// Sets these variables to their values in the process of rank 0. If a variable is divided among
/// the processes, each of its parts is set to the value in the first process that has this part.
void copy_from_rank_0(const ProcessGroup& group, const Variables& variables);
/// The weights of the model and the states of its random generators and its optimizer.
Variables state_of(Model& model);

}  // namespace crescent
