// The numbers of epochs and batches of a run within the limits of the process (host/run_limits.h).
#pragma once
#include "crescent/data/data.h"
#include "host/run_limits.h"

namespace crescent {

/// Returns the number of epochs or, if it is larger than the limit, the limit, with a warning.
int64_t limited_epochs(int64_t epochs);
/// Returns the number of batches (nullopt: all of the data) or, if there are more batches than the
/// limit, the limit, with a warning.
std::optional<int64_t> limited_steps(const DatasetPtr& data, std::optional<int64_t> steps);

}  // namespace crescent
