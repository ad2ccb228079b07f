// The interface by which core tells a program with a Lua state (the shell) when a compiled function
// computes, so that the program can unlock the state for that time. Plugins do not see this header:
// it is not installed, and the hash of headers in their stamps (stamp.h) leaves it out.
#pragma once
#include <span>

#include "crescent/base/export.h"
#include "crescent/program/program.h"

namespace crescent {

/// An observer of the compiled functions that its thread calls while the observer exists. Only the
/// innermost observer of a thread is told when a function computes.
class CRESCENT_API ComputationObserver {
 public:
  ComputationObserver();
  virtual ~ComputationObserver();
  ComputationObserver(const ComputationObserver&) = delete;
  /// Called before the computation, when the function has been compiled and has read its variables.
  /// `variables`, which the function reads and may write, are valid until end().
  virtual void begin(std::span<const Program::Binding> variables) noexcept = 0;
  /// Called after the computation, whether it succeeded or failed.
  virtual void end() noexcept = 0;

 private:
  ComputationObserver* outer_;
};

}  // namespace crescent
