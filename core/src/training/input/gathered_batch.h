// Gathers a batch of which each process has a part, so that every process has the targets and the
// sample weights of the whole batch.
#pragma once
#include "crescent/data/data.h"
#include "training/input/process_group.h"

namespace crescent {

/// A batch that consists of the rows of rank 0, followed by those of rank 1, and so on.
struct GatheredBatch {
  Batch whole_batch;  ///< the inputs are gathered only if every process needs all of them
  Share own_rows;     ///< the rows of this process
};
/// Gathers a batch of which each process passes its part `own_batch`, which must have at least one
/// row. Fails if the dtypes of the parts differ, or their shapes apart from the number of rows.
GatheredBatch gather_batch(const ProcessGroup& group, const Batch& own_batch, bool gathers_inputs);

}  // namespace crescent
