// The rewriting of programs: each pass computes the same with less. Order and reasons: optimize.cpp.
// A pass says whether it changed anything.
#pragma once
#include "crescent/program.h"

namespace crescent::passes {

bool dead_code(Program& program);
bool common_subexpressions(Program& program);
bool constants(Program& program);
bool shapes(Program& program);
bool transposes(Program& program);
bool algebra(Program& program);
bool softmax(Program& program);
bool batch_norm(Program& program);         ///< at inference
bool epilogues(Program& program);
bool fusion(Program& program);
/// Optimises the bodies of scans.
bool scans(Program& program, const OptimizeOptions& options);

/// Values in the order in which they are made, none unused.
void renumber(Program& program);
/// Fails when the program is broken: a value read before it is made, a spec that is not what the op infers.
void validate(const Program& program);

}  // namespace crescent::passes
