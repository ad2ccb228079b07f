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

/// Runs the passes for the device in use.
CRESCENT_API CheckedProgram checked_program(Program recorded, bool inference, Tensors inputs);

/// Checks the subject and adds findings to the report, under the name `step`. If `outcome` is not
/// null, it returns the results of the caller's own executable for the same inputs and variables,
/// which are checked too. Returns for each kernel's result with a nonzero error the largest ratio
/// of error to bound.
CRESCENT_API std::vector<double> check(const CheckedProgram& subject, const std::string& step,
                                       const std::function<ProgramResult()>& outcome,
                                       Validation& report);

}  // namespace crescent::validation
