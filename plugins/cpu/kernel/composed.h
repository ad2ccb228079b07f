// ComposedKernel: a kernel that executes several instructions, such as a scan. Profiles list these
// instructions instead of the kernel.
#pragma once
#include <vector>

#include "crescent/program/device.h"
#include "kernel/kernel.h"

namespace crescent::cpu {

class ComposedKernel : public Kernel {
 public:
  /// Starts timing each instruction, from zero, or stops.
  virtual void profile(bool on) = 0;
  /// The instructions with their total times since profiling began. If several threads execute
  /// them, `seconds` is the sum over all threads, so only the shares of the instructions are
  /// meaningful.
  virtual std::vector<ProfileEntry> rows() const = 0;
};

}  // namespace crescent::cpu
