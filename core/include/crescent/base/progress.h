// Progress: how far a long operation has come, shown on one line of a terminal:
//
//   Progress progress("adapt", "batch", 1200);
//   while (...) progress.add();
//
// shows "adapt: 300/1200 batches - 4s" after the first second. Nothing is shown when the output is
// not a terminal or when the operation ends within that second.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "crescent/base/export.h"

namespace crescent {

class CRESCENT_API Progress {
 public:
  /// `unit` is the singular name of what is counted ("batch"); `total` is 0 when it is unknown.
  Progress(std::string_view what, std::string_view unit, int64_t total = 0);
  /// Ends the line on the terminal, if one was shown.
  ~Progress();
  Progress(const Progress&) = delete;
  void add(int64_t count = 1) { come_to(done_ + count); }
  /// Sets how many units are done.
  void come_to(int64_t done);

 private:
  using Clock = std::chrono::steady_clock;
  void show(Clock::time_point now);

  std::string what_, unit_;
  int64_t total_, done_ = 0;
  bool is_on_terminal_, is_shown_ = false;
  Clock::time_point begin_time_, next_update_;
};

/// Shows how much of a file has been read or written: "reading 'm.h5': 120/345 megabytes - 2s".
/// Shows nothing if there are fewer than 8 MB, if the object is made on another thread than the
/// main thread, or if another operation, such as fit or another FileProgress, already shows its
/// progress.
class CRESCENT_API FileProgress {
 public:
  /// `doing` says what is done, such as "reading"; `bytes` is the number of bytes to read or write.
  FileProgress(std::string_view doing, const std::string& path, size_t bytes);
  ~FileProgress();
  FileProgress(const FileProgress&) = delete;
  /// Counts bytes that were read or written. Any thread may call add(); the main thread shows the
  /// progress.
  void add(size_t bytes);

 private:
  std::optional<Progress> progress_;
  std::atomic<size_t> done_{0};
};

}  // namespace crescent
