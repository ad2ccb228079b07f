// This program, started again to run one test in a process of its own, which may be killed.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace crescent::faults {

/// Tests that are meant to be workers take their arguments from here.
std::string worker_argument(int i);

class Worker {
 public:
  /// Runs the hidden test `name`.
  Worker(const std::string& test, const std::vector<std::string>& arguments);
  ~Worker();  ///< kills it
  Worker(const Worker&) = delete;
  pid_t process() const { return process_; }
  bool runs();
  void kill();
  /// Its exit code, once it has ended by itself; -1 when a signal ended it.
  int wait();

 private:
  pid_t process_ = -1;
  int status_ = 0;
};

}  // namespace crescent::faults
