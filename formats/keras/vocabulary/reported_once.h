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
  bool add_if_new(const std::string& message) {
    const std::lock_guard lock(mutex_);
    return messages_.insert(message).second;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> messages_;
};

}  // namespace crescent::keras
