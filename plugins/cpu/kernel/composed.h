// Composed: a kernel that consists of instructions of its own, which profiles list instead of the
// kernel.
#pragma once
#include <vector>

#include "crescent/program/device.h"
#include "kernel/kernel.h"

namespace crescent::cpu {

class Composed : public Kernel {
 public:
  /// Starts timing each instruction from zero, or stops.
  virtual void profile(bool on) = 0;
  /// The instructions with their totals since profiling began. Where several threads run them,
  /// `seconds` is the sum over all threads: only the share of an instruction is meaningful.
  virtual std::vector<ProfileRow> rows() const = 0;
};

}  // namespace crescent::cpu
