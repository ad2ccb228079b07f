// How far something that takes long has come, on one line of a terminal:
//
//   Progress progress("adapt", "batch", 1200);
//   while (...) progress.add();
//
// shows "adapt: 300/1200 batches - 4s" from the first second on, and nothing where the output is no
// terminal or the work is done before.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "crescent/base/export.h"

namespace crescent {

class CRESCENT_API Progress {
 public:
  /// `unit`: what is counted, one of them ("batch"). `total` 0: nobody knows.
  Progress(std::string_view what, std::string_view unit, int64_t total = 0);
  /// Ends the line that was shown.
  ~Progress();
  Progress(const Progress&) = delete;
  void add(int64_t count = 1) { come_to(done_ + count); }
  void come_to(int64_t done);

 private:
  using Clock = std::chrono::steady_clock;
  void show(Clock::time_point now);

  std::string what_, unit_;
  int64_t total_, done_ = 0;
  bool on_terminal_, shown_ = false;
  Clock::time_point begin_, next_;
};

}  // namespace crescent
