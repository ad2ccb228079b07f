// What core tells the shell of computations, so that the shell need not keep its Lua state locked
// while one takes long. Plugins do not see it, so their stamps say nothing of it, and it is not
// installed.
#pragma once
#include <span>

#include "crescent/program/program.h"

namespace crescent {

/// While an object of this class lives, it is told when a compiled function that its thread calls
/// computes. The innermost observer of a thread is the one that is told.
class CRESCENT_API ComputationObserver {
 public:
  ComputationObserver();
  virtual ~ComputationObserver();
  ComputationObserver(const ComputationObserver&) = delete;
  /// Called when everything is found, compiled and read. `variables`, which the function reads and
  /// may write, are valid until end().
  virtual void begin(std::span<const Program::Binding> variables) noexcept = 0;
  /// Called after the computation, also when it failed.
  virtual void end() noexcept = 0;

 private:
  ComputationObserver* around_;
};

}  // namespace crescent
