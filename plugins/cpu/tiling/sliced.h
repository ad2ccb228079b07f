// Sliced: an op that runs a region of a program slice by slice along the batch. The results of a
// slice are read while they are in the cache of the core that computed them, and results that only
// the region reads are never written to memory.
#pragma once
#include <memory>
#include <optional>

#include "crescent/program/program.h"
#include "tiling/cut.h"

namespace crescent::cpu {

/// An op whose body, a program, computes one slice. The op has the same inputs and outputs as the
/// body; `cut` gives the role of each.
struct Sliced final : Op {
  std::shared_ptr<const Program> body;
  Cut cut;
  /// The number of slices, and the number of rows of a slice if the body computes means and
  /// variances of rows.
  int64_t slices = 0, rows = 0;
  std::string op_names;  ///< the names of the ops in the body, for profiles

  std::string_view name() const override { return "sliced"; }
  TensorSpecs infer(std::span<const TensorSpec>) const override { return {}; }
  bool equals(const Op& other) const override { return this == &other; }
  size_t hash() const override { return std::hash<const void*>()(this); }
  std::string text() const override { return "sliced(" + op_names + ")"; }
  std::string label() const override { return op_names; }
};

/// A copy of the program in which regions that are faster in slices are Sliced ops; nullopt if
/// there are none.
std::optional<Program> by_slices(const Program& program);

}  // namespace crescent::cpu
