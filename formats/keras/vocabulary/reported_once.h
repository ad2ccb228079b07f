// What users need to be told only once in a process.
#pragma once
#include <mutex>
#include <set>
#include <string>

namespace crescent::keras {

/// What was reported already: a model may be saved after every epoch, and models by several
/// threads.
class ReportedOnce {
 public:
  /// Whether this is the first time in the process.
  bool first(const std::string& what) {
    const std::lock_guard lock(mutex_);
    return all_.insert(what).second;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> all_;
};

}  // namespace crescent::keras
