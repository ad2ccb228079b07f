// The rewriting of programs: each pass computes the same with less. Order and reasons: optimize.cpp.
#pragma once
#include "crescent/program.h"

namespace crescent::passes {

void remove_dead_code(Program& program);

}  // namespace crescent::passes
