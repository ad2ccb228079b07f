// A batch of which each process has its own part: its parts are gathered, so that every process has
// the targets and weights of the whole batch.
#pragma once
#include "crescent/data/data.h"
#include "training/input/process_group.h"

namespace crescent {

/// A batch of all processes, whose rows are those of rank 0, then those of rank 1, and so on.
struct GatheredBatch {
  Batch whole;  ///< the inputs are gathered only if every process needs all of them
  Share own;    ///< the rows that this process has
};
/// Gathers the batch of which each process has the part `own`, which must have at least one row.
/// Fails if the parts differ in their dtypes, or in their shapes beside the number of rows.
GatheredBatch gathered(const ProcessGroup& group, const Batch& own, bool with_inputs);

}  // namespace crescent
