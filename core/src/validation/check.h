// Checks a compiled program against the recorded one: the optimized program, the result of each
// kernel, and the results that the caller gets.
#pragma once
#include <unordered_map>

#include "compile/passes/passes.h"
#include "crescent/model/model.h"

namespace crescent::validation {

/// A recorded program, its compilation, and its inputs.
struct CheckedProgram {
  Program recorded;
  std::function<Program(Program, const passes::PassObserver&)> optimize;
  Device* device;
  Tensors inputs;
};

/// The results of a run: outputs, and the values of variables, which are found by Variable::id().
struct ProgramResult {
  Tensors outputs;
  std::unordered_map<const void*, Tensor> variables;
};

/// Returns a CheckedProgram whose `optimize` runs the optimization passes for the device in use.
CRESCENT_API CheckedProgram checked_program(Program recorded, bool inference, Tensors inputs);

/// Checks the subject and adds findings to the report, under the name `step`. If `outcome` is not
/// null, it returns the results of the caller's own executable for the same inputs and variables,
/// which are checked too. For each result of a kernel that has a nonzero error, the returned list
/// contains the largest ratio of an element's error to its bound.
CRESCENT_API std::vector<double> check(const CheckedProgram& subject, const std::string& step,
                                       const std::function<ProgramResult()>& outcome,
                                       Validation& report);

}  // namespace crescent::validation
