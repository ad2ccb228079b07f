// Crashes: the line that a process leaves when a signal such as SIGSEGV ends it.
#pragma once
#include <string_view>

#include "crescent/base/export.h"

namespace crescent {

/// What this thread runs while an object of this class lives. The texts are those of the caller and
/// outlive the object; all but `kind` may be empty.
class CRESCENT_API Running {
 public:
  /// ("layer", "dense_1", "Dense", "layers"), ("kernel", "", "acme.ema", "acme.kernels")
  Running(std::string_view kind, std::string_view name, std::string_view class_name,
          std::string_view plugin);
  ~Running();
  Running(const Running&) = delete;

 private:
  friend struct RunningNow;
  std::string_view kind_, name_, class_name_, plugin_;
  const Running* outer_;
};

/// Makes a crash of this process leave a line on stderr with the signal, what the thread ran and
/// the plugin whose code it was in; then the process ends as it would have. Signals that have a
/// handler keep it. Programs call this once, on their main thread.
CRESCENT_API void report_crashes();

}  // namespace crescent
