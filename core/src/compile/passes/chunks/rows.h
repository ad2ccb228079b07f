// Finds instructions that compute each row of their results from the same row of their inputs, so
// that a chunk of rows can be computed at a time, and the block of elements that belongs to a
// chunk.
#pragma once
#include <optional>

#include "compile/passes/rewriting/rewriting.h"

namespace crescent::passes {

/// The elements of a value that the computation of a chunk of rows reads or writes: the whole
/// value, the rows of the chunk, or, for a sum over all rows, the sum over the rows of the chunk.
enum class RowRole : uint8_t { whole, rows, sum };

/// The roles of the inputs and outputs of an instruction. In values with RowRole::rows, each index
/// into the first `depth` axes is a row.
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

/// Divides all elements of a value into `units` equal parts in row-major order, and returns the
/// parts [begin, end) as a block. Returns nullopt if these parts are no block, or if axes from
/// `depth` on would be cut.
std::optional<Block> block_of(const Shape& shape, int depth, int64_t begin, int64_t end,
                              int64_t units);

}  // namespace crescent::passes
