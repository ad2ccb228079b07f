// Starts this test program again to run one hidden test in a separate process, which may be killed.
#pragma once
#include "crescent/system/process.h"

namespace crescent::faults {

/// Argument number i that was passed to the hidden test in a worker process.
std::string worker_argument(int i);

class Worker : public Process {
 public:
  /// Starts a worker process that runs the hidden test `test`.
  Worker(const std::string& test, const std::vector<std::string>& arguments);
};

}  // namespace crescent::faults
