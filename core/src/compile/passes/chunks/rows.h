// Rows: which instructions compute each row of their results from the same rows of their inputs,
// and which elements of a value some of its rows are.
#pragma once
#include <optional>

#include "compile/passes/rewriting/rewriting.h"

namespace crescent::passes {

/// What a chunk of rows has of a value: all of it, its own rows, or a term of a sum over rows.
enum class RowRole : uint8_t { whole, rows, sum };

/// How an instruction computes with rows, which are the elements of the first `depth` axes of its
/// values with RowRole::rows.
struct RowRoles {
  std::vector<RowRole> inputs, outputs;
  int depth = 0;
};

/// The roles if the instruction computes each row of its results from the same rows of inputs, or
/// sums over rows; else nullopt.
std::optional<RowRoles> row_roles(const Program& program, const Instruction& instruction);

/// A block of consecutive elements of a value: where it starts, its size along each axis, and the
/// last axis that is cut.
struct Block {
  std::vector<int64_t> start;
  Shape size;
  int axis = 0;
};

/// The elements from `begin` to `end` if all are divided into `units` equal parts; nullopt if these
/// are no block, or if axes from `depth` on would be cut.
std::optional<Block> block_of(const Shape& whole, int depth, int64_t begin, int64_t end,
                              int64_t units);

}  // namespace crescent::passes
