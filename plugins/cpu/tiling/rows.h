// Programs in which every row of the batch goes its own way, as the body of most loops over time.
#pragma once
#include <optional>

#include "crescent/program/program.h"
#include "kernel/kernel.h"
#include "tiling/cut.h"

namespace crescent::cpu {

/// Which inputs of such a program go by rows, and which are the same for all of them; all results
/// go by rows.
struct ByRows {
  const Program& program;
  int64_t batch;
  std::vector<SliceRole> parts;  ///< per value

  SliceRole input(size_t i) const { return parts[static_cast<size_t>(program.inputs[i])]; }
  /// The same for so many rows.
  Program of(int64_t rows) const;
};

/// Nothing where rows depend on one another. The first `given` inputs are known to go by rows, if
/// anything does.
std::optional<ByRows> by_rows(const Program& program, size_t given);

}  // namespace crescent::cpu
