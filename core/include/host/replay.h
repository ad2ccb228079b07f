// Computing a recorded training step again, for the program. Plugins do not see this header, so it
// is not part of their stamps and is not installed.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "crescent/base/export.h"

namespace crescent {

/// What a replay has found; the exit status of `crescent replay`.
enum class ReplayStatus : int { equal = 0, different = 1, failed = 2 };

struct ReplayVerdict {
  ReplayStatus status;
  std::string text;
};

/// Computes step `step`, from 1, of the record in `folder` again, and compares it with the record.
/// For that, starts the recorded program in the recorded folder, or in the current one with the
/// words `script` as arguments if there are some.
CRESCENT_API ReplayVerdict replay_step(const std::string& folder, int64_t step,
                                       const std::vector<std::string>& script);

}  // namespace crescent
