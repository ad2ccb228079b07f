// Messages that are shown once per process.
#pragma once
#include <mutex>
#include <set>
#include <string>

namespace crescent::keras {

/// The messages that were shown; threads may share it.
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
