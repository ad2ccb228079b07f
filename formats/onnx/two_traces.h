// Makes programs that hold for batches, sequences and images of any size: a function is recorded
// for two sizes of each dynamic axis of its inputs, and the dimensions that differ determine the
// symbolic sizes.
#pragma once
#include <functional>
#include <map>

#include "crescent/program/program.h"
#include "graph.h"

namespace crescent::onnx {

/// A tensor whose rows form an arithmetic progression; it may have leading axes of size 1.
struct RowProgression {
  Tensor first, step;  ///< the first row, and the difference between rows, each of shape (1, ...)
  int64_t row_count_code;  ///< the code of the symbolic number of rows
  /// the code of the symbolic size that all elements of `step` equal; 0 if there is none
  int64_t step_size_code;
};

/// A program that was recorded for certain sizes of the dynamic axes, and the parts of it that
/// depend on these sizes.
struct TracedProgram {
  Program program;
  std::vector<Sizes> sizes;  ///< the sizes of every value
  /// For a value that has an axis of symbolic size and whose elements are all equal: the number of
  /// the value, and its element as a tensor.
  std::map<int, Tensor> fill_values;
  std::map<int, RowProgression> progressions;
  /// The values whose elements all equal a symbolic size. The keys are the indices of the values in
  /// the program; the elements are the sizes as encoded by code_of().
  std::map<int, int64_t> symbolic_values;
  /// For the instruction of a slice: its position in the program, and for each axis whether the
  /// slice begins at a fixed distance from the end of the axis (instead of from its beginning).
  std::map<size_t, std::vector<bool>> is_from_end_by_axis;
  /// For the instruction of a scan: its position in the program, and the body of the scan.
  std::map<size_t, TracedProgram> bodies;
};

/// The sizes of the dynamic axes for which the two programs are recorded: primes that hardly occur
/// as other sizes of a model.
inline constexpr int64_t kTracedSizes[2][kMaxDynamicAxes] = {{499, 211, 307, 401},
                                                             {503, 223, 317, 419}};

/// Compares two programs that were recorded for the sizes in kTracedSizes. Instructions that no
/// output needs are dropped first. Fails, naming the instruction, if a difference cannot be
/// expressed by a SymbolicSize.
TracedProgram compare_programs(Program a, Program b);

/// The text with which messages name an instruction: "'dense_1' (matmul)".
std::string location_of(const Program& program, const Program::Instruction& instruction);

}  // namespace crescent::onnx
