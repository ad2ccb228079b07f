// Starts this program again to run one test in a separate process, which may be killed.
#pragma once
#include "crescent/system/process.h"

namespace crescent::faults {

/// The arguments of a hidden test that runs in a worker process.
std::string worker_argument(int i);

class Worker : public Process {
 public:
  /// Runs the hidden test `name`.
  Worker(const std::string& test, const std::vector<std::string>& arguments);
};

}  // namespace crescent::faults
