// Programs for batches, sequences and images of any size: a function is recorded for two sizes of
// each dynamic axis of its inputs, and the dimensions that differ determine the symbolic sizes.
#pragma once
#include <functional>
#include <map>

#include "crescent/program/program.h"
#include "graph.h"

namespace crescent::onnx {

/// An arithmetic progression of rows, apart from leading axes of 1.
struct RowProgression {
  Tensor first, step;  ///< (1, ...)
  int64_t rows;        ///< the code of the number of rows
  /// the code of the symbolic size that every element of `step` is; 0 if it is none
  int64_t step_size;
};

/// A program for certain sizes of the dynamic axes, and the parts of it that depend on them.
struct Traced {
  Program program;
  std::vector<Sizes> sizes;  ///< the sizes of every value
  /// For values with an axis of symbolic size, the number that all of their elements are.
  std::map<int, Tensor> filled;
  std::map<int, RowProgression> counted;
  /// For values with equal elements, the code of the symbolic size that the elements are.
  std::map<int, int64_t> sized;
  /// The axes along which slices are counted from the end, by the position of the instruction.
  std::map<size_t, std::vector<bool>> from_end;
  std::map<size_t, Traced> bodies;  ///< bodies of scans, by the position of the instruction
};

/// The sizes of the dynamic axes in each program: primes that are not likely to occur elsewhere.
inline constexpr int64_t kTracedSizes[2][kMaxDynamicAxes] = {{499, 211, 307, 401},
                                                             {503, 223, 317, 419}};

/// Compares two programs that differ only in these sizes, after dropping instructions that no
/// output needs. Fails, naming the place, if something depends on sizes in a way that SymbolicSize
/// cannot express.
Traced compared(Program a, Program b);

/// The place of an instruction for messages: "'dense_1' (matmul)"
std::string place_of(const Program& program, const Program::Instruction& instruction);

}  // namespace crescent::onnx
