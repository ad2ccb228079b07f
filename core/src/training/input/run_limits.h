// The numbers of epochs and batches of a run within the limits of the process (host/run_limits.h).
#pragma once
#include "crescent/data/data.h"
#include "host/run_limits.h"

namespace crescent {

/// The number of epochs, or the smaller limit, with a warning.
int64_t limited_epochs(int64_t epochs);
/// The number of batches that were asked for (nullopt: all of the data), or the smaller limit, with
/// a warning.
std::optional<int64_t> limited_steps(const DatasetPtr& data, std::optional<int64_t> steps);

}  // namespace crescent
