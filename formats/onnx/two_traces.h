// A program for batches of any size: what a function records is compared between two sizes of the
// batch, and dimensions that differ are the batch's.
#pragma once
#include <functional>
#include <map>

#include "crescent/program.h"
#include "graph.h"

namespace crescent::onnx {

/// Numbers that go on from row to row of the batch by the same step.
struct Counted {
  Tensor first, step;  ///< (1, ...)
};

/// A program as it is for one size of the batch, and what of it is the batch.
struct Traced {
  Program program;
  std::vector<Sizes> sizes;  ///< of every value
  /// Values that are one number everywhere, the batch being an axis.
  std::map<int, Tensor> filled;
  std::map<int, Counted> counted;
  std::map<size_t, Traced> bodies;  ///< of the scans, by the position of the instruction
};

/// Sizes of the batch that are neither 1 nor likely to be a size of anything else.
inline constexpr int64_t kBatches[] = {499, 503};

/// What the outputs need of programs that differ in the size of the batch alone, as kBatches has
/// it; fails naming what depends on the batch in another way.
Traced compared(Program a, Program b);

/// "'dense_1' (matmul)"
std::string place_of(const Program& program, const Program::Instruction& instruction);

}  // namespace crescent::onnx
