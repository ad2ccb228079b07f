// Crashes: the line that a process prints when a signal such as SIGSEGV, or a plugin, ends it.
#pragma once
#include <string_view>

#include "crescent/base/export.h"

namespace crescent {

/// While an object of this class lives, crash messages say that this thread was running the layer,
/// kernel or device that the object names. The caller owns the texts, which must outlive the
/// object; all but `kind` may be empty.
class CRESCENT_API Running {
 public:
  /// Examples: ("layer", "dense_1", "Dense", "layers"), ("kernel", "", "acme.ema", "acme.kernels").
  Running(std::string_view kind, std::string_view name, std::string_view class_name,
          std::string_view plugin);
  ~Running();
  Running(const Running&) = delete;

 private:
  friend struct RunningNow;
  std::string_view kind_, name_, class_name_, plugin_;
  const Running* outer_;
};

/// If this process crashes, or a plugin calls exit(), a line on stderr will name the signal, the
/// operation that the thread was running and the plugin whose code it was; then the process ends as
/// it would have without this function. Signals that have a handler keep it. Programs call this
/// function once, on their main thread.
CRESCENT_API void report_crashes();

}  // namespace crescent
