// Messages that are shown once per process.
#pragma once
#include <mutex>
#include <set>
#include <string>

namespace crescent::keras {

/// The set of messages that were already shown; several threads may use it.
class ReportedOnce {
 public:
  /// Adds a message to the set; returns true if it was not in the set.
  bool first(const std::string& what) {
    const std::lock_guard lock(mutex_);
    return messages_.insert(what).second;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> messages_;
};

}  // namespace crescent::keras
