// Detects programs in which the rows of the batch are independent, such as the body of most scans.
#pragma once
#include <optional>

#include "crescent/program/program.h"
#include "kernel/kernel.h"
#include "tiling/cut.h"

namespace crescent::cpu {

/// Which inputs of such a program are split by rows and which are the same for all rows; all
/// results are split by rows.
struct ByRows {
  const Program& program;
  int64_t batch;
  std::vector<SliceRole> parts;  ///< per value: its role

  SliceRole input(size_t i) const { return parts[program.inputs[i]]; }
  /// The program for a batch of `rows` rows.
  Program of(int64_t rows) const;
};

/// nullopt if rows depend on one another. The first `given` inputs, if any, are known to be split
/// by rows.
std::optional<ByRows> by_rows(const Program& program, size_t given);

}  // namespace crescent::cpu
