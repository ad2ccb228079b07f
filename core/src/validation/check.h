// Checks a compiled program beside the recorded one: what the passes made of it, what each kernel
// made of its inputs, and what the caller gets.
#pragma once
#include <unordered_map>

#include "compile/passes/passes.h"
#include "crescent/model/model.h"

namespace crescent::validation {

/// A program, how it is compiled, and what it is run on.
struct Subject {
  Program recorded;
  std::function<Program(Program, const passes::PassObserver&)> optimize;
  Device* device;
  Tensors inputs;
};

/// What a run gives: outputs, and the values of variables by Variable::id().
struct ProgramResult {
  Tensors outputs;
  std::unordered_map<const void*, Tensor> variables;
};

/// The passes for the device in use.
CRESCENT_API Subject subject_of(Program recorded, bool inference, Tensors inputs);

/// Adds what it finds to the report, as of this step. `outcome`, where there is one, is what the
/// caller's own executable gave for the same inputs and variables. Gives, of each kernel's result
/// that was off at all, the largest part of its bound.
CRESCENT_API std::vector<double> check(const Subject& subject, const std::string& step,
                                       const std::function<ProgramResult()>& outcome,
                                       Validation& report);

}  // namespace crescent::validation
