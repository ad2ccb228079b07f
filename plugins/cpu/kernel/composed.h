// A kernel that runs instructions of its own. A profile shows those instead of it.
#pragma once
#include <vector>

#include "crescent/program/device.h"
#include "kernel/kernel.h"

namespace crescent::cpu {

class Composed : public Kernel {
 public:
  /// Times each instruction, from nothing, or stops.
  virtual void profile(bool on) = 0;
  /// The instructions, with totals since. Where several threads run them, `seconds` are those of
  /// all threads together: the share of an instruction is what counts.
  virtual std::vector<ProfileRow> rows() const = 0;
};

}  // namespace crescent::cpu
