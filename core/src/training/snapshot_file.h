// Files of snapshots of training runs.
#pragma once
#include <string>

#include "crescent/base/value.h"

namespace crescent {

/// Reads a snapshot from a file that TrainingRun::save wrote.
Value read_snapshot(const std::string& path);

}  // namespace crescent
