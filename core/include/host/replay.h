// Computes a recorded training step again, for `crescent replay`. Plugins do not see this header:
// it is not installed, and the hash of headers in their stamps (stamp.h) leaves it out.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "crescent/base/export.h"

namespace crescent {

/// The result of a replay; the exit status of `crescent replay`.
enum class ReplayStatus : int { equal = 0, different = 1, failed = 2 };

struct ReplayVerdict {
  ReplayStatus status;
  std::string text;
};

/// Computes step `step`, counted from 1, of the record in `folder` again and compares it with the
/// record. The function starts the recorded program in the recorded folder or, if `script` is not
/// empty, in the current folder with the words of `script` as arguments.
CRESCENT_API ReplayVerdict replay_step(const std::string& folder, int64_t step,
                                       const std::vector<std::string>& script);

}  // namespace crescent
