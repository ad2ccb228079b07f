// A program for batches, and sequences or images, of any size: what a function records is compared
// between two sizes of each open axis of its inputs, and dimensions that differ follow from those.
#pragma once
#include <functional>
#include <map>

#include "crescent/program/program.h"
#include "graph.h"

namespace crescent::onnx {

/// Numbers that go on from row to row by the same step; leading axes of 1 do not count.
struct RowProgression {
  Tensor first, step;  ///< (1, ...)
  int64_t rows;        ///< code of their number
  int64_t step_size;   ///< code of the size that every number of `step` is; 0 when it is none
};

/// A program as it is for some sizes of the open axes, and what of it follows from those.
struct Traced {
  Program program;
  std::vector<Sizes> sizes;  ///< of every value
  /// Values that are one number everywhere, and have an axis of open size.
  std::map<int, Tensor> filled;
  std::map<int, RowProgression> counted;
  /// Values that are an open size everywhere: its code.
  std::map<int, int64_t> sized;
  /// Of the slices, by the position of the instruction: axes along which they are counted from the
  /// end.
  std::map<size_t, std::vector<bool>> from_end;
  std::map<size_t, Traced> bodies;  ///< of the scans, by the position of the instruction
};

/// Sizes of the open axes in either program: prime, and not likely to be a size of anything else.
inline constexpr int64_t kTracedSizes[2][kOpenAxes] = {{499, 211, 307, 401}, {503, 223, 317, 419}};

/// What the outputs need of programs that differ in these sizes alone; fails naming what depends on
/// them in a way that OpenSize cannot say.
Traced compared(Program a, Program b);

/// "'dense_1' (matmul)"
std::string place_of(const Program& program, const Program::Instruction& instruction);

}  // namespace crescent::onnx
