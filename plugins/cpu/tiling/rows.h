// Rowwise programs, in which the rows of the batch are independent, as in the body of most scans.
#pragma once
#include <optional>

#include "crescent/program/program.h"
#include "kernel/kernel.h"
#include "tiling/cut.h"

namespace crescent::cpu {

/// A program with independent rows: each input either is divided by rows or is the same for all
/// rows. All results are divided by rows.
struct RowwiseProgram {
  const Program& program;
  int64_t batch;
  std::vector<SliceRole> roles;  ///< for each value of the program its role

  SliceRole input(size_t i) const { return roles[program.inputs[i]]; }
  /// A copy of the program for a batch of `rows` rows.
  Program of(int64_t rows) const;
};

/// Finds the roles of the values; nullopt if rows depend on one another. The first `row_inputs`
/// inputs are known to be divided by rows.
std::optional<RowwiseProgram> as_rowwise(const Program& program, size_t row_inputs);

}  // namespace crescent::cpu
