// Limits of the epochs and batches of all runs in the process, like those that
// keras.config.set_max_epochs sets.
#pragma once
#include <cstdint>
#include <optional>

#include "crescent/base/export.h"

namespace crescent {

/// The largest number of epochs of fit; nullopt: no limit. At first the value of the environment
/// variable KERAS_MAX_EPOCHS.
CRESCENT_API std::optional<int64_t> max_epochs();
CRESCENT_API void set_max_epochs(std::optional<int64_t> limit);
/// The largest number of batches in an epoch, an evaluation or a prediction; nullopt: no limit. At
/// first the value of the environment variable KERAS_MAX_STEPS_PER_EPOCH.
CRESCENT_API std::optional<int64_t> max_steps_per_epoch();
CRESCENT_API void set_max_steps_per_epoch(std::optional<int64_t> limit);

}  // namespace crescent
